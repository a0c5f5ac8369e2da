"""Dtypes: NumPy's names on one side, the library's elements (include/ebb/run.h) on the other."""

import ml_dtypes
import numpy as np

from . import _core

FLOAT32, FLOAT64, INT32, UINT8, BOOL, FLOAT16, BFLOAT16, INT8, INT16 = range(9)
DTYPES = tuple(np.dtype(d) for d in (
    "float32", "float64", "int32", "uint8", "bool", "float16", ml_dtypes.bfloat16, "int8", "int16"))

# By their names in text (docs/ir.md).
NAMES = dict(zip(("f32", "f64", "i32", "u8", "bool", "f16", "bf16", "i8", "i16"), DTYPES))
_ELEMENTS = {dtype: element for element, dtype in enumerate(DTYPES)}
_REAL = frozenset(DTYPES[e] for e in (FLOAT16, BFLOAT16, FLOAT32, FLOAT64))
_LOW = frozenset(DTYPES[e] for e in (FLOAT16, BFLOAT16))
# The narrower of two comes first; of two that are as far, both become the next.
_NARROW = frozenset(DTYPES[e] for e in (UINT8, INT8, INT16))
_ORDER = {DTYPES[e]: at for at, es in enumerate(((BOOL,), (UINT8, INT8), (INT16,), (INT32,), (FLOAT16, BFLOAT16), (FLOAT32,),
                                                 (FLOAT64,))) for e in es}
# What has no element of its own becomes on entry one that holds its values.
_ENTRY = {
    np.dtype(given): np.dtype(taken)
    for taken, several in (
        ("float32", ("float64",)),
        ("int32", ("int64", "uint64", "uint32", "uint16")),
    )
    for given in several
}
_WIDER_THAN_INT32 = tuple(np.dtype(d) for d in ("int64", "uint64", "uint32"))


def element_of(dtype):
    """The element of a dtype in any of NumPy's spellings."""
    dtype = np.dtype(dtype)
    if dtype not in _ELEMENTS:
        raise TypeError(f"dtype {dtype} is not one of {', '.join(str(d) for d in DTYPES)}")
    return _ELEMENTS[dtype]


def stays(dtype):
    """Whether data of the dtype come in as they are."""
    return dtype in _ELEMENTS and dtype not in _ENTRY


def is_real(dtype):
    return np.dtype(dtype) in _REAL


def is_low(dtype):
    """Of 16 bits."""
    return np.dtype(dtype) in _LOW


def is_narrow(dtype):
    """Integers below 32 bits."""
    return dtype in _NARROW


_cast = _core.op("cast")


def cast(x, element):
    """x as another element, by way of int32 where there is no kernel."""
    dtype, given = DTYPES[element], x.dtype
    direct = INT32 in (element, x._element) or not (dtype in _NARROW or (given in _NARROW and x._element != UINT8))
    return _cast(x if direct else _cast(x, to=INT32), to=element)


def whole(x):
    """x, or int32 of narrow integers."""
    return cast(x, INT32) if x.dtype in _NARROW else x


def buffer_of(array):
    """The array's bytes: NumPy gives no buffer of a bfloat16."""
    return array.view(np.uint16) if array.dtype == DTYPES[BFLOAT16] else array


def array_of(data, dtype=None):
    """data as a row-major array of a dtype that has an element."""
    array = np.asarray(data)
    if dtype is not None:
        element_of(dtype)
        return np.asarray(array, dtype=dtype, order="C")
    taken = _ENTRY.get(array.dtype)
    if taken is None and array.dtype not in _ELEMENTS:
        raise TypeError(f"tensor: data of dtype {array.dtype}: numbers and truth values can be taken")
    if array.dtype in _WIDER_THAN_INT32 and array.size:
        low, high = int(array.min()), int(array.max())
        if low < -(2**31) or high >= 2**31:
            raise OverflowError(f"tensor: values from {low} to {high} do not fit int32: give a dtype")
    if taken is not None:
        array = array.astype(taken)
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def promote(*dtypes):
    """The widest of them, in the order bool, uint8 and int8, int16, int32, 16 bits, float32, float64."""
    widest = max(dtypes, key=_ORDER.get)
    if widest in _NARROW and len({d for d in dtypes if _ORDER[d] == _ORDER[widest]}) > 1:
        return DTYPES[INT16]
    return DTYPES[FLOAT32] if widest in _LOW and len(_LOW.intersection(dtypes)) > 1 else widest
