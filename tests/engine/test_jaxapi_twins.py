"""The functions that rewrites exchange for those of `jax.numpy`, held against the installed libraries."""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.jaxapi.twins import (
    BUFFERS,
    ELEMENTWISE,
    MATH,
    OTHERS,
    OWN_KEYWORDS,
    TAKE_SEQUENCES,
    TYPES,
    VARIADIC,
)

# The same parameter, which the libraries call differently.
_SAME = ({"b", "x2"}, {"min", "a_min"}, {"max", "a_max"}, {"test_elements", "q"})


def found(root: Any, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), root)


def positional(function: Any) -> list[str] | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # written in C without a signature
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in parameters if one.kind in kinds]


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_elementwise(name: str) -> None:
    mine, theirs = found(jnp, name), getattr(np, name, None)
    if theirs is None:
        pytest.skip("this NumPy does not have it yet")
    arguments = [np.array([0.25, 0.75], np.float32)] * theirs.nin
    if name == "ldexp":
        arguments[1] = np.array([1, 2])
    elif name in ("acosh", "arccosh"):
        arguments = [np.array([1.25, 2.5], np.float32)]
    try:
        want = theirs(*arguments)
    except TypeError:  # of integers alone
        arguments = [np.array([1, 2])] * theirs.nin
        want = theirs(*arguments)
    np.testing.assert_allclose(jax.jit(mine)(*arguments), want, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_positional_arguments(name: str) -> None:
    """As many as the table says have the same names, or stand for the same."""
    mine, theirs = positional(found(jnp, name)), positional(found(np, name))
    assert callable(found(jnp, name))
    if mine is None or theirs is None:
        return
    for one, two in list(zip(mine, theirs, strict=False))[1 : OTHERS[name]]:
        assert one == two or any({one, two} <= same for same in _SAME), (mine, theirs)


@pytest.mark.parametrize("name", sorted(VARIADIC | TYPES | BUFFERS | TAKE_SEQUENCES))
def test_names(name: str) -> None:
    assert callable(found(jnp, name))
    assert callable(found(np, name))


@pytest.mark.parametrize("name", sorted(OWN_KEYWORDS))
def test_own_keywords(name: str) -> None:
    for library in (jnp, np):
        assert set(OWN_KEYWORDS[name]) <= set(inspect.signature(found(library, name)).parameters)


@pytest.mark.parametrize("name", sorted(MATH))
def test_math(name: str) -> None:
    module, _, leaf = MATH[name].rpartition(".")
    mine = getattr(jax.scipy.special if module == "jax.scipy.special" else jnp, leaf)
    theirs = getattr(math, name)
    arguments = (0.75, 0.5) if name in ("atan2", "pow", "hypot", "copysign", "fmod") else (0.75,)
    if name == "acosh":
        arguments = (1.75,)
    np.testing.assert_allclose(mine(*map(jnp.float32, arguments)), theirs(*arguments), rtol=1e-5)
