"""One errand: a fresh process that loads TVM for one `check` or `reduce` of what a user points at."""
