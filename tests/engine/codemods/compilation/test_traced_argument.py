"""`trace-static-argument`."""

from __future__ import annotations

import contextlib
import io

import pytest

HEAD = "import jax\nimport jax.numpy as jnp\nfrom functools import partial\n\n"
PLAIN = "import jax\nimport jax.numpy as jnp\n\n"


def decorated(options: str, body: str, signature: str = "x, i=0, n=1") -> str:
    return f"{HEAD}@«partial(jax.jit, {options})»\ndef step({signature}):\n    {body}\n"


REWRITES = {
    "the only one": (
        decorated('static_argnames="i"', "return x * i"),
        f"{PLAIN}@jax.jit\ndef step(x, i=0, n=1):\n    return x * i\n",
    ),
    "one of two names": (
        decorated('static_argnames=("i", "n")', "return x * i"),
        f'{HEAD}@partial(jax.jit, static_argnames="n")\ndef step(x, i=0, n=1):\n    return x * i\n',
    ),
    "one of three positions": (
        decorated("static_argnums=(0, 1, 2)", "return jnp.where(i > 3, i / n, 0.1)"),
        f"{HEAD}@partial(jax.jit, static_argnums=(0, 2))\ndef step(x, i=0, n=1):\n    return jnp.where(i > 3, i / n, 0.1)\n",
    ),
    "a call, other options": (
        f"{HEAD}def step(x, i):\n    return x * jnp.sin(i)\n\nrun = «jax.jit(step, static_argnums=1, inline=True)»\n",
        f"{HEAD}def step(x, i):\n    return x * jnp.sin(i)\n\nrun = jax.jit(step, inline=True)\n",
    ),
    "a lambda": (
        f"{HEAD}run = «jax.jit(lambda x, i: x * i, static_argnums=1)»\n",
        f"{HEAD}run = jax.jit(lambda x, i: x * i)\n",
    ),
    "computed with arrays, in a tree": (
        decorated(
            'static_argnames="i"', "y = x * i; return jax.tree.map(lambda leaf: leaf - i, other(y, x + i))"
        ),
        f"{PLAIN}@jax.jit\ndef step(x, i=0, n=1):\n    y = x * i; return jax.tree.map(lambda leaf: leaf - i, other(y, x + i))\n",
    ),
}
REFUSALS = {
    "a branch": (decorated('static_argnames="i"', "return x if i > 3 else 2 * x"), "branches on"),
    "a range": (decorated('static_argnames="i"', "return sum(x for _ in range(i))"), "calls `range()`"),
    "a shape": (decorated('static_argnames="n"', "return x + jnp.arange(2 * n)"), "computes a shape"),
    "a shape by another name": (
        decorated('static_argnames="n"', "m = 2 * n; return x.reshape(m, -1)"),
        "computes a shape",
    ),
    "a slice": (decorated('static_argnames="i"', "return x[:i]"), "slices by"),
    "an axis": (decorated('static_argnames="i"', "return x.sum(axis=i)"), "may need a compile-time constant"),
    "a function of its own": (
        decorated('static_argnames="i"', "return f(x, i)"),
        "may need a compile-time constant",
    ),
    "a function that it is": (
        decorated('static_argnames="i"', "return i(x)"),
        "calls `i`, which is not a number",
    ),
    "a configuration": (decorated('static_argnames="i"', "return x * i.rate"), "may not be a number"),
    "a default that is a text": (
        decorated('static_argnames="i"', "return x * i", 'x, i="a"'),
        "default of `i` is not a number",
    ),
    "not static": (decorated('static_argnames="n"', "return x * i"), "is not static here"),
    "listed elsewhere": (decorated("static_argnames=NAMES", "return x * i"), "does not list"),
    "defined elsewhere": (
        f"{HEAD}run = «jax.jit(step, static_argnums=1)»\n",
        "no single definition in this file",
    ),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("trace-static-argument", before, name="i") == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    name = "n" if 'names="n"' in before and reason != "is not static here" else "i"
    answer = rewrite("trace-static-argument", before, name=name)
    assert answer.startswith("refused: ")
    assert reason in answer


def test_one_program_serves_every_value_and_gives_the_same(rewrite):
    before = decorated('static_argnames=("i", "n")', "return jnp.where(i % 2 == 0, x * 0.9**i, x / n)")
    run = "\nfor i in range(4):\n    print(step(jnp.float32(1.5), i, n=2))\nprint('programs', step._cache_size())\n"
    printed = []
    for program in (
        before.replace("«", "").replace("»", ""),
        rewrite("trace-static-argument", before, name="i"),
    ):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            exec(program + run, {})
        printed.append(text.getvalue().split())
    (*values, _, many), (*others, _, one) = printed
    assert [float(value) for value in values] == pytest.approx([float(value) for value in others], rel=1e-6)
    assert (many, one) == ("4", "1")


EQX = "import equinox as eqx\nimport jax\nimport jax.numpy as jnp\n\n\n"
DENOISE = EQX + (
    "def rate(t):\n    return jnp.cos(t / 9.0)\n\n\n"
    "@eqx.filter_jit\ndef denoise(x, t, key):\n    x = x * rate(t)\n{body}    return x\n\n\n"
    "x = jnp.ones(3)\nkey = jax.random.PRNGKey(0)\nfor t in range(9):\n    x = denoise(x, «t», key)\nend = x\n"
)
BRANCH = "    if t > 0:\n        x = x + jax.random.normal(key, x.shape)\n"


def test_equinox_is_given_an_array(rewrite):
    after = rewrite("array-argument", DENOISE.format(body=""), name="t")
    assert after == DENOISE.format(body="").replace("«t»", "jnp.asarray(t)")


def test_a_branch_becomes_a_selection(rewrite):
    text = DENOISE.format(body=BRANCH)
    assert rewrite("array-argument", text, name="t").startswith("refused: the function branches on `t`")
    after = rewrite("array-argument", text, name="t", branches=True)
    assert "x = jax.lax.cond(" in after
    assert "denoise(x, jnp.asarray(t), key)" in after
    ends = []
    for each in (text.replace("«", "").replace("»", ""), after):
        space: dict[str, object] = {}
        exec(each, space)
        ends.append(space["end"])
    assert abs(ends[0] - ends[1]).max() < 1e-5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("* rate(t)", "* jnp.ones(t)", "computes a shape"),
        ("jnp.cos(t / 9.0)", "jnp.ones(t)", "computes a shape"),
        ("jnp.cos(t / 9.0)", "sum(1.0 for _ in range(t))", "calls `range()`"),
        ("@eqx.filter_jit", "@jax.jit", "not decorated by `eqx.filter_jit`"),
        ("    return jnp.cos", "    if t < 0:\n        t = [1.0]\n    return jnp.cos", ""),
    ],
)
def test_a_number_that_has_to_stay(rewrite, old, new, said):
    text = DENOISE.format(body="")
    assert old in text
    after = rewrite("array-argument", text.replace(old, new), name="t", branches=True)
    assert after.startswith("refused: ")
    assert said in after


def test_a_branch_on_a_static_number_of_jax(rewrite):
    text = decorated('static_argnames="i"', "if i > 3:\n        return x\n    return 2.0 * x")
    assert rewrite("trace-static-argument", text, name="i").startswith("refused: ")
    assert "jnp.where(i > 3, x, 2.0 * x)" in rewrite("trace-static-argument", text, name="i", branches=True)
