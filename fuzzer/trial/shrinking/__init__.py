"""Making a failure small, and what is asked of it then."""
