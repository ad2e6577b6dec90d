"""A one-shot process: one that loads TVM for one `check` or `reduce` of what a user points at."""
