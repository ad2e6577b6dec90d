"""`passfuzz capture`: watches a command of the user's own, and keeps the pass call at which it fails as a case."""
