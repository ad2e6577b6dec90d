"""One row per Relax operator (`table`), one file per family, the row's contract in `row`."""
