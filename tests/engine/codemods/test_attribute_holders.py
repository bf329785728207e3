"""What an attribute may hold, by the class of its object: what is known of one class says nothing about another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.purity.values import Box, Inst, Plain, Unknown
from jaxlint.source import SourceFile
from tests.engine.codemods.test_purity import HEAD, refusal

CLASSES = """
class A:
    def __init__(self):
        self.kept = {"w": jnp.ones(3)}

class B:
    def __init__(self):
        self.kept = (jnp.ones(3),)

class Holder:
    def __init__(self):
        self.a, self.b = A(), B()

a, b, holder = A(), B(), Holder()
"""


def told(text: str) -> set[str]:
    """The kinds of the argument of the call `told(...)` in a program."""
    file = SourceFile(Path("program.py"), "program.py", HEAD + text, "utf-8", False, "")
    program = Program({"program.py": file})
    parsed = program.file("program.py")
    (call,) = (one for _, one in program.calls["told"])
    found = set()
    for value in PossibleValues(program).of(call.args[0], parsed):
        if isinstance(value, Plain | Box):
            found.add(value.kind)
        else:
            found.add("unknown" if isinstance(value, Unknown) else ast.unparse(value.cls.node)[:9] if isinstance(value, Inst) else type(value).__name__)  # fmt: skip
    return found


OF_ANOTHER_CLASS = {
    "nothing": "",
    "a variable": "b.kept = [1.0]\n",
    "an argument": "def change(one):\n    one.kept = [1.0]\n\nchange(B())\n",
    "an attribute of an object": "holder.b.kept = [1.0]\n",
    "objects of a list": "for one in [B(), b]:\n    one.kept = [1.0]\n",
    "its own method": "class C(B):\n    def reset(self):\n        self.kept = [1.0]\n",
    "a function in its method": "class C(B):\n    def reset(self):\n        def later():\n            self.kept = [1.0]\n        later()\n",
    "its class": "B.kept = [1.0]\n",
    "its name": "setattr(b, 'kept', [1.0])\n",
    "another name": "setattr(a, 'other', [1.0])\n",
    "its dictionary": "vars(b)['kept'] = [1.0]\n",
    "a part that is set": "b.kept = {}\nb.kept['n'] = 1.0\n",
    "a reader of the dictionary": "print(a.__dict__)\n",
}  # fmt: skip
OF_THE_SAME = {
    "a variable": "a.kept = [1.0]\n",
    "one of both": "import sys\none = a if sys.argv[1:] else b\none.kept = [1.0]\n",
    "an argument of both": "def change(one):\n    one.kept = [1.0]\n\nchange(b)\nchange(a)\n",
    "an argument of unseen calls": "def change(one):\n    one.kept = [1.0]\n",
    "an alias": "again = [a][0]\nagain.kept = [1.0]\n",
    "objects of a list": "for one in [b, a]:\n    one.kept = [1.0]\n",
    "an attribute of an object": "holder.a.kept = [1.0]\n",
    "another method": "class C(A):\n    def reset(self):\n        self.kept = [1.0]\na = C()\n",
    "a subclass": "class C(A):\n    def __init__(self):\n        self.kept = [1.0]\n",
    "a base": "class Base:\n    def reset(self):\n        self.kept = [1.0]\nclass C(A, Base):\n    pass\na = C()\n",
    "a function in its method": "class C(A):\n    def reset(self):\n        def later():\n            self.kept = [1.0]\n        later()\n",
    "a method with another object": "class C(B):\n    def change(self, one):\n        self = one\n        self.kept = [1.0]\nC().change(a)\n",
    "a method that gets another object": "class C(B):\n    def change(self):\n        self.kept = [1.0]\nC.change(a)\n",
    "a method that another class has": "class C(B):\n    def change(self):\n        self.kept = [1.0]\nA.change = C.change\n",
    "its class": "A.kept = [1.0]\n",
    "its name": "setattr(a, 'kept', [1.0])\n",
    "a computed name": "import sys\nsetattr(a, sys.argv[1], [1.0])\n",
    "its name by object": "object.__setattr__(a, 'kept', [1.0])\n",
    "another class later": "b.kept = [1.0]\nb.__class__ = A\n",
    "a copy": "import copy\none = copy.copy(a)\none.kept = [1.0]\n",
    "what a library hands on": "import functools\none = functools.reduce(max, [a, b])\none.kept = [1.0]\n",
}  # fmt: skip
UNKNOWN = {
    "its dictionary": "import sys\na.__dict__.update(kept=sys.argv)\n",
    "its own dictionary": "class C(A):\n    def __init__(self, **given):\n        super().__init__()\n        self.__dict__.update(given)\n",
    "its variables": "vars(a)['kept'] = [1.0]\n",
    "a value of any kind": "def change(given):\n    setattr(a, 'kept', given)\n",
}  # fmt: skip


@pytest.mark.parametrize("case", OF_ANOTHER_CLASS)
def test_an_attribute_of_another_class_of_the_same_name(case: str) -> None:
    assert told(f"{CLASSES}{OF_ANOTHER_CLASS[case]}told(a.kept)\n") == {"dict"}


@pytest.mark.parametrize("case", OF_THE_SAME)
def test_an_attribute_that_something_else_sets(case: str) -> None:
    assert told(f"{CLASSES}{OF_THE_SAME[case]}told(a.kept)\n") >= {"dict", "list"}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_attribute_that_may_be_anything(case: str) -> None:
    assert "unknown" in told(f"{CLASSES}{UNKNOWN[case]}told(a.kept)\n")


@pytest.mark.parametrize(
    ("more", "held"),
    [
        ("", {"array"}),
        ("b.kept = {}\nb.kept['w'] = 1.0\n", {"array"}),
        ("def change(one):\n    one.kept['w'] = 1.0\n\nchange(b)\n", {"array"}),
        ("a.kept['w'] = 1.0\n", {"array", "unknown"}),
        ("one = a\none.kept['w'] = 1.0\n", {"array", "unknown"}),
        ("def change(one):\n    one.kept['w'] = 1.0\n\nchange(b)\nchange(a)\n", {"array", "unknown"}),
        ("def change(one):\n    one.kept['w'] = 1.0\n", {"array", "unknown"}),
        ("kept = a.kept\nkept['w'] = 1.0\n", {"array", "unknown"}),
        ("b.kept = a.kept\nb.kept['w'] = 1.0\n", {"array", "unknown"}),
        ("holder.a = a\nholder.a.kept.update(w=1.0)\n", {"array", "unknown"}),
    ],
)
def test_what_is_put_into_the_container_of_another_class(more: str, held: set[str]) -> None:
    assert told(f"{CLASSES}{more}told(a.kept['w'])\n") - {"number"} == held


ROWS = """
class Table:
    def __init__(self, n):
        self.params = {{"table": jnp.ones((n, 3))}}

    def __call__(self, params, token):
        return params["table"][token]

class Model:
    def __init__(self):
        self.rows = Table(5)
        self.params = [self.rows.params, {{"w": jnp.ones(3)}}]

model = Model()
{more}

def f(model, params, token):
    return jnp.sin(model.rows(params[0], token))

f(model, model.params, jnp.ones((), int))
model.params = jax.tree.map(lambda p: 2 * p, model.params)
f(model, model.params, jnp.ones((), int))
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", ""),
        ("Table(3).params = {'table': jnp.ones((3, 3))}", ""),
        ("model.params[0] = {'table': [jnp.ones(3)]}", "indexes a Python container with a tracer"),
        ("class Rows(Model):\n    def __init__(self):\n        super().__init__()\n        self.params = [{'table': [jnp.ones(3)]}]\nmodel = Rows()", "indexes a Python container"),
        ("setattr(model, 'params', [{'table': [jnp.ones(3)]}])", "indexes a Python container with a tracer"),
    ],
)  # fmt: skip
def test_layers_and_models_that_call_their_parameters_alike(tmp_path: Path, more: str, said: str) -> None:
    found = refusal(tmp_path, ROWS.format(more=more), static=("model",))
    assert said in found if said else not found
