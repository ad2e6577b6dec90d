"""Why a failure happens, as far as it shows from outside."""
