"""PrimFuncs with vectors for the tests of lanes: loops that VectorizeLoop turns into vectors, and vectors written by
hand, as the passes after it leave them. What each means is said in NumPy, in `test_lanes.py`.
"""

from __future__ import annotations

from typing import Any

from tvm.script import tirx as T


@T.prim_func
def elementwise(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        for j in T.vectorized(4):
            B[i * 4 + j] = A[i * 4 + j] * T.float32(2) + T.sqrt(T.max(A[i * 4 + j], T.float32(0)))


@T.prim_func
def strided(A: T.Buffer((32,), "int8"), B: T.Buffer((16,), "int32")):
    for j in T.vectorized(16):
        B[15 - j] = T.Cast("int32", A[2 * j + 1]) * 3 + T.bitwise_and(j, 3)


@T.prim_func
def broadcast(A: T.Buffer((4, 8), "float16"), B: T.Buffer((4, 8), "float16")):
    for i in range(4):
        for j in T.vectorized(8):
            B[i, j] = A[i, 0] - A[0, j] * T.float16(0.5)


@T.prim_func
def transposed(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for i in range(4):
        for j in T.vectorized(4):
            B[j, i] = A[i, j]


@T.prim_func
def gathered(A: T.Buffer((16,), "float32"), where: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for j in T.vectorized(8):
        B[j] = A[where[j]]


@T.prim_func
def small_integers(A: T.Buffer((16,), "uint8"), B: T.Buffer((16,), "uint8")):
    for j in T.vectorized(16):
        B[j] = A[j] + T.uint8(200)


@T.prim_func
def chosen(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        for j in T.vectorized(4):
            B[i * 4 + j] = T.if_then_else(
                i < 2, T.Select(A[i * 4 + j] > T.float32(0), A[i * 4 + j], T.float32(-1)), T.Cast("float32", i + j)
            )


@T.prim_func
def selected_by_lane(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    for j in T.vectorized(16):
        B[j] = T.Select(T.And(A[j] > 0, j % 3 != 0), A[j] // 2, T.Select(T.Not(j < 8), 0 - j, A[15]))


@T.prim_func
def stored_where_it_holds(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        for j in T.vectorized(4):
            if i * 4 + j < 14:
                B[i * 4 + j] = A[i * 4 + j] + T.float32(1)


@T.prim_func
def scalarised(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for j in T.vectorized(16):
        if A[j] > T.float32(0):
            B[j] = A[j] * A[j]
        else:
            B[j] = T.if_then_else(j < 7, T.float32(7), A[j])


@T.prim_func
def in_place(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for j in T.vectorized(16):
        B[j] = A[j]
    for _i in range(3):
        for j in T.vectorized(16):
            B[j] = B[j] * B[j] - A[j]


@T.prim_func
def accumulated(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4,), "float32")):
    total = T.alloc_buffer((4,), "float32")
    for j in T.vectorized(4):
        total[j] = T.float32(0)
    for k in range(8):
        for j in T.vectorized(4):
            total[j] = total[j] + A[k, j]
    for j in T.vectorized(4):
        B[j] = total[3 - j]


@T.prim_func
def shuffled(A: T.Buffer((8,), "float32"), B: T.Buffer((9,), "float32")):
    B[0:4] = T.Shuffle([A[T.Ramp(0, 1, 4)], A[T.Ramp(4, 1, 4)]], [7, 0, 5, 2])
    B[4:8] = T.vectorcombine(
        T.vectorhigh(A[T.Ramp(0, 1, 4)], dtype="float32x2"),
        T.vectorlow(A[T.Ramp(2, 1, 4)], dtype="float32x2"),
        dtype="float32x4",
    )
    B[8] = T.Shuffle([A[T.Ramp(0, 2, 4)]], [3])


@T.prim_func
def packed_lanes(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(2):
        B[T.Ramp(i * 2, 1, 2)] = T.Shuffle([A[i * 2 + 1], A[i * 2]], [0, 1])


@T.prim_func
def bound(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    even: T.let[T.float32x4] = A[T.Ramp(0, 2, 4)]
    B[0:4] = even * even
    B[4:8] = even - T.Broadcast(A[1], 4)


@T.prim_func
def let_in_an_expression(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32")):
    v = T.float32x4()
    B[0:4] = T.Let(v * v + v, where={v: A[T.Ramp(1, 2, 4)]})


@T.prim_func
def vector_elements(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    held = T.alloc_buffer((2,), "float32x4")
    for i in range(2):
        held[i] = A[T.Ramp(i * 4, 1, 4)]
    for i in range(2):
        B[T.Ramp(i * 4, 1, 4)] = held[1 - i] + held[0]


@T.prim_func
def seen_as_vectors(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    pairs = T.decl_buffer((4,), "float32x2", data=A.data)
    quads = T.decl_buffer((2,), "float32x4", data=B.data)
    for i in range(2):
        quads[i] = T.vectorcombine(pairs[i * 2 + 1], pairs[i * 2], dtype="float32x4")


@T.prim_func
def turned_in_place(A: T.Buffer((8,), "float32")):
    A[T.Ramp(0, 1, 8)] = A[T.Ramp(7, -1, 8)]


@T.prim_func
def moved_up(A: T.Buffer((8,), "float32")):
    A[T.Ramp(1, 1, 7)] = A[T.Ramp(0, 1, 7)]


@T.prim_func
def moved_through_an_index(A: T.Buffer((4,), "int32")):
    A[A[T.Ramp(0, 1, 4)]] = T.Ramp(10, 10, 4)


@T.prim_func
def all_to_one(A: T.Buffer((4,), "int32"), B: T.Buffer((1,), "int32")):
    B[T.Broadcast(0, 4)] = B[T.Broadcast(0, 4)] + A[T.Ramp(0, 1, 4)]


@T.prim_func
def bytes_of_words(A: T.Buffer((2,), "uint32"), B: T.Buffer((8,), "uint8")):
    B[0:8] = T.reinterpret("uint8x8", A[T.Ramp(0, 1, 2)])


@T.prim_func
def floats_of_halves(A: T.Buffer((4,), "uint16"), B: T.Buffer((2,), "float32")):
    B[0:2] = T.reinterpret("float32x2", A[T.Ramp(0, 1, 4)])


@T.prim_func
def word_of_bytes(A: T.Buffer((4,), "uint8"), B: T.Buffer((1,), "uint32")):
    B[0] = T.reinterpret("uint32", A[T.Ramp(0, 1, 4)])


@T.prim_func
def some_lanes(A: T.Buffer((8,), "float32"), mask: T.Buffer((8,), "bool"), B: T.Buffer((8,), "float32")):
    T.masked_store(
        B,
        T.masked_load("float32x8", A, T.Ramp(0, 1, 8), mask[T.Ramp(0, 1, 8)]) * T.Broadcast(T.float32(3), 8),
        T.Ramp(0, 1, 8),
        mask[T.Ramp(0, 1, 8)],
    )


@T.prim_func
def lanes_left_out(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:8] = T.masked_load("float32x8", A, T.Ramp(0, 1, 8), T.get_active_lane_mask("uint1x8", 0, 6))


@T.prim_func
def beyond_the_end(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:8] = A[T.Ramp(1, 1, 8)]


@T.prim_func
def sum_to_a_limit(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32"), limit: T.int32):
    for i in range(4):
        for j in T.vectorized(4):
            if i * 4 + j < limit:
                B[i * 4 + j] = A[i * 4 + j] + limit


PROGRAMS: dict[str, Any] = {name: found for name, found in globals().items() if type(found).__name__ == "PrimFunc"}
