"""The code generator: a decoded PrimFunc as the source text of a Python function over NumPy arrays.

`function.py` is the entry. `state.py` is the data that all the other files share: what is known at the current point of
the generated function. The code of each kind of node is a plain function `(state, node)`, one file for each family of
nodes; `table.py` joins their tables, which the state holds, so that no family imports another one to dispatch.

An expression is either *uniform* (its value is a Python int or bool or a NumPy scalar) or a *grid* (an array that
broadcasts against the axes of the independent loops around it; see `Axis`). Signed integers of a grid are int64 arrays
whatever their type; unsigned ones and floats have their own dtype. A grid under a mask is computed everywhere but may
trap only where the mask holds.

Names in generated code: b<slot> a buffer, m<slot> its initialisation mask (None: all initialised), p<slot> a number
given as an argument, v<key> a variable, t<n> a temporary, c<n> a float constant, s<n> a place named in messages.
"""
