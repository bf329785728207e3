"""NumPy arrays that an object holds, as a compiled function sees them: constants if nothing in the program writes to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.codemods.test_purity import refusal

DATA = """
class Data:
    def __init__(self, rows):
        self.rows = rows

    def total(self, x):
        return jnp.sum(x * jnp.asarray(self.rows))


def f(data, x):
    return data.total(x)

"""
USE = "f(data, jnp.ones(3))\n"
FINE = {
    "made for it": "data = Data(np.arange(3.0) * 2)\n",
    "a variable": "rows = np.random.default_rng(0).normal(size=3)\ndata = Data(rows)\n",
    "given in a tuple": "def make(n):\n    rows = np.ones(n)\n    return rows, rows.sum()\n\ndata = Data(*make(3)[:1])\n",
    "filled before": "def make(n):\n    rows = np.ones(n)\n    return rows\n\ndata = Data(make(3))\n",
    "another array is written to": "rows, other = np.ones(3), np.ones(3)\ndata = Data(rows)\nother[0] = 2.0\n",
    "printed and saved": "rows = np.ones(3)\ndata = Data(rows)\nprint(rows, rows.sum(), np.mean(rows))\n",
    "given to a function of the program": "def mean(a):\n    return a.mean()\n\nrows = np.ones(3)\ndata = Data(rows)\nmean(rows)\n",
}  # fmt: skip
REFUSED = {
    "written to by its name": "rows = np.ones(3)\ndata = Data(rows)\nrows[0] = 2.0\n",
    "in the object": "data = Data(np.ones(3))\ndata.rows[0] = 2.0\n",
    "in place": "rows = np.ones(3)\ndata = Data(rows)\nrows += 1.0\n",
    "a view of it": "rows = np.ones(3)\ndata = Data(rows)\npart = rows[:2]\npart[:] = 2.0\n",
    "by a function": "def clear(a):\n    a.fill(0.0)\n\nrows = np.ones(3)\ndata = Data(rows)\nclear(rows)\n",
    "of the base of a view": "base = np.ones((2, 3))\ndata = Data(base[0])\nbase[:] = 2.0\n",
    "through a list": "rows = np.ones(3)\nkept = [rows]\ndata = Data(rows)\nkept[0][0] = 2.0\n",
    "through a tuple": "pair = (np.ones(3), 1)\ndata = Data(*pair[:1])\npair[0][0] = 2.0\n",
    "through another object": "rows = np.ones(3)\ndata, other = Data(rows), Data(rows)\nother.rows[:] = 2.0\n",
    "shuffled": "rows = np.ones(3)\ndata = Data(rows)\nnp.random.default_rng(0).shuffle(rows)\n",
    "with out": "rows = np.ones(3)\ndata = Data(rows)\nnp.multiply(rows, 2.0, out=rows)\n",
    "given to unknown code": "import filters\nrows = np.ones(3)\ndata = Data(rows)\nfilters.smooth(rows)\n",
    "of an unknown object": "import tables\ntable = tables.load()\ndata = Data(np.asarray(table['x']))\ntable['x'][:] = 2.0\n",
    "its bytes": "raw = bytearray(24)\ndata = Data(np.frombuffer(raw))\nraw[0] = 1\n",
    "read by name": "data = Data(np.ones(3))\ngetattr(data, input())[0] = 2.0\n",
    "set again": "data = Data(np.ones(3))\ndata.rows = np.zeros(3)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_an_array_that_nothing_writes_to_is_a_constant(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, DATA + FINE[name] + USE, static=("data",)) == ""


@pytest.mark.parametrize("name", REFUSED)
def test_an_array_that_may_change_is_none(tmp_path: Path, name: str) -> None:
    said = refusal(tmp_path, DATA + REFUSED[name] + USE, static=("data",))
    assert "`self.rows`" in said or "NumPy" in said
