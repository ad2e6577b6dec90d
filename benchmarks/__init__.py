"""Measurements, and none of them a test: what each one measures is in its docstring, the figures in docs/benchmarks.md."""
