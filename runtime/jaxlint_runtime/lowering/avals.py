"""Sizes of abstract values."""

from __future__ import annotations

import math
from typing import Any


def nbytes(aval: Any) -> int:
    """Bytes of an abstract array; 0 for tokens and other values without a shape.

    A typed random key counts as its underlying integers.
    """
    shape = getattr(aval, "shape", None)
    dtype = getattr(aval, "dtype", None)
    if shape is None or dtype is None:
        return 0
    itemsize = getattr(dtype, "itemsize", 0)
    return math.prod(shape) * int(itemsize)


def size(aval: Any) -> int:
    """Number of elements of an abstract array; 0 for values without a shape."""
    shape = getattr(aval, "shape", None)
    return math.prod(shape) if shape is not None else 0
