"""The one exception of drawing: the request cannot be drawn here."""


class Unavailable(Exception):
    """The scope or the function so far cannot serve this draw; the caller draws something else."""
