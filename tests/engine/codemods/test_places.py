"""Places of libcst nodes, computed statement by statement, are those that libcst computes for the whole file."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from jaxlint.codemods.places import Places
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
def f(x):
    y = (x, 1)  # a tuple

    if y:
        return [
            i for i in (1, 2)
        ]


class A:
    pass

if True: print("é", f"{A!r}")

for i in range(3):
    pass
else:
    pass
x = (  # open
    1 +
    2
) ; y = 2
# the end
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_places_of_statements_are_those_of_the_whole_file(newline: str) -> None:
    text = PROGRAM.replace("\n", newline)
    module = cst.parse_module(text)
    whole = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    spans = {
        node: Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)  # type: ignore[attr-defined]
        for node, place in whole.items()
    }
    for statement in module.body:
        places = Places(module, ast.parse(text))
        assert statement in list(places.at(spans[statement]))
        assert not places._is_whole
    places = Places(module, ast.parse(text))
    for node, span in spans.items():
        assert places.of(node) == span
        if not isinstance(node, cst.Module):
            asked = Places(module, ast.parse(text))
            assert node in list(asked.at(span))
            assert asked._spans.items() <= spans.items()
