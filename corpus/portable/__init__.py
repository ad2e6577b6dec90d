"""Repro scripts on other versions of TVM: names that moved, TVMScript and messages that are written otherwise."""
