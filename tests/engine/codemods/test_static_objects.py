"""An object that is a static argument is looked up by its identity: what it holds must stay as it was at the first call."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.checks import check_jitted
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.purity.values import Cls
from jaxlint.codemods.source.site import Refused
from jaxlint.source.file import SourceFile
from tests.engine.codemods.test_purity import HEAD, refusal

BEAM = """
class Beam:
    def __init__(self, n):
        self.n = n
        self.rate = 2.0
        self.part = Part()

    def scaled(self, x):
        return x * self.rate

    def thick(self, x):
        return x * self.part.width


class Part:
    def __init__(self):
        self.width = 1.0


beam = Beam(3)
"""
USE = "\nf(beam, jnp.ones(3))\n"
OWN = "def f(beam, x):\n    return jnp.sin(x) * beam.rate\n"
THROUGH = "def f(beam, x):\n    return jnp.sin(beam.scaled(x))\n"
DEEP = "def f(beam, x):\n    return jnp.sin(beam.thick(x))\n"
REFUSED = {
    "set in the module": (OWN, "beam.rate = 3.0\n", "reads `beam.rate`, which is set at main.py"),
    "set by a function": (OWN, "def change(b):\n    b.rate *= 2\n\nchange(beam)\n", "which is set at main.py"),
    "set by a function that gets anything": (OWN, "def change(b):\n    b.rate = 2\n", "which is set at main.py"),
    "read by a method": (THROUGH, "beam.rate = 3.0\n", "reads `self.rate`, which is set at main.py"),
    "an object in it": (DEEP, "for part in [beam.part]:\n    part.width = 3.0\n", "`self.part.width`, which is set"),
    "set by name": (OWN, "setattr(beam, 'rate', 3.0)\n", "`setattr(beam, 'rate', 3.0)`"),
    "set by a computed name": (OWN, "for name in input().split():\n    setattr(beam, name, 3.0)\n", "setattr"),
    "its dictionary": (OWN, "beam.__dict__.update(rate=3.0)\n", "beam.__dict__"),
    "another class": (OWN, "class Long(Beam):\n    pass\nbeam.__class__ = Long\n", "which is set at main.py"),
}  # fmt: skip
FINE = {
    "nothing sets it": (OWN, ""),
    "set by its constructor alone": (THROUGH, "other = Beam(4)\n"),
    "another attribute": (OWN, "beam.n = 4\n"),
    "an object of another class": (OWN, "part = Part()\npart.rate = 4.0\n"),
    "set by another name": (OWN, "setattr(beam, 'n', 3)\n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_static_object_holds_may_change(tmp_path: Path, name: str) -> None:
    function, change, said = REFUSED[name]
    assert said in refusal(tmp_path, BEAM + function + USE + change + USE, static=("beam",))


@pytest.mark.parametrize("name", FINE)
def test_what_stays_may_be_static(tmp_path: Path, name: str) -> None:
    function, change = FINE[name]
    assert refusal(tmp_path, BEAM + function + USE + change + USE, static=("beam",)) == ""


UNIT = """
class Unit:
    def __init__(self, name, scale):
        self.name, self.scale = name, scale
{equality}

@jax.tree_util.register_pytree_node_class
class Length:
    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def tree_flatten(self):
        return (self.value,), self.unit

    @classmethod
    def tree_unflatten(cls, unit, children):
        return cls(*children, unit)


def f(length):
    return jnp.sin(length.value) * length.unit.scale


f(Length(jnp.ones(3), Unit("m", 1.0)))
f(Length(jnp.ones(3), Unit("m", 1000.0)))
"""
BY_NAME = "    def __eq__(self, other):\n        return self.name == other.name\n    def __hash__(self):\n        return 1\n"


def test_what_a_tree_holds_beside_its_arrays_is_compared(tmp_path: Path) -> None:
    said = refusal(tmp_path, UNIT.format(equality=BY_NAME))
    assert "compares the `unit` of each `Length` by its `==`" in said
    assert refusal(tmp_path, UNIT.format(equality="")) == ""


def test_a_dataclass_that_leaves_fields_out_in_a_field_of_a_tree(tmp_path: Path) -> None:
    program = """
import dataclasses
from flax import struct

@dataclasses.dataclass(frozen=True)
class Options:
    name: str
    rate: float = dataclasses.field(default=1.0, compare={compare})

@struct.dataclass
class State:
    x: jax.Array
    options: Options = struct.field(pytree_node=False)

def f(state):
    return jnp.sin(state.x) * state.options.rate

f(State(jnp.ones(3), Options("a")))
"""
    assert "compares the `options`" in refusal(tmp_path, program.format(compare=False))
    assert refusal(tmp_path, program.format(compare=True)) == ""


TRAINER = """
class Trainer:
    rate = 0.1

    def step(self, x):
        y = jnp.sin(x) * self.rate
        return y * 2


class Hook:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def before(self, trainer):
        {change}


trainer = Trainer()
for hook in [Hook("rate", 0.5)]:
    hook.before(trainer)
"""
CHANGES = {
    "a computed name": ("setattr(trainer, self.name, self.value)", True),
    "its dictionary": ("vars(trainer)[self.name] = self.value", True),
    "many of them": ("trainer.__dict__.update({self.name: self.value})", True),
    "another name": ("setattr(trainer, 'other', self.value)", False),
    "its own": ("setattr(self, self.name, self.value)", False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_attributes_of_a_method_that_hooks_set_by_name(tmp_path: Path, name: str) -> None:
    change, refused = CHANGES[name]
    path = tmp_path / "main.py"
    text = HEAD + TRAINER.format(change=change)
    source = SourceFile(path, str(path), text, "utf-8", False, "")
    program = Program({str(path): source})
    file = program.file(str(path))
    trainer = next(one for one in file.tree.body if getattr(one, "name", "") == "Trainer")
    assert isinstance(trainer, ast.ClassDef)
    (step,) = (one for one in trainer.body if isinstance(one, ast.FunctionDef))
    said = ""
    try:
        check_jitted(program, file, step, static=("self",), own=Cls(trainer, file))
    except Refused as reason:
        said = str(reason)
    assert ("reads `self.rate`, which may be set at" in said) is refused, said
    assert bool(said) is refused
