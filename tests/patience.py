"""How long a test waits before it calls something hung. No test asserts on seconds: work is bounded by counts."""

HANGS_S = 600.0
"""Seconds. What is waited for takes a few seconds on an idle machine; a busy one may take fifty times as long."""
