"""Judging passes that are not drawn: those of a test or a build that is watched."""
