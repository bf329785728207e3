"""`grown-array-to-list`: an array that a loop makes longer becomes a list, and which arrays stay."""

from __future__ import annotations

import contextlib
import io

import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"


def loop(
    *body: str, over: str = "range(7)", before: str = "xs = jnp.array([])", after: str = "return xs"
) -> str:
    """A function with a loop of these lines, and calls of it."""
    lines = "".join(f"        {line}\n" for line in body)
    return (
        f"{HEAD}def f(x):\n    {before}\n    for i in «{over}»:\n{lines}    {after}\n\n\n"
        "for x in (jnp.arange(3.0), jnp.arange(2)):\n    found = f(x)\n    print(found, found.dtype, type(found).__name__)\n"
    )


GROW = "xs = jnp.append(xs, jnp.sum(x) * i)"
LOOK = ("if i % 3 == 1:", "    print(i, xs)")
PROGRAMS: dict[str, str] = {
    "numbers": loop(GROW),
    "rows that are made flat": loop("xs = jnp.append(xs, jnp.outer(x, x) + i)"),
    "rows of several sizes": loop("xs = jnp.append(xs, x[: i % 2 + 1])"),
    "along an axis": loop(
        "xs = jnp.append(xs, x[None] * i, axis=0)", before="xs = jnp.zeros((0, x.shape[0]))"
    ),
    "concatenated": loop("xs = jnp.concatenate([xs, x * i])", before="xs = x"),
    "concatenated along an axis": loop(
        "xs = jnp.concatenate((xs, x[:, None]), axis=1)", before="xs = x[:, None]"
    ),
    "stacked": loop("xs = jnp.vstack([xs, x * i])", before="xs = x"),
    "side by side": loop("xs = jnp.hstack([xs, x * i])", before="xs = x"),
    "a look after it": loop(GROW, *LOOK),
    "a look before it": loop(*LOOK, GROW),
    "two looks": loop(GROW, *LOOK, "if i == 5:", "    xs_2 = xs * 2", "    print(xs_2)"),
    "a look with an else": loop(GROW, *LOOK, "else:", "    print(xs.shape)"),
    "in an if": loop("if i % 2:", f"    {GROW}"),
    "until it ends": loop(GROW, "if i == 4:", "    break"),
    "no turn": loop(GROW, over="range(0)", before="xs = jnp.arange(3)"),
    "two arrays": loop(
        GROW, "ys = jnp.append(ys, x[0])", before="xs = ys = jnp.array([])", after="return xs + ys"
    ),
    "integers": loop("xs = jnp.append(xs, jnp.argmax(x) + i)", before="xs = jnp.array([], dtype=jnp.int32)"),
}


def outcome(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_values_and_dtypes(name: str, rewrite: Rewrite) -> None:
    marked = PROGRAMS[name]
    new = rewrite("grown-array-to-list", marked)
    assert "xs_rows.append(" in new, new
    assert outcome(new) == outcome(marked.replace("«", "").replace("»", ""))


REFUSALS: dict[str, tuple[str, str]] = {
    "each iteration reads": (loop(GROW, "x = x + xs[-1]"), "each iteration reads"),
    "the test of a look asks": (loop(GROW, "if xs[-1] > 3:", "    print(i)"), "each iteration reads"),
    "it grows in the block that reads it": (
        loop("if i % 3:", f"    {GROW}", "    print(xs)"),
        "grows in the block",
    ),
    "it is computed of itself": (loop("xs = jnp.append(xs, xs[-1:] + x[0])"), "computed from it"),
    "it is given another value": (loop(GROW, "if i == 3:", "    xs = xs[1:]"), "is reassigned"),
    "it grows at the front": (loop("xs = jnp.concatenate([x, xs])"), "no array grows"),
    "a nested function reads": (
        loop(GROW, before="xs = jnp.array([])\n    g = lambda: xs", after="return g()"),
        "nested function",
    ),
    "the loop returns": (loop(GROW, "if i == 3:", "    return xs"), "the loop returns"),
    "a handler": (
        loop(GROW)
        .replace("    for i in", "    try:\n      for i in")
        .replace("    return xs", "    except ValueError:\n        pass\n    return xs"),
        "handler",
    ),
    "what is added may be a number": (loop("xs = jnp.append(xs, i)"), "may not be an array"),
    "16 bits": (loop(GROW, before="xs = jnp.array([], dtype=jnp.bfloat16)"), "16 bits"),
    "a decorator may trace it": (loop(GROW).replace("def f(", "@jax.jit\ndef f("), "a decorator"),
    "a transformation traces it": (
        loop(GROW).replace("found = f(x)", "found = jax.vmap(f)(x[None])"),
        "a transformation",
    ),
    "it is handed to others": (loop(GROW).replace("found = f(x)", "found = known[0](f)"), "a transformation"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_left_alone(name: str, rewrite: Rewrite) -> None:
    text, reason = REFUSALS[name]
    refused = rewrite("grown-array-to-list", text)
    assert refused.startswith("refused: "), refused
    assert reason in refused
