"""What each command of the command line does: one file per command, a function that hands back a result."""
