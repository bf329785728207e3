"""What a compiled function gives inside of `vmap`: a tracer if one goes in, an array otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

PROGRAM = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def doubled(x):
        return x * 2

    def flux(p):
        grid = jnp.arange(3.0)
        total = jnp.sum({computed})
        if total > 0:{mark}
            return p * total
        return p

    print(jax.{staged}(flux)(jnp.ones(4)))
"""
MARK = "  # finding: tracer-branch"


@pytest.mark.parametrize(
    ("computed", "mark"),
    [
        ("doubled(grid)", ""),
        ("doubled(p * grid)", MARK),
        ("jax.vmap(doubled)(grid)", ""),
        ("jax.lax.map(lambda x: x + 1, grid)", ""),
        ("jax.lax.map(lambda x: x * p, grid)", MARK),
        ("jax.lax.map(lambda x: (lambda y: y * p)(x), grid)", MARK),
        ("jax.lax.scan(lambda c, x: (c + x, c), 0.0, grid)[0]", ""),
        ("jax.lax.scan(lambda c, x: (c + x, c), p, grid)[0]", MARK),
        ("jax.lax.fori_loop(0, 3, lambda i, c: c + i, 0)", ""),
        ("jax.lax.cond(p > 0, lambda: 1.0, lambda: 2.0)", MARK),
    ],
)
def test_only_what_a_tracer_goes_into_is_one(tmp_path: Path, computed: str, mark: str) -> None:
    files = {"program.py": PROGRAM.format(computed=computed, mark=mark, staged="vmap")}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_under_jit_everything_is_a_tracer(tmp_path: Path) -> None:
    files = {"program.py": PROGRAM.format(computed="doubled(grid)", mark=MARK, staged="jit")}
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(
    ("lag", "mark"), [("2", ""), ("jnp.asarray(2)", "  # finding: unhashable-static-argument")]
)
def test_an_array_that_cannot_be_hashed_stands_for_all_that_would_follow_inside(
    tmp_path: Path, lag: str, mark: str
) -> None:
    files = {
        "program.py": f"""
            from functools import partial

            import jax
            import jax.numpy as jnp

            @partial(jax.jit, static_argnums=1)
            def smooth(values, lag):
                first = len(values) - lag
                if first > 0:
                    return values[:first]
                return values

            smooth(jnp.ones(3), {lag}){mark}
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_a_tree_of_a_library_may_have_an_at_of_its_own(tmp_path: Path) -> None:
    files = {
        "program.py": """
            import jax
            import jax.numpy as jnp
            import trees

            @jax.grad
            def loss(model: trees.Model, x: jax.Array):
                model = model.at[...].apply(trees.unfreeze)
                return jnp.mean(jax.vmap(model)(x))

            @jax.grad
            def wrong(x):
                x = jnp.sin(x).at[0].set(1.0)
                return jnp.mean(jax.vmap(x)(x))  # finding: transform-of-result

            loss(trees.Model(3), jnp.ones((2, 3)))
            wrong(jnp.ones(3))
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("given", "mark"), [("optimiser, ", ""), ("", "  # finding: tracer-leak")])
def test_what_an_argument_holds_is_put_together_anew_in_the_trace(
    tmp_path: Path, given: str, mark: str
) -> None:
    files = {
        "program.py": f"""
            import jax
            import jax.numpy as jnp
            from trees import TreeClass

            class Adam(TreeClass):
                def __init__(self, size):
                    self.mean = jnp.zeros(size)

                def __call__(self, updates):
                    self.mean = 0.9 * self.mean + updates{mark}
                    return self.mean

            class Optimiser(TreeClass):
                def __init__(self, size):
                    self.adam = Adam(size)

                def __call__(self, updates):
                    return self.adam(updates)

            optimiser = Optimiser(3)

            @jax.jit
            def step({given}weights, gradients):
                return weights - optimiser(gradients)

            step({given}jnp.ones(3), jnp.ones(3))
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("given", "mark"), [("losses", ""), ("last", "  # finding: carry-mismatch")])
def test_what_the_iterations_of_an_inner_scan_give_is_stacked(tmp_path: Path, given: str, mark: str) -> None:
    files = {
        "program.py": f"""
            import jax
            import jax.numpy as jnp

            def train(weights, rows):
                def step(weights, row):
                    return weights, (weights * row).mean()

                weights, losses = jax.lax.scan(step, weights, rows)
                return losses, losses.mean()

            def repeated(weights, rows, keys):
                def run(_, key):
                    losses, last = train(weights, jax.random.permutation(key, rows))
                    return {given}, losses

                return jax.lax.scan(run, jnp.zeros((10,)), keys)[1]{mark}

            repeated(jnp.ones(3), jnp.ones((10, 3)), jax.random.split(jax.random.key(0), 4))
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)
