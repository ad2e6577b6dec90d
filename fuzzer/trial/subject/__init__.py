"""What is read off a given module: its phase, its flaws, its inputs, the functions that call its PrimFuncs."""
