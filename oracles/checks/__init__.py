"""The oracles, one file each; `oracles.table` lists them."""
