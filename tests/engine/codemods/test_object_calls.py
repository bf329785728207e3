"""Where a program calls the objects of a class, and when other calls are possible."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import Program
from jaxlint.source import SourceFile

HEAD = """
import copy
import functools
import jax
import jax.numpy as jnp
from dataclasses import dataclass
from flax import linen as nn

class Layer:
    def __init__(self, width):
        self.width = width

    def init(self, key):
        return {"w": jnp.zeros(self.width)}

    def __call__(self, x):
        return x

"""


def calls(text: str) -> list[str]:
    """The calls of `Layer.__call__`: their source, after the transformations around the object; "?" for unseen ones."""
    whole = HEAD + textwrap.dedent(text)
    program = Program({"program.py": SourceFile(Path("program.py"), "program.py", whole, "utf-8", False, "")})
    file = program.file("program.py")
    method = next(
        one
        for one in ast.walk(file.tree)
        if isinstance(one, ast.FunctionDef) and one.name == "__call__" and one.args.args[1].arg == "x"
    )
    found = PossibleValues(program).call_sites.calls_of(method, file)
    return sorted({"?" if call is None else f"{how}{ast.unparse(call)}" for call, how, _ in found})


VISIBLE = {
    "a variable": ("layer = Layer(3)\nlayer(a)\n", ["layer(a)"]),
    "an attribute of another class": (
        "class Model:\n    def __init__(self):\n        self.head = Layer(3)\n    def apply(self, y):\n        return self.head(y)\n",
        ["self.head(y)"],
    ),
    "its own methods": (
        "class Twice(Layer):\n    def both(self, y):\n        return self(self(y))\n",
        ["self(self(y))", "self(y)"],
    ),
    "a list, with its parameters": (
        "class Net:\n    def __init__(self):\n        self.layers = [Layer(n) for n in (1, 2)]\n    def run(self, params, y):\n"
        "        for k, (layer, p) in enumerate(zip(self.layers, params)):\n            y = layer(y)\n"
        "        return [one(p, y) for one, p in zip(self.layers, params)] + [self.layers[0](y), self.layers[-1:][0](y)]\n",
        ["layer(y)", "one(p, y)", "self.layers[-1:][0](y)", "self.layers[0](y)"],
    ),
    "a list that is filled": (
        "layers = []\nfor n in range(3):\n    layers.append(Layer(n))\nfor layer in reversed(layers):\n    layer(a)\n",
        ["layer(a)"],
    ),
    "a dict": (
        "nets = {'a': Layer(1), 'b': Layer(2)}\nfor name, net in nets.items():\n    net(a)\nnets['a'](b)\nnets.get('b')(c)\n",
        ["net(a)", "nets.get('b')(c)", "nets['a'](b)"],
    ),
    "a result among others": (
        "def make(key):\n    layer = Layer(3)\n    return layer, layer.init(key)\n\nnet, params = make(0)\njax.tree.map(print, params)\nnet(a)\n",
        ["net(a)"],
    ),
    "an argument": (
        "def loss(net, y):\n    return net(y)\nloss(Layer(1), a)\nloss(y=b, net=Layer(2))\n",
        ["net(y)"],
    ),
    "a field of a dataclass": (
        "@dataclass\nclass Model:\n    net: Layer\n    depth: int\n\nmodel = Model(Layer(1), depth=2)\nmodel.net(a)\nmodel.depth\n",
        ["model.net(a)"],
    ),
    "an argument of another constructor": (
        "class Model:\n    def __init__(self, net):\n        self.net = net\n    def __call__(self, y):\n        return self.net(y)\nModel(Layer(1))\n",
        ["self.net(y)"],
    ),
    "a transformation": (
        "layer = Layer(1)\njax.vmap(layer)(a)\nfast = jax.jit(layer)\nfast(b)\n",
        ["jax.jit|fast(b)", "jax.vmap|jax.vmap(layer)(a)"],
    ),
    "an attribute of a class": (
        "class Model:\n    net = Layer(1)\n    def run(self, y):\n        return self.net(y)\n",
        ["self.net(y)"],
    ),
    "by name": ("layer = Layer(1)\nlayer.__call__(a)\n", ["layer.__call__(a)"]),
    "a class method that makes one": (
        "class Small(Layer):\n    @classmethod\n    def make(cls):\n        return cls(1)\nnet = Small.make()\nnet(a)\n",
        ["net(a)"],
    ),
    "only looked at": (
        "layer = Layer(1)\nif layer is not None and isinstance(layer, Layer):\n    print(layer)\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), VISIBLE.values(), ids=VISIBLE)
def test_objects_are_followed_to_their_calls(text: str, expected: list[str]) -> None:
    assert calls(text) == expected


ELSEWHERE = {
    "an unknown function": "from other import run\nrun(Layer(1))\n",
    "a partial": "functools.reduce(lambda y, f: f(y), [Layer(1)], a)\n",
    "the class itself is passed on": "from other import register\nregister(Layer)\n",
    "attributes by computed names": "class Model:\n    def __init__(self):\n        self.net = Layer(1)\nm = Model()\ngetattr(m, 'n' + 'et')(a)\n",
    "a property": "class Model:\n    @property\n    def net(self):\n        return Layer(1)\nModel().net(a)\n",
    "a class that an object names": "first = Layer(1)\nagain = first.__class__(2)\nagain(a)\n",
    "a pytree": "@jax.tree_util.register_pytree_node_class\nclass Tree(Layer):\n    pass\nTree(1)\n",
    "a metaclass": "from other import Registry\nclass Kept(Layer, metaclass=Registry):\n    pass\n",
    "a yield": "def make():\n    yield Layer(1)\n",
    "unpacked arguments": "def run(*nets):\n    nets[0](a)\nrun(Layer(1), Layer(2))\n",
    "a heir of a library's class": "class Module(nn.Module, Layer):\n    pass\nModule(1)\n",
}


@pytest.mark.parametrize("text", ELSEWHERE.values(), ids=ELSEWHERE)
def test_where_an_object_leaves_the_program_other_calls_are_possible(text: str) -> None:
    assert "?" in calls(text)
