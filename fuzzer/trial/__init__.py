"""Judging: of a case, a step, a build, and whose fault a failure is. Worker, one-shot process and plugin call it."""
