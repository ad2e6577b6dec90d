"""How processes are started, forked, watched, and ended with the one that asked for them."""
