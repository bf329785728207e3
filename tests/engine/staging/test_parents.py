"""The parents of nodes, by the statements that were asked for and by all."""

from __future__ import annotations

import ast

from jaxlint.syntax.parents import Parents

PROGRAM = '''import jax

@jax.jit
def f(x, *, y=1):
    return x + y

a = f(1); b = f(
    2, y=3)

class C:
    def g(self):
        return f"""{
            self.h(1)}
        {self.g()}"""
'''


def test_parents_are_those_of_the_tree() -> None:
    tree = ast.parse(PROGRAM)
    expected = {
        child: node
        for node in ast.walk(tree)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, (ast.expr_context, ast.operator))
    }
    for node, parent in expected.items():
        assert Parents(tree).get(node) is parent, ast.dump(node)
        assert Parents(tree)[node] is parent


def test_only_what_was_asked_for_is_looked_at() -> None:
    tree = ast.parse(PROGRAM)
    parents = Parents(tree)
    assert parents.get(tree.body[0]) is tree
    assert len(parents.done) == 1
    assert parents.get(tree) is None


def test_a_walk_to_the_module_looks_at_one_statement() -> None:
    tree = ast.parse(PROGRAM)
    parents = Parents(tree)
    node: ast.AST | None = next(one for one in ast.walk(tree) if isinstance(one, ast.Return))
    while node is not None:
        node = parents.get(node)
    assert len(parents.done) == 1


def test_nodes_of_other_trees_have_none() -> None:
    other = ast.parse(PROGRAM).body[1]
    assert other not in Parents(ast.parse(PROGRAM))
