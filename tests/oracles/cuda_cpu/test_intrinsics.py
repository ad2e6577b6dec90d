"""What CUDA's numbers and functions mean on the CPU, against NumPy: each row is an expression and its meaning."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from oracles.builds.cuda_cpu import CompiledSource, available, compile_source

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

COUNT = 256
C_NAMES = {
    "float16": "half",
    "bfloat16": "nv_bfloat16",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "bool": "bool",
}
Meaning = Callable[[Any, Any], Any]


def _bits_reversed(a: Any, b: Any) -> Any:
    return np.array([int(f"{int(x):032b}"[::-1], 2) for x in a], np.uint32)


def _count(a: Any, b: Any) -> Any:
    return np.array([bin(int(x)).count("1") for x in a], np.int32)


def _leading(a: Any, b: Any) -> Any:
    return np.array([32 - int(x & 0xFFFFFFFF).bit_length() for x in a.astype(np.int64)], np.int32)


def _first_set(a: Any, b: Any) -> Any:
    return np.array([(int(x) & -int(x)).bit_length() for x in a], np.int32)


def _high(a: Any, b: Any) -> Any:
    return ((a.astype(np.int64) * b.astype(np.int64)) >> 32).astype(np.int32)


EXACT: dict[str, tuple[str, str, str, Meaning]] = {
    "popc": ("__popc(a)", "uint32", "int32", _count),
    "popcll": ("__popcll(a)", "uint64", "int32", _count),
    "clz": ("__clz(a)", "int32", "int32", _leading),
    "ffs": ("__ffs(a)", "int32", "int32", _first_set),
    "brev": ("__brev(a)", "uint32", "uint32", _bits_reversed),
    "mulhi": ("__mulhi(a, b)", "int32", "int32", _high),
    "max of integers": ("max(a, b)", "int64", "int64", lambda a, b: np.maximum(a, b)),
    "min of unsigned": ("min(a, b)", "uint32", "uint32", lambda a, b: np.minimum(a, b)),
    "max of floats": ("max(a, b)", "float32", "float32", lambda a, b: np.fmax(a, b)),
    "wrapping": ("a * b + a", "int32", "int32", lambda a, b: a * b + a),
    "int to float": ("__int2float_rn(a)", "int32", "float32", lambda a, b: a.astype(np.float32)),
    "float to int": ("__float2int_rn(a)", "float32", "int32", lambda a, b: np.rint(a).astype(np.int32)),
    "bits": ("__float_as_int(a)", "float32", "int32", lambda a, b: a.view(np.int32)),
    "ldg": ("__ldg(&a)", "float64", "float64", lambda a, b: a),
    "half sum": ("a + b", "float16", "float16", lambda a, b: a + b),
    "half difference": ("__hsub(a, b)", "float16", "float16", lambda a, b: a - b),
    "half product": ("a * b", "float16", "float16", lambda a, b: a * b),
    "half quotient": ("__hdiv(a, b)", "float16", "float16", lambda a, b: a / b),
    "half less": ("a < b", "float16", "bool", lambda a, b: a < b),
    "half maximum": ("__hmax(a, b)", "float16", "float16", lambda a, b: np.maximum(a, b)),
    "half size": ("__habs(a)", "float16", "float16", lambda a, b: np.abs(a)),
    "half floor": ("hfloor(a)", "float16", "float16", lambda a, b: np.floor(a)),
    "half rint": ("hrint(a)", "float16", "float16", lambda a, b: np.rint(a)),
    "half negative": ("-a", "float16", "float16", lambda a, b: -a),
    "half from double": ("(half)a", "float64", "float16", lambda a, b: a.astype(np.float16)),
    "half from int": ("(half)a", "int32", "float16", lambda a, b: a.astype(np.float16)),
    "half to int": ("(int)a", "float16", "int32", lambda a, b: a.astype(np.int32)),
    "half through float": ("__float2half_rn(__half2float(a) * 3.0f)", "float16", "float16", lambda a, b: a * 3),
    "bfloat16 sum": ("a + b", "bfloat16", "bfloat16", lambda a, b: a + b),
    "bfloat16 product": ("a * b", "bfloat16", "bfloat16", lambda a, b: a * b),
    "bfloat16 from float": ("__float2bfloat16_rn(a)", "float32", "bfloat16", lambda a, b: a.astype(ml_dtypes.bfloat16)),
    "bfloat16 from half": ("(nv_bfloat16)a", "float16", "bfloat16", lambda a, b: a.astype(ml_dtypes.bfloat16)),
    "float4": (
        "make_float4(a, b, a + b, a - b).w + make_float2(a, b).y",
        "float32",
        "float32",
        lambda a, b: (a - b) + b,
    ),
    "uchar4": (
        "make_uchar4(a, b, 3, 4).z + make_uchar4(a, b, 3, 4).x",
        "uint8",
        "int32",
        lambda a, b: 3 + a.astype(int),
    ),
    "char bytes of an int": (
        "(reinterpret_cast<const signed char*>(&a)[1])",
        "int32",
        "int32",
        lambda a, b: a.view(np.int8).reshape(-1, 4)[:, 1].astype(np.int32),
    ),
    "longlong2": ("make_longlong2(a, b).x ^ make_longlong2(a, b).y", "int64", "int64", lambda a, b: a ^ b),
    "half2": ("make_half2(a, b).y + make_half2(a, b).x", "float16", "float16", lambda a, b: b + a),
    "dot of bytes": (
        "__dp4a(a, b, 7)",
        "int32",
        "int32",
        lambda a, b: 7 + (a.view(np.int8).astype(int) * b.view(np.int8)).reshape(-1, 4).sum(1),
    ),
    "infinity": ("CUDART_INF_F > a", "float32", "bool", lambda a, b: np.inf > a),
}
NEAR: dict[str, tuple[str, str, Meaning]] = {
    "expf": ("expf(a)", "float32", lambda a, b: np.exp(a)),
    "__expf": ("__expf(a)", "float32", lambda a, b: np.exp(a)),
    "exp10f": ("exp10f(a)", "float32", lambda a, b: 10.0**a),
    "__logf": ("__logf(fabsf(a))", "float32", lambda a, b: np.log(np.abs(a))),
    "__log2f": ("__log2f(fabsf(a))", "float32", lambda a, b: np.log2(np.abs(a))),
    "__powf": ("__powf(fabsf(a), b)", "float32", lambda a, b: np.abs(a) ** b),
    "__sinf": ("__sinf(a)", "float32", lambda a, b: np.sin(a)),
    "__cosf": ("__cosf(a)", "float32", lambda a, b: np.cos(a)),
    "__tanf": ("__tanf(a)", "float32", lambda a, b: np.tan(a)),
    "tanhf": ("tanhf(a)", "float32", lambda a, b: np.tanh(a)),
    "__fdividef": ("__fdividef(a, b)", "float32", lambda a, b: a / b),
    "rsqrtf": ("rsqrtf(fabsf(a))", "float32", lambda a, b: 1 / np.sqrt(np.abs(a))),
    "rsqrt": ("rsqrt(fabs(a))", "float64", lambda a, b: 1 / np.sqrt(np.abs(a))),
    "nearbyint": ("nearbyint(a)", "float64", lambda a, b: np.rint(a)),
    "fmodf": ("fmodf(a, b)", "float32", lambda a, b: np.fmod(a, b)),
    "hexp": ("hexp(a)", "float16", lambda a, b: np.exp(a)),
    "hlog": ("hlog(__habs(a))", "float16", lambda a, b: np.log(np.abs(a))),
    "hsqrt": ("hsqrt(__habs(a))", "float16", lambda a, b: np.sqrt(np.abs(a))),
    "htanh": ("htanh(a)", "float16", lambda a, b: np.tanh(a)),
    "hfma": ("__hfma(a, b, a)", "float16", lambda a, b: a * b + a),
}
"""Functions that need not be the last bit right."""


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def _operands(dtype: str) -> tuple[Any, Any]:
    random = np.random.default_rng(7)
    if np.dtype(_numpy(dtype)).kind in "iu":
        limits = np.iinfo(dtype)
        low, high = max(limits.min, -70_000) if dtype == "int32" else limits.min, min(limits.max, 70_000)
        first = random.integers(low, high, COUNT, dtype=dtype, endpoint=True)
        first[:3] = 0, limits.max, limits.min
        return first, np.flip(first).copy()
    first = (random.normal(0, 3, COUNT) * 2.0 ** random.integers(-3, 2, COUNT)).astype(_numpy(dtype))
    return first, np.roll(first, 1)


def _kernel(name: str, expression: str, dtype: str, result: str) -> str:
    """A kernel with an element of each operand as `a` and `b`."""
    operand = C_NAMES[dtype]
    return (
        f'extern "C" __global__ void {name}({C_NAMES[result]}* out, {operand}* as, {operand}* bs) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  {operand} a = as[i], b = bs[i];\n  out[i] = {expression};\n}}\n"
    )


@cache
def _program() -> tuple[CompiledSource, dict[str, str]]:
    """All rows in one source."""
    rows = {row: (expression, dtype, result) for row, (expression, dtype, result, _) in EXACT.items()}
    rows |= {row: (expression, dtype, dtype) for row, (expression, dtype, _) in NEAR.items()}
    names = {row: f"row{number}" for number, row in enumerate(rows)}
    text = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <math_constants.h>\n"
    return compile_source(text + "".join(_kernel(names[row], *rows[row]) for row in rows)), names


def _value(row: str, dtype: str, result: str) -> tuple[Any, Any, Any]:
    program, names = _program()
    a, b = _operands(dtype)
    out = np.zeros(COUNT, _numpy(result))
    program.launch(names[row], [out, a.copy(), b.copy()], [COUNT // 64], [64])
    return out, a, b


@pytest.mark.parametrize("row", EXACT)
def test_an_exact_expression_is_what_numpy_says(row: str) -> None:
    _, dtype, result, meaning = EXACT[row]
    out, a, b = _value(row, dtype, result)
    with np.errstate(all="ignore"):
        expected = np.asarray(meaning(a, b)).astype(_numpy(result))
    np.testing.assert_array_equal(out, np.broadcast_to(expected, out.shape))


@pytest.mark.parametrize("row", NEAR)
def test_a_function_is_near_to_what_numpy_says(row: str) -> None:
    _, dtype, meaning = NEAR[row]
    out, a, b = _value(row, dtype, dtype)
    with np.errstate(all="ignore"):
        expected = meaning(a.astype(np.float64), b.astype(np.float64))
    units = 16 * np.finfo(dtype).eps
    np.testing.assert_allclose(out.astype(np.float64), expected.astype(dtype), rtol=units, atol=units)


ROUNDING = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void narrow(unsigned short* half_out, unsigned short* brain_out, float* in, int n) {
  for (int i = 0; i < n; ++i) {
    half_out[i] = __half_as_ushort(__float2half_rn(in[i]));
    brain_out[i] = __bfloat16_as_ushort(__float2bfloat16_rn(in[i]));
  }
}
extern "C" __global__ void widen(float* half_out, float* brain_out, unsigned short* in, int n) {
  for (int i = 0; i < n; ++i) {
    half_out[i] = (float)__ushort_as_half(in[i]);
    brain_out[i] = (float)__ushort_as_bfloat16(in[i]);
  }
}
extern "C" __global__ void from_double(half* out, double* in, int n) {
  for (int i = 0; i < n; ++i) out[i] = (half)in[i];
}
"""


