"""How models of libraries are found."""

from __future__ import annotations

import pytest

from jaxlint.libraries import load
from jaxlint.staging.evaluator.external_models import (
    LibraryCall,
    Models,
    attributes,
    calls,
    calls_of_made,
    methods,
)
from jaxlint.staging.values import UNKNOWN, Value


def one(call: LibraryCall) -> Value:
    return UNKNOWN


def other(call: LibraryCall) -> Value:
    return UNKNOWN


def test_a_model_is_found_by_its_name_and_else_by_the_closest_family() -> None:
    models = Models("function")
    models("a.b.f")(one)
    models("a.*")(one)
    models("a.b.*")(other)
    assert models.get("a.b.f") is one
    assert models.get("a.b.g") is other
    assert models.get("a.c") is one
    assert models.get("b.c") is None
    assert "a.b.f" in models
    assert "a.b.g" not in models


def test_a_family_may_end_in_a_name() -> None:
    models = Models("method")
    models("optax.*.update")(one)
    models("*.update")(other)
    assert models.get("optax.adam.update") is one
    assert models.get("jaxopt.LBFGS.update") is other
    assert models.get("optax.adam.init") is None


@pytest.mark.parametrize("name", ["a.f", "a.*"])
def test_two_models_of_one_name_are_refused(name: str) -> None:
    models = Models("function")
    models(name)(one)
    with pytest.raises(ValueError, match="two models of the function"):
        models(name)(other)


def test_all_libraries_are_loaded() -> None:
    load()
    load()
    assert "flax.nnx.split" in calls
    assert "flax.linen.Module.param" in calls_of_made
    assert methods.get("numpyro.infer.MCMC.run") is not None
    assert attributes.get("flax.linen.Variable.value") is not None
