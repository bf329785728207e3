"""Keywords behind `**` that are there on some paths alone go to the parameters of their names, and to no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import params_of

ONE_OF_SEVERAL = """
    import jax
    import jax.numpy as jnp
    import pytest

    def by_value(values, weight=0.5, clip=1.0):
        return jnp.sum(values * weight * clip)

    def by_advantage(advantages, weight=0.5, clip=1.0):
        return jnp.sum(advantages * weight * clip)

    @pytest.mark.parametrize("target, loss", [("values", by_value), ("advantages", by_advantage)])
    def test_losses(target, loss):
        @jax.jit
        def run(x):
            return loss(**{target: x})

        run(jnp.ones(3))
"""


@pytest.mark.parametrize(
    "call", ["return loss(**{target: x})", "given = {}; given[target] = x; return loss(**given)"]
)
def test_a_key_that_is_one_of_several_goes_to_the_parameters_of_these_names(
    tmp_path: Path, call: str
) -> None:
    params = params_of(tmp_path, ONE_OF_SEVERAL.replace("return loss(**{target: x})", call))
    assert params["by_value"] == {"values": "traced", "weight": "static", "clip": "static"}
    assert params["by_advantage"] == {"advantages": "traced", "weight": "static", "clip": "static"}


def test_a_key_of_which_nothing_is_known_may_name_any_parameter(tmp_path: Path) -> None:
    unknown = ONE_OF_SEVERAL.replace(
        '("values", by_value), ("advantages", by_advantage)', "(read(), by_value)"
    )
    assert params_of(tmp_path, unknown)["by_value"] == {
        "values": "traced",
        "weight": "traced",
        "clip": "traced",
    }


IN_ONE_BRANCH = """
    import jax
    import jax.numpy as jnp

    def smooth(x, width=1.0, shift=0.0):
        return x * width + shift

    def run(x, wide):
        BRANCH
        return smooth(x, **options)

    jax.jit(run, static_argnums=1)(jnp.ones(3), load())
"""

BRANCHES = [
    'options = {"width": x.sum()} if wide else {}',
    'options = {}\n        if wide:\n            options["width"] = x.sum()',
    'options = {}\n        for _ in range(load()):\n            options["width"] = x.sum()',
    "options = {}\n        if wide:\n            options = dict(width=x.sum())",
]


@pytest.mark.parametrize("branch", BRANCHES)
def test_what_one_branch_gives_goes_to_its_parameter(branch: str, tmp_path: Path) -> None:
    params = params_of(tmp_path, IN_ONE_BRANCH.replace("BRANCH", branch))
    assert params["smooth"] == {"x": "traced", "width": "traced", "shift": "static"}


@pytest.mark.parametrize("branch", BRANCHES)
def test_what_has_no_parameter_for_it_is_called_all_the_same(branch: str, tmp_path: Path) -> None:
    """On some paths it is not there."""
    without = IN_ONE_BRANCH.replace("BRANCH", branch).replace("width=1.0, ", "").replace("* width ", "")
    assert params_of(tmp_path, without)["smooth"] == {"x": "traced", "shift": "static"}


def test_a_function_that_one_branch_gives_is_called(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def double(x):
            return 2 * x

        def apply(x, act=None):
            return act(x) if act is not None else x

        @jax.jit
        def run(x):
            options = {"act": double} if load() else {}
            return apply(x, **options)

        run(jnp.ones(3))
    """
    params = params_of(tmp_path, program)
    assert params["double"] == {"x": "traced"}
    assert params["apply"]["act"] != "traced"


def test_what_collects_keywords_may_lack_them(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def scale(x, width=1.0, shift=0.0):
            return x * width + shift

        def forward(x, **options):
            return scale(x, **options)

        @jax.jit
        def run(x):
            options = {"width": x} if load() else {}
            return forward(x, **options)

        run(jnp.ones(3))
    """
    assert params_of(tmp_path, program)["scale"] == {"x": "traced", "width": "traced", "shift": "static"}


def test_fields_of_a_class_get_what_one_branch_gives(tmp_path: Path) -> None:
    program = """
        import dataclasses

        import jax
        import jax.numpy as jnp

        @dataclasses.dataclass
        class Options:
            width: object = 1.0
            shift: object = 0.0

        def by_width(x, width):
            return x * width

        def by_shift(x, shift):
            return x + shift

        @jax.jit
        def run(x):
            options = Options(**({"width": x} if load() else {}))
            return by_shift(by_width(x, options.width), options.shift)

        run(jnp.ones(3))
    """
    params = params_of(tmp_path, program)
    assert params["by_width"] == {"x": "traced", "width": "traced"}
    assert params["by_shift"] == {"x": "traced", "shift": "static"}
