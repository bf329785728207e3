"""An object that is a static argument is looked up by its identity: what it holds must stay as it was at the first call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.codemods.test_purity import refusal

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
