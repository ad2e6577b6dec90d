"""What a module is that somebody brings: its phase, its flaws, its inputs, the functions that call its PrimFuncs."""
