"""Shapes of PrimFunc that a certain pass rewrites: one file for each family, all by name in `table`."""
