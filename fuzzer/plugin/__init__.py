"""The pytest plugin: every pass that somebody else's tests apply is judged. No TVM at import time."""
