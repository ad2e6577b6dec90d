"""Worker processes: they load TVM, draw cases, judge them in forked children, and make failures small."""
