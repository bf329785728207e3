"""Nodes of libcst, parsed statement by statement, are those of the whole file, at the same places."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from jaxlint.codemods.source import places as places_module
from jaxlint.codemods.source.places import Places
from jaxlint.codemods.source.text_edits import Lines
from jaxlint.finding import Span

PROGRAM = '''# a header

"""Text of
two lines."""
import jax; import jax.numpy as jnp  # two

# of the function
@jax.jit
# between
@other(
    1,
)
def f(x, y: int = g(1)):
    y = (x, 1)  # a tuple

    if h(y):
        return [
            i for i in (1, 2)
        ]
    elif k(x):
        z = k(x); w = """a
  string"""; v = k(w)
    else: u = lambda: k(x)


class A(
    k(1),
):
\tdef m(self):
\t\tself.x = self.x[
0] + k(2) \\
 + k(3)
\t\tself.x = self.x[0]
\t\tself.x = self.x[0]

if True: print("é", f"{A!r}")

try:
    f(1)
except (k(1), ValueError):
    f(2)
finally:
    f(3)
for i in range(3):
    pass
else:
    with k(1) as one, k(2):
        # of the block
        for a in one: a()
match k(1):
    case [1]:
        k(2)
x = (  # open
    1 +
    2
) ; y = 2
# the end
'''
KINDS = (cst.BaseExpression, cst.BaseSmallStatement, cst.Arg)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_nodes_of_statements_are_those_of_the_whole_file(
    newline: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (PROGRAM.strip() + end).replace("\n", newline)
    module = cst.parse_module(text)
    whole = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    expected: dict[Span, list[tuple[str, str]]] = {}
    for node, place in whole.items():
        if isinstance(node, KINDS):
            span = Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)  # type: ignore[attr-defined]
            expected.setdefault(span, []).append((type(node).__name__, module.code_for_node(node)))
    parsed: list[str] = []

    def parse(part: str) -> cst.Module:
        parsed.append(part)
        return cst.parse_module(part)

    monkeypatch.setattr(places_module, "parsed", parse)
    places = Places(Lines(text), ast.parse(text))
    for span, nodes in expected.items():
        found = [node for node in places.at(span) if isinstance(node, KINDS)]
        own = [node for node in found if places.of(node) == span]
        kinds = [(type(node).__name__, module.code_for_node(node)) for node in own]
        assert kinds == nodes, span
    assert text not in parsed
    assert len(parsed) < len(expected) / 2


def test_a_statement_that_its_lines_do_not_show_is_found_in_the_whole_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "x = 1\n@(\n    jit(x)\n)\ndef f(): pass\n"
    parsed: list[str] = []

    def parse(part: str) -> cst.Module:
        parsed.append(part)
        return cst.parse_module(part)

    monkeypatch.setattr(places_module, "parsed", parse)
    places = Places(Lines(text), ast.parse(text))
    [node] = [one for one in places.at(Span(3, 5, 3, 11)) if isinstance(one, cst.Call)]
    assert parsed[-1] == text
    assert places.of(node) == Span(3, 5, 3, 11)
