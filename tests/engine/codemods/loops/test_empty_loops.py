"""A loop that does not turn leaves what it left, where it has become one of JAX: numbers of Python, empty lists, and what raises for these."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"
ROWS = [jnp.linspace(0.1, 1.0, 4), jnp.zeros(0)]

# Codemod, the body of `f(xs, n)`, with which of them it is called.
LOOPS = {
    "a sum": ("for-to-scan", "total = 0.0\nfor x in xs:\n    total = total + jnp.sin(x)\nreturn total"),
    "a mean": ("for-to-scan", "total = 0.0\nfor x in xs:\n    total = total + jnp.sin(x)\nreturn total / n"),
    "none of a count": ("for-to-scan", "w = 1.0\nfor _ in range(n):\n    w = jnp.tanh(w)\nreturn w"),
    "from a first": ("for-to-scan", "w = 2.0\nfor i in range(0, n):\n    w = jnp.sin(w) * 2 + i\nreturn w"),
    "backwards": ("for-to-scan", "w = 0.5\nfor i in range(n - 1, -1, -1):\n    w = jnp.sin(w + xs[i])\nreturn w"),
    "side by side": ("for-to-scan", "w = 0.5\nfor i, (x, y) in enumerate(zip(xs, xs * 2)):\n    w = jnp.sin(w + x * y)\nreturn w"),
    "values beside a carry": ("for-to-scan", "w, ys = 0.5, []\nfor x in reversed(xs):\n    w = jnp.sin(w + x)\n    ys.append(w)\nreturn w, jnp.stack(ys[::-1])"),
    "stacked": ("for-to-vmap", "ys = []\nfor x in xs:\n    ys.append(jnp.ones(2) * x)\nreturn jnp.stack(ys, axis=1)"),
    "an array of numbers": ("for-to-vmap", "ys = []\nfor x in xs:\n    y = x * 2\n    ys.append(jnp.int32(y))\nys.reverse()\nreturn jnp.array(ys)"),
    "on the host": ("for-to-vmap", "ys = []\nfor x in xs:\n    ys.append(jnp.sin(x))\nreturn np.array(ys), len(ys)"),
    "added": ("for-to-vmap", "total = 0.0\nfor x in xs:\n    total += jnp.sin(x)\nreturn total"),
    "a comprehension": ("stack-to-vmap", "return jnp.stack([jnp.ones(2) * x for x in xs], axis=1)"),
    "a comprehension of numbers": ("stack-to-vmap", "return jnp.array([x.astype(int) for x in xs])"),
    "an early end": ("break-to-while-loop", "w = 0.5\nfor i in range(n):\n    w = jnp.sin(w)\n    size = w * 2\n    if size < 0.2:\n        break\nreturn w, size"),
    "a test": ("while-to-while-loop", "w = 3.0\nwhile np.sum(xs) > w:\n    w = w + xs[0]\nreturn w"),
}  # fmt: skip


def edited(codemod: str, text: str, *, strict: bool = True, **parameters: object) -> str:
    """The file with its first loop, or comprehension, as one of JAX; or why it is not. `strict`: as `verify` asks."""
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    site = Site(source)
    nodes = list(ast.walk(site.tree))
    place: ast.expr
    if codemod == "break-to-while-loop":
        place = next(node.test for node in nodes if isinstance(node, ast.If))
    elif codemod == "while-to-while-loop":
        place = next(node.test for node in nodes if isinstance(node, ast.While))
    elif codemod == "stack-to-vmap":
        place = next(node for node in nodes if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.ListComp))  # fmt: skip
    else:
        place = next(node.iter for node in nodes if isinstance(node, ast.For))
    workspace = Workspace({"a.py": source}, strict=strict)
    step = Step(codemod, "a.py", site.span(place), parameters)
    plan = workspace.plan(FixRequest(Safety.UNSAFE, "Rewrite", (step,)))
    return plan if isinstance(plan, str) else workspace.edited([plan])["a.py"].text


def outcome(text: str, *arguments: Any) -> list[Any]:
    """What `f` of a file gives: types and values, or the exception that it raises."""
    names: dict[str, Any] = {}
    exec(text, names)
    try:
        result = names["f"](*arguments)
    except Exception as error:
        return [type(error)]
    leaves = jax.tree.leaves(result)
    return [
        (type(one), getattr(one, "shape", ()), getattr(one, "dtype", ""), np.round(np.asarray(one, float), 4).tolist())
        for one in leaves
    ]  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_without_a_turn_leaves_what_it_left(name: str) -> None:
    codemod, body = LOOPS[name]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{HEAD}def f(xs, n):\n{lines}"
    new = edited(codemod, text, numbers=True, host=True, sums=name == "added")
    assert new.startswith("import"), new
    assert "jax.lax." in new or "jax.vmap(" in new
    for xs in ROWS:
        assert outcome(new, xs, len(xs)) == outcome(text, xs, len(xs))


@pytest.mark.parametrize(
    ("before", "over", "certain"),
    [
        ("", "range(3)", True),
        ("", "range(n)", False),
        ("n = 5", "range(n)", True),
        ("n = 5\nif flag:\n    n = 0", "range(n)", False),
        ("if n <= 0:\n    return w", "range(n)", True),
        ("assert n > 0", "range(n)", True),
        ("assert n > 0\nn = n - 1", "range(n)", False),
        ("if not len(xs):\n    raise ValueError", "xs", True),
        ("if flag or xs.shape[0] == 0:\n    return w", "xs", True),
        ("if flag and xs.shape[0] == 0:\n    return w", "xs", False),
        ("xs = jnp.linspace(0, 1, 7)", "xs", True),
        ("xs = jax.random.split(jax.random.key(0), n)", "xs", False),
        ("xs = jax.random.normal(jax.random.key(0), (4, 2))", "2 * xs", True),
        ("xs = jnp.zeros((2, n))", "xs", True),
        ("xs = jnp.zeros((n, 2))", "xs", False),
        ("", "range(max(1, n))", True),
        ("", "range(STEPS)", True),
        ("", "range(COUNT)", False),
        ("", "range(len(given))", True),
        ("", "range(seen)", False),
    ],
)
def test_a_loop_that_turns_for_certain_needs_no_test(before: str, over: str, certain: bool) -> None:
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    text = (
        f"{HEAD}STEPS = 3\nCOUNT = 3\n\n\ndef f(xs, n, w, flag, given, seen):\n{lines}    for _ in {over}:\n        w = jnp.tanh(w)\n    return w\n\n\n"
        "def main(n):\n    global COUNT\n    COUNT = n\n    f(jnp.zeros(n), n, jnp.ones(2), False, [1], n)\n    f(jnp.zeros(n), n, jnp.ones(2), False, jnp.ones(3), 2)\n"
    )
    new = edited("for-to-scan", text)
    assert "jax.lax.scan(" in new, new
    assert (f"    if len({over}) > 0:\n" not in new and " > 0:\n        def " not in new) == certain, new


def test_what_is_stacked_as_a_tree_is_refused_where_there_may_be_none() -> None:
    text = f"{HEAD}def f(xs, n):\n    ys = []\n    for x in xs:\n        ys.append({{'a': jnp.sin(x)}})\n    return jax.tree.map(lambda *a: jnp.stack(a), *ys)\n"
    assert "`ys` is empty if the loop has no iterations" in edited("for-to-vmap", text)
    certain = edited("for-to-vmap", text.replace("ys = []", "assert len(xs)\n    ys = []"))
    assert "ys = jax.vmap(" in certain


@pytest.mark.parametrize(
    ("over", "body", "refused"),
    [
        ("range(3)", "total = total + jnp.sin(xs).sum()", False),
        ("xs", "total = total + jnp.sin(x)", True),
        ("range(3)", "if total > 2:\n            break\n        total = total + jnp.sin(xs).sum()", True),
        ("range(3)", "if n:\n            total = total + jnp.sin(xs).sum()", True),
    ],
)
def test_a_sum_is_an_array_after_a_loop_that_turns_for_certain(over: str, body: str, refused: bool) -> None:
    text = f"{HEAD}def f(xs, n):\n    total = 0.0\n    for x in {over}:\n        {body}\n    return total\n"
    seen = [{"name": "xs", "type": "ArrayImpl", "leaves": [{}]}, {"name": "n", "type": "int"}]
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    step = Step("add-jit", "a.py", Span(5, 1, 5, 4), {"arguments": seen, "static_argnames": ["n"]})
    plan = Workspace({"a.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    assert isinstance(plan, str) == refused, plan


def test_the_letters_of_a_string_are_no_rows() -> None:
    text = f"{HEAD}def f(w, order):\n    for letter in order:\n        w = jnp.tanh(w)\n    return w\n\n\nf(1.0, 'abc')\n"
    assert "`order` may be a string" in edited("for-to-scan", text)


# The layers of a function `f(n)`, and what a loop runs over.
LAYERS = {
    "parameters": ("layers = [{'w': jnp.eye(3) * k} for k in range(n)]", "layers"),
    "a part of them": ("layers = [{'w': jnp.eye(3) * k} for k in range(n + 1)]", "layers[1:]"),
    "values of a dictionary": ("params = {k: {'w': jnp.eye(3) * k} for k in range(n)}", "params.values()"),
    "last first": ("layers = [{'w': jnp.eye(3) * k} for k in range(n)]", "reversed(layers)"),
    "in equinox": ("key = jax.random.key(0)\nlayers = [eqx.nn.Linear(3, 3, key=key) for _ in range(n)]", "layers"),
    "in nnx": ("layers = nnx.List([nnx.Linear(3, 3, rngs=nnx.Rngs(k)) for k in range(n)])", "layers"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_no_layers_leave_what_they_got(name: str) -> None:
    made, over = LAYERS[name]
    step = "layer(h)" if "nn" in made else "h @ layer['w']"
    lines = "".join(f"    {line}\n" for line in f"{made}\nh = jnp.ones(3)".splitlines())
    text = (
        f"{HEAD}import equinox as eqx\nfrom flax import nnx\n\n\ndef f(n):\n{lines}"
        f"    for layer in {over}:\n        h = jnp.sin({step})\n    return h\n"
    )
    new = edited("for-to-scan", text, strict=False, layers=True)
    assert "jax.lax.scan(" in new, new
    for n in (0, 3):
        assert outcome(new, n) == outcome(text, n)


@pytest.mark.parametrize(
    "before",
    [
        "layers = zip(xs, xs)",
        "layers = (x for x in xs)",
        "layers = cut(xs)",
    ],
)
def test_an_iterator_of_layers_is_not_asked_how_many_it_has(before: str) -> None:
    text = (
        f"{HEAD}def f(xs, h):\n    {before}\n    for layer in layers:\n        h = jnp.sin(h @ layer[0])\n    return h\n\n\n"
        "def cut(xs):\n    for x in xs:\n        yield x, x\n"
    )
    reason = edited("for-to-scan", text, strict=False, layers=True)
    assert "`layers` may have no layers" in reason, reason


def test_a_fix_does_not_take_the_calls_of_one_file_for_all() -> None:
    text = f"{HEAD}def f(layers, h):\n    for layer in layers:\n        h = jnp.sin(h @ layer)\n    return h\n\n\nf([jnp.eye(3)] * 3, jnp.ones(3))\n"
    assert "if len(layers) > 0:" in edited("for-to-scan", text, strict=False, layers=True)
    text = text.replace("    for layer", "    layers = layers if h.any() else [jnp.eye(3)]\n    for layer")
    assert "if len(layers) > 0:" in edited("for-to-scan", text, strict=False, layers=True)
    text = text.replace("layers if", "[jnp.ones((3, 3)), *layers] if")
    assert "len(layers)" not in edited("for-to-scan", text, strict=False, layers=True)
