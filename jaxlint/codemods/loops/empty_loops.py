"""Preserves the result of a Python loop or comprehension without iterations when it becomes a JAX loop.

Python then leaves the variables unchanged, possibly numbers or None, and raises if an empty list is stacked.
A JAX loop returns arrays in any case, and traces its body. If it is unknown whether a loop has an iteration,
the rewrite puts a test around it.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.facts.parameter_modules import values_of
from jaxlint.codemods.purity.nonempty_loops import NonemptyLoops, builtin, counted_down
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.codemods.stageable import program_and_file

_VIEWS = ("values", "items", "keys")  # of a dictionary
_ITERATORS = ("zip", "map", "filter", "iter", "enumerate", "reversed", "tqdm")
_SAME_ROWS = ("list", "tuple", "reversed", "enumerate", "tqdm")


def iteration_test(draft: Draft, iterable: ast.expr, *, layers: bool = False) -> str:
    """A test of whether a loop over `iterable` has an iteration; "" if it certainly has one, or if the
    codemod makes no promise for paths that no run took.

    `layers`: it is a sequence of pytrees, which are stacked. An empty one cannot be stacked, so the test is
    always needed. Raises Refused if the test would consume the iterable.
    """
    if not draft.strict and not layers:
        return ""
    program, file = program_and_file(draft)
    turns = NonemptyLoops(PossibleValues(program), all_calls=bool(draft.strict))
    return _Asker(draft, file, turns, layers).test(iterable)


class _Asker:
    def __init__(self, draft: Draft, file: File, turns: NonemptyLoops, layers: bool) -> None:
        self.file, self.turns, self.layers = file, turns, layers
        self.layout = Layout(draft.site)

    def test(self, node: ast.expr) -> str:
        if self.turns.certainly_runs(self.file.same(node), self.file):
            return ""
        name = builtin(node, self.layout.site.names)
        if isinstance(node, ast.Call) and name in _SAME_ROWS and node.args:
            return self.test(node.args[0])
        if isinstance(node, ast.Call) and name == "zip":
            strict = any(
                one.arg == "strict" for one in node.keywords
            )  # which raises if just one of them is empty
            tests = [test for one in node.args if (test := self.test(one))]
            return (" or " if strict else " and ").join(dict.fromkeys(tests))
        if isinstance(node, ast.Call) and name == "range":
            return self._of_range(node)
        if self.layers and not self._has_length(node):
            raise Refused(
                f"`{shown_source(node)}` may have no layers, and testing that would exhaust the iterator"
            )
        return self._flat(f"len({self.layout.argument(node)}) > 0")

    def _has_length(self, node: ast.expr) -> bool:
        """Whether `len` works on a sequence of layers: it is a variable or a view, and not an iterator."""
        if isinstance(node, ast.Call):
            views = isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS
            return views and not (node.args or node.keywords)
        if isinstance(node, ast.Name):
            return not any(self._is_iterator(value) for value in values_of(self.layout.site, node))
        return isinstance(node, ast.Attribute | ast.Subscript)

    def _is_iterator(self, value: ast.AST) -> bool:
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.GeneratorExp)
        if builtin(value, self.layout.site.names) in _ITERATORS:
            return True
        made = values_of(self.layout.site, value.func) if isinstance(value.func, ast.Name) else []
        return any(
            isinstance(part, ast.Yield | ast.YieldFrom)
            for function in made
            if isinstance(function, FUNCTIONS)
            for part in ast.walk(function)
        )

    def _of_range(self, node: ast.Call) -> str:
        if (down := counted_down(node)) is not None:
            return self._flat(f"{self.layout.operand(down)} > 0")
        bounds = [self.layout.operand(one) for one in node.args]
        if len(bounds) > 2:
            raise Refused(
                f"`{shown_source(node)}` may be empty, and JAX traces the body of a loop at least once"
            )
        return self._flat(f"{bounds[0]} < {bounds[1]}" if len(bounds) == 2 else f"{bounds[0]} > 0")

    @staticmethod
    def _flat(test: str) -> str:
        if "#" in test:
            raise Refused("the iterable has a comment, and would be written twice")
        return " ".join(test.split())
