"""Running the scripts of a corpus on one TVM or several: which TVMs, a warm server of each, and what an end means."""
