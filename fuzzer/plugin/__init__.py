"""The pytest plugin: every pass that other people's tests apply is judged. No TVM at import time."""
