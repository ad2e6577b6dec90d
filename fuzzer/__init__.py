"""Who drives it: the command line, the campaign and its worker processes. Nothing imports this room."""
