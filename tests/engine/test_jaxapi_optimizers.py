"""The table of optimizers, held against optax."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from jaxlint.jaxapi.optimizers import (
    EPSILONS,
    OPTIMIZERS,
    OPTIMIZERS_OF_PARAMETERS,
    OPTIMIZERS_WITH_ARRAYS,
    OPTIMIZERS_WITH_MOMENTS,
    makes_optimizer,
)

_PARTS = {"optax.scale_by_learning_rate", "optax.scale_by_rprop"}  # which others are made of
_VALUES = {"eta": 0.1, "gamma": 0.1, "key": jax.random.key(0)}


def _parameters(made: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(made).parameters)
    except (TypeError, ValueError):
        return {}


def _optimizer(name: str) -> Any:
    made = getattr(optax, name.partition(".")[2])
    needed = [p.name for p in _parameters(made).values() if p.default is p.empty and p.name in _VALUES]
    return made(0.1, **{parameter: _VALUES[parameter] for parameter in needed})


def _state(name: str, params: Any) -> Any:
    return _optimizer(name).init(params)


def test_each_function_with_a_learning_rate_is_an_optimizer() -> None:
    public = {
        f"optax.{name}": made
        for name, made in vars(optax).items()
        if not (name.startswith("_") or inspect.isclass(made))
    }
    rated = {
        name
        for name, made in public.items()
        if next(iter(_parameters(made)), "") in ("learning_rate", "max_learning_rate")
    }
    assert rated - _PARTS == OPTIMIZERS


def test_what_makes_an_object_of_functions() -> None:
    """By the annotations of optax: an object with `init` and `update` is a `GradientTransformation` of some kind."""
    wrong = []
    for name, made in vars(optax).items():
        if name.startswith("_") or not inspect.isfunction(made):
            continue
        returned = str(inspect.signature(made).return_annotation)
        if "Callable" in returned or name == "scale_by_factored_rms":  # a function of it; not annotated
            continue
        if ("GradientTransformation" in returned) != makes_optimizer(f"optax.{name}"):
            wrong.append((name, returned))
    assert wrong == []
    assert makes_optimizer("optax.MultiSteps")


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_what_the_state_of_an_optimizer_holds(name: str) -> None:
    arrays = [leaf for leaf in jax.tree.leaves(_state(name, {"w": jnp.ones(3)})) if leaf.shape]
    assert bool(arrays) == (name in OPTIMIZERS_WITH_ARRAYS)
    try:
        _state(name, {"w": jnp.ones(3), "f": jax.nn.relu})
    except TypeError:
        refused = True
    except AttributeError:
        refused = False
    else:
        refused = False
    assert refused == (name in OPTIMIZERS_WITH_MOMENTS)


@pytest.mark.parametrize("name", sorted(OPTIMIZERS_OF_PARAMETERS & OPTIMIZERS))
def test_an_optimizer_of_parameters_refuses_to_do_without(name: str) -> None:
    params = {"w": jnp.ones((3, 3))}
    optimizer = _optimizer(name)
    with pytest.raises((ValueError, TypeError)):
        optimizer.update(params, optimizer.init(params))
    optimizer.update(params, optimizer.init(params), params)


@pytest.mark.parametrize("name", sorted(EPSILONS))
def test_an_epsilon_is_the_default_and_is_needed(name: str) -> None:
    """In float16 it is zero, and a gradient of zero gives NaN; in float32 it gives none."""
    made = getattr(optax, name.partition(".")[2])
    given = list(_parameters(made))
    assert _parameters(made)["eps"].default == EPSILONS[name]
    assert given.index("eps") >= (0 if name.startswith("optax.scale_by_") else 2)
    optimizer = made() if name.startswith("optax.scale_by_") else made(0.1)
    for dtype, spoiled in ((jnp.float16, True), (jnp.float32, False)):
        params = jnp.ones(2, dtype)
        updates, _ = optimizer.update(jnp.zeros(2, dtype), optimizer.init(params), params)
        assert bool(jnp.isnan(updates).any()) is spoiled
