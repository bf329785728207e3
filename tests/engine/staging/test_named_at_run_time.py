"""Attributes whose names a program makes at run time, and names that a library's own sources give another meaning."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of

LAYERS = """
    import jax
    import jax.numpy as jnp
    from flax import nnx

    class First(nnx.Module):
        def __init__(self, rngs):
            self.w = nnx.Param(rngs.params.normal((2, 2)))

        def __call__(self, x):
            return x @ self.w

    class Second(nnx.Module):
        def __init__(self, rngs):
            self.w = nnx.Param(rngs.params.normal((2, 2)))

        def __call__(self, x):
            return x + self.w

        def unused(self, x):
            return x

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Param(rngs.params.normal((2, 2)))
            for i in range(3):
                setattr(self, f"layer_{i}", First(rngs))
            for i in range(3, 6):
                setattr(self, f"layer_{i}", Second(rngs))

        def __call__(self, x):
            {use}

    @nnx.jit
    def forward(model, x):
        return model(x)

    forward(Model(nnx.Rngs(0)), jnp.ones((2, 2)))
"""
IN_TURN = """for i in range(6):
                x = getattr(self, f"layer_{i}")(x)
            return x"""


def test_what_is_set_under_names_made_at_run_time_is_found_under_such_names(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, LAYERS.replace("{use}", IN_TURN))
    for name in ("First.__call__", "Second.__call__"):
        assert (facts[name].staged, facts[name].basis) == ("yes", "visible")
        assert facts[name].params == {"self": "traced", "x": "traced"}
    assert facts["Second.unused"].staged == "unknown"


def test_it_is_found_under_a_name_that_is_written_out_too(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, LAYERS.replace("{use}", "return self.layer_0(x)"))
    assert facts["First.__call__"].basis == "visible"


def test_names_that_are_known_are_looked_up_first(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, LAYERS.replace("{use}", "return self.first(x)"))
    assert facts["First.__call__"].basis == facts["Second.__call__"].basis == "convention"
