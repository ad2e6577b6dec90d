"""Reduction steps, one file per theme; `corpus.reduce.table` lists them in order."""
