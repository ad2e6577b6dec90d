"""The decoder of the TIR interpreter: reads a PrimFunc of TVM and gives the nodes of `oracles/reference/tir/nodes.py`.

`prim_func.py` is the entry. `state.py` has the data of one decoding, `table.py` the rules of all kinds of nodes; each
family of nodes has a file of rules, which are plain functions `(state, node)`.
"""
