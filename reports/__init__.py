"""How results are shown: counters, files under OUT, and one file per report format. Never imports TVM."""
