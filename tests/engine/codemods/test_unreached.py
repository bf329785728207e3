"""Code that no run has reached is not compiled, unless it can certainly be traced."""

from __future__ import annotations

import pytest

from tests.helpers.missed_code import refusal

ARRAY = {"name": "x", "type": "ArrayImpl", "leaves": [{}]}

FUNCTION = """
LOUD = False
POWER = 2

def helper(x):
    {helper}
    return x * 2

def f(x):
    y = jnp.sin(x)
    if LOUD:
        {missed}  # missed
    return helper(y)

f(jnp.ones(3))
"""


def of_function(missed: str = "pass", helper: str = "pass") -> str | None:
    text = FUNCTION.format(missed=missed, helper=helper.replace("\n", "\n    "))
    return refusal(text, "add-jit", "def f", arguments=[ARRAY])


UNSAFE = [
    "y = jax.lax.top_k(y, POWER)[0]",
    "y = jnp.repeat(y, POWER)",
    "y = y[y > 0]",
    "y = jax.nn.one_hot(y, POWER)",
    "y = jnp.unique(y)",
    "y = jnp.where(y > 0)[0]",
    "y = jnp.zeros(POWER)",
    "y = '%.2f' % y",
    "assert LOUD, 'loud'",
]


@pytest.mark.parametrize("missed", UNSAFE)
def test_a_statement_that_no_run_reached_is_not_compiled(missed: str) -> None:
    reason = of_function(missed)
    assert reason is not None
    assert "at program.py:" in reason


def test_the_reason_names_the_place_and_the_way_out() -> None:
    reason = of_function("y = jnp.repeat(y, POWER)")
    assert reason == (
        "`y = jnp.repeat(y, POWER)` at program.py:16 would be compiled, and no run has reached it; add one that does with --also"
    )


@pytest.mark.parametrize(
    "missed",
    [
        "raise ValueError('too loud')",
        "raise ValueError(f'{y.shape}')",
        "y = jnp.clip(y, -1.0, 1.0)",
        "y = y / jnp.sum(y, axis=-1, keepdims=True)",
        "y = jnp.where(y > 0, y, jnp.zeros((3,)))",
        "y = jax.tree.map(jnp.tanh, y)",
        "y = jax.tree.map(lambda leaf: jax.nn.relu(leaf) + 1, y)",
        "y = jnp.asarray(y, jnp.float32).mean() + jax.random.normal(jax.random.key(0), y.shape)",
        "return y[..., 0], y[1:]",
        "y += 1",
        "pass",
    ],
)
def test_what_can_certainly_be_traced_is_compiled(missed: str) -> None:
    assert of_function(missed) is None


def test_what_is_called_below_counts_on_all_paths() -> None:
    assert "`x = jnp.unique(x)` at program.py:11" in str(
        of_function(helper="if LOUD:\n    x = jnp.unique(x)  # missed")
    )
    assert of_function(helper="if x.ndim > 3:\n    raise ValueError(x.ndim)  # missed") is None


def test_a_function_that_a_table_may_name_counts() -> None:
    text = """
    NAME, COUNT = "half", 3

    def half(x):
        return jnp.sin(x)

    def kept(x):
        return jnp.repeat(x, {count})  # missed

    TABLE = {{"half": half, "kept": kept}}

    def f(x):
        return TABLE[NAME](x)

    f(jnp.ones(3))
    """
    for count, refused in (("2", False), ("COUNT", True)):
        reason = refusal(text.format(count=count), "add-jit", "def f", arguments=[ARRAY])
        assert (reason is not None) == refused, reason


def test_what_the_user_has_jitted_keeps_its_meaning() -> None:
    text = """
    @jax.jit
    def g(x):
        if x.shape[0] > 5:
            x = jnp.repeat(x, x.shape[0] // 5)  # missed
            x = jax.lax.top_k(x, 3)[0]  # missed
        return x

    def f(x):
        return g(x) + 1

    f(jnp.ones(3))
    """
    assert refusal(text, "add-jit", "def f", arguments=[ARRAY]) is None
    assert refusal(text.replace("@jax.jit\n", "\n"), "add-jit", "def f", arguments=[ARRAY]) is not None


REGION = """
def main(xs, loud=False):
    w = jnp.ones(3)
    for x in xs:
        w = w + jnp.sin(x)
        w = jnp.exp(-w) if loud else {missed}
        print(w)

main([jnp.ones(3)])
"""


@pytest.mark.parametrize(
    ("otherwise", "refused"), [("w * 2  # missed", False), ("w[w > 0].sum()  # missed", True)]
)
def test_a_branch_of_an_expression_counts(otherwise: str, *, refused: bool) -> None:
    reason = refusal(REGION.format(missed=otherwise), "region-to-jit", "w = w + jnp")
    assert (reason is not None) == refused, reason
    assert reason is None or reason.startswith("`w[w > 0].sum()` at program.py:10 would be compiled")


SCAN = """
def f(xs, loud=False):
    h = jnp.zeros(3)
    for x in xs:
        h = helper(h + x)
    return h

def helper(h):
    if h.ndim > 1:
        {missed}  # missed
    return jnp.tanh(h)

f(jnp.ones((4, 3)))
"""


@pytest.mark.parametrize(
    ("missed", "refused"),
    [("raise ValueError('rows')", False), ("h = jnp.asarray(h, jnp.bfloat16)", True)],
)
def test_the_body_of_a_loop_of_jax_may_only_raise_there(missed: str, *, refused: bool) -> None:
    reason = refusal(SCAN.format(missed=missed), "for-to-scan", "xs", line="for x in xs")
    assert (reason is not None) == refused, reason
