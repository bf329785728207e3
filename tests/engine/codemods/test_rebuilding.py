"""JAX calls a constructor, `tree_flatten` and `tree_unflatten` for what a compiled function is given and returns: these may
do nothing else."""

from __future__ import annotations

import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile
from tests.engine.codemods.test_purity import refusal as why_not
from tests.helpers.missed_code import source_of

HEAD = """
import dataclasses
import sys
import typing
import flax.struct
import jax
import jax.numpy as jnp

COUNT = "--count" in sys.argv
BUILT = []

"""
USE = """

def doubled(p):
    y = jnp.sin(p.x)
    return y * 2.0

doubled(P(jnp.ones(3)))
"""

DATACLASS = """
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class P:
    x: jax.Array

    def __post_init__(self):
        {body}
"""
STRUCT = DATACLASS.replace(
    "@jax.tree_util.register_dataclass\n@dataclasses.dataclass", "@flax.struct.dataclass"
)
LATER = DATACLASS.replace("@jax.tree_util.register_dataclass\n", "") + (
    '\njax.tree_util.register_dataclass(P, data_fields=["x"], meta_fields=[])\n'
)
PLAIN = """
@jax.tree_util.register_pytree_node_class
class P:
    def __init__(self, x):
        self.x = x
        {body}

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)
"""
NAMED = """
class P(typing.NamedTuple("P", [("x", jax.Array)])):
    def __new__(cls, x):
        {body}
        return super().__new__(cls, x)
"""
FUNCTIONS = """
class P:
    def __init__(self, x):
        self.x = x

def taken(p):
    {body}
    return (p.x,), None

jax.tree_util.register_pytree_node(P, taken, lambda aux, children: P(*children))
"""
BY_LAMBDA = """
class P:
    def __init__(self, x):
        self.x = x
        {body}

jax.tree_util.register_pytree_node(P, lambda p: ((p.x,), None), lambda aux, children: P(*children))
"""
EMPTY_OBJECT = """
@jax.tree_util.register_pytree_node_class
class P:
    def __init__(self, x):
        self.x = x
        BUILT.append(1)

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        made = object.__new__(cls)
        made.x = children[0]
        {body}
        return made
"""
TREES = {"dataclass": DATACLASS, "struct": STRUCT, "later": LATER, "plain": PLAIN, "named": NAMED, "functions": FUNCTIONS, "lambda": BY_LAMBDA, "empty object": EMPTY_OBJECT}  # fmt: skip


def refusal(source: SourceFile, codemod: str = "add-jit") -> str | None:
    lines = source.text.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith("def doubled"))
    span = (
        Span(first, 1, first, 4)
        if codemod == "add-jit"
        else Span(first + 1, 5, first + 1, len(lines[first]) + 1)
    )
    step = Step(codemod, "program.py", span, {"around": True, "function": "doubled"})
    plan = Workspace({"program.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None


def source(tree: str, body: str) -> SourceFile:
    text = HEAD + tree.format(body=body) + USE
    return SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "")


@pytest.mark.parametrize("kind", TREES)
def test_what_jax_calls_to_rebuild_an_argument_may_only_compute(kind: str) -> None:
    assert refusal(source(TREES[kind], "pass")) is None
    reason = refusal(source(TREES[kind], "BUILT.append(COUNT)"))
    assert reason is not None
    assert reason.startswith(
        "JAX rebuilds each `P` that it receives or returns, and `BUILT.append(COUNT)` at program.py:"
    )


def test_jax_calls_these() -> None:
    """What the rule says of JAX: a constructor runs at the trace, and for each result."""
    built = list[object]()
    names: dict[str, object] = {"BUILT": built, "COUNT": 1}
    for kind, tree in TREES.items():
        scope = dict(names)
        exec(HEAD.replace("BUILT = []", "").replace('COUNT = "--count" in sys.argv', "") + tree.format(body="BUILT.append(COUNT)"), scope)  # fmt: skip
        made = scope["P"](jnp.ones(3))  # type: ignore[operator]
        built.clear()
        jax.jit(lambda p: p.x * 2.0)(made)
        assert built, kind


def test_a_part_of_the_function_that_is_given_the_object() -> None:
    text = source(DATACLASS, "BUILT.append(COUNT)").text.replace("jnp.sin(p.x)", "jnp.sin(p.x) + p.x")
    counted = SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "")
    reason = refusal(counted, "region-to-jit")
    assert reason is not None
    assert reason.startswith("JAX rebuilds each `P`")


def test_code_of_a_constructor_that_no_run_has_reached() -> None:
    body = textwrap.indent("if COUNT:\n    print(self.x.tolist())  # missed", " " * 8).strip()
    reason = refusal(source_of(HEAD + DATACLASS.format(body=body) + USE))
    assert reason is not None
    assert "would be compiled, and no run has reached it" in reason


BY_NAME = """
@jax.tree_util.register_pytree_node_class
class P:
    def __init__(self, **given):
        {fill}
{more}
    def tree_flatten(self):
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(a=values[0], b=values[1])


def f(p):
    return P(a=jnp.sin(p.a), b=p.b * 2)


f(P(a=jnp.ones(3), b=jnp.ones(3)))
"""
LOOP = "for name, value in given.items():\n            "
FILLS = {
    "setattr": (LOOP + "setattr(self, name, value)", "", True),
    "that of object": (LOOP + "object.__setattr__(self, name, value)", "", True),
    "its dictionary": ("self.__dict__.update(given)", "", True),
    "an item of it": (LOOP + "self.__dict__[name] = value", "", True),
    "setattr of another object": (LOOP + "setattr(P, name, value)", "", False),
    "its class sees it": (
        LOOP + "setattr(self, name, value)",
        "    def __setattr__(self, name, value):\n        print(name)\n        object.__setattr__(self, name, value)\n",
        False,
    ),
    "a property sees it": (
        LOOP + "object.__setattr__(self, name, value)",
        "    @property\n    def c(self):\n        return 1\n\n    @c.setter\n    def c(self, value):\n        print(value)\n",
        False,
    ),
}


@pytest.mark.parametrize("name", FILLS)
def test_a_constructor_that_sets_its_own_attributes_by_name(tmp_path: Path, name: str) -> None:
    fill, more, compiled = FILLS[name]
    said = why_not(tmp_path, BY_NAME.format(fill=fill, more=more))
    assert (said == "") is compiled, said