@cache
def _rounding() -> CompiledSource:
    return compile_source(ROUNDING)


def test_every_16_bit_float_has_its_value() -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    half, brain = np.zeros(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
    _rounding().launch("widen", [half, brain, patterns, 1 << 16], [1], [1])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(half, patterns.view(np.float16).astype(np.float32))
        np.testing.assert_array_equal(brain, patterns.view(ml_dtypes.bfloat16).astype(np.float32))


def test_floats_round_to_the_nearest_and_ties_to_even() -> None:
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = ((halves[:-1] + halves[1:]) / 2).astype(np.float32)  # exact: a float has the digits
    nearby = np.concatenate([np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(1e9))])
    values = np.concatenate([middles, -middles, nearby, np.float32([65519.996, 65520, 1e-8, 0, -0.0, np.inf])])
    half, brain = np.zeros(values.size, np.uint16), np.zeros(values.size, np.uint16)
    _rounding().launch("narrow", [half, brain, values, values.size], [1], [1])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(half, values.astype(np.float16).view(np.uint16))
    np.testing.assert_array_equal(brain, values.astype(ml_dtypes.bfloat16).view(np.uint16))


def test_a_double_is_rounded_once() -> None:
    tie = 1 + 2.0**-11  # between two halves: a little more must go up, though a float cannot hold the little more
    values = np.array([tie, tie + 2.0**-40, tie - 2.0**-40, -tie - 2.0**-40, 2.0**-25 * (1 + 2.0**-40)])
    out = np.zeros(values.size, np.float16)
    _rounding().launch("from_double", [out, values, values.size], [1], [1])
    np.testing.assert_array_equal(out, values.astype(np.float16))
    assert out[1] > out[0]
