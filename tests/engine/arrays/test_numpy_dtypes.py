"""The dtypes of NumPy's operators, beside the installed NumPy."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from jaxlint.staging.values.dtypes import numpy_result

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize(("one", "two"), list(itertools.product(NAMES, NAMES)))
def test_two_arrays(one: str, two: str) -> None:
    assert numpy_result(one, two) in ("", np.result_type(np.dtype(one), np.dtype(two)).name)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize(("weak", "number"), [("int*", 1), ("float*", 1.5), ("complex*", 1j)])
def test_an_array_and_a_number(dtype: str, weak: str, number: complex) -> None:
    assert numpy_result(dtype, weak) in ("", (np.ones(1, dtype) * number).dtype.name)


@pytest.mark.parametrize(("weak", "number"), [("int*", 1), ("float*", 1.5), ("bool", True)])
def test_bfloat16_and_a_number(weak: str, number: complex) -> None:
    assert numpy_result("bfloat16", weak) == (np.ones(1, ml_dtypes.bfloat16) * number).dtype.name


@pytest.mark.parametrize("dtype", NAMES)
def test_bfloat16_and_an_array(dtype: str) -> None:
    result = np.ones(1, ml_dtypes.bfloat16) * np.ones(1, dtype)
    assert numpy_result("bfloat16", dtype) in ("", result.dtype.name)


def test_floats_and_integers_are_known() -> None:
    assert numpy_result("float32", "float64") == "float64"
    assert numpy_result("int64", "float32") == "float64"
    assert numpy_result("bool", "float32") == "float32"
