"""The nodes of a function, and those of functions inside it."""

from __future__ import annotations

import ast

from jaxlint.syntax.function_bodies import own_nodes

SOURCE = """
def outer(x):
    y = x + 1

    def inner(a):
        return a * 2

    class Kept:
        z = 3

    return [f(y) for f in (inner, lambda b: b - 4)]
"""


def test_own_nodes_are_those_of_the_body_in_order() -> None:
    function = ast.parse(SOURCE).body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = list(own_nodes(function))
    assert [node.value for node in nodes if isinstance(node, ast.Constant)] == [1]
    assert [type(node).__name__ for node in nodes if node in function.body] == [
        "Assign",
        "FunctionDef",
        "ClassDef",
        "Return",
    ]
    assert any(isinstance(node, ast.Lambda) for node in nodes)


def test_a_node_that_is_changed_on_the_way_is_looked_into_as_it_was() -> None:
    function = ast.parse(SOURCE).body[0]
    assert isinstance(function, ast.FunctionDef)
    names = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Return):
            node.value = ast.Constant("replaced")
        elif isinstance(node, ast.Name):
            names.add(node.id)
    assert {"y", "f", "inner"} <= names
