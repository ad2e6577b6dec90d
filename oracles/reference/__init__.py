"""The reference interpreter: runs TVM modules on NumPy at every level, with no TVM pass and no TVM runtime."""
