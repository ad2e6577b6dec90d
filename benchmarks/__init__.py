"""Measurements, none of them a test. What each measures is in its docstring, the figures in docs/benchmarks.md."""
