"""Functions that numba compiles: what is NumPy's in them is no matter of JAX."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import findings_in

CODE = """
import jax
import numpy as np
import numba


@numba.njit
def walk(n):
    return np.random.gumbel(0, 1, n)


@numba.njit(cache=True)
def twice(x):
    if x > 0:
        return np.random.gumbel() * x
    return x


@jax.jit
def f(x):
    return x + walk(3) + twice(x)
"""


def test_functions_of_numba_are_not_looked_into(tmp_path: Path) -> None:
    assert findings_in(tmp_path, {"program.py": CODE}) == []
    plain = CODE.replace("@numba.njit(cache=True)\n", "").replace("@numba.njit\n", "")
    assert findings_in(tmp_path, {"program.py": plain}) != []
