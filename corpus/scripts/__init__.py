"""The scripts that show a failure without passfuzz, and the text of modules in them."""
