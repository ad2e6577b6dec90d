"""Is it right: verdicts, one file per oracle, and the reference interpreter that they judge with."""
