"""How a function is called after passes that change its calling convention."""
