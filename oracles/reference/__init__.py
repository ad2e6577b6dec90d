"""The reference interpreter: runs TVM modules on NumPy at every level of the pipelines, with no TVM pass and no TVM runtime."""
