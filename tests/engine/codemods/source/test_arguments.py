"""Arguments that are added to calls stand where a person would write them."""

from __future__ import annotations

import ast

import pytest

from jaxlint.codemods.source.arguments import with_arguments


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f()", "f(x=1, y=2)"),
        ("f(a, (b))", "f(a, (b), x=1, y=2)"),
        ("f(a,b)", "f(a,b,x=1,y=2)"),
        ("f(a,)", "f(a, x=1, y=2,)"),
        ("g(1)({2: 3, 4: 5}, [6, 7])", "g(1)({2: 3, 4: 5}, [6, 7], x=1, y=2)"),
        ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    x=1,\n    y=2\n)"),
        ("f(\n    a,\n)", "f(\n    a,\n    x=1,\n    y=2,\n)"),
        ("f(\r\n    a,\r\n)", "f(\r\n    a,\r\n    x=1,\r\n    y=2,\r\n)"),
        ("f(\n    a,  # of a\n)", "f(\n    a,  # of a\n    x=1,\n    y=2,\n)"),
        ("f(a,  # of a\n  b)", "f(a,  # of a\n  b,\n  x=1,\n  y=2)"),
        ("f(a, b,  # of b\n  )", "f(a, b,  # of b\n  x=1, y=2,\n  )"),
        ('f("""a\n,b""", c)', 'f("""a\n,b""", c, x=1, y=2)'),
        ("a\n.f(b)", "a\n.f(b, x=1, y=2)"),
    ],
)
def test_the_layout_of_the_call_is_kept(call: str, expected: str) -> None:
    found = with_arguments(call, {"x": "1", "y": "2"})
    assert found == expected
    given, result = (ast.parse(f"({text})", mode="eval").body for text in (call, found))
    assert isinstance(given, ast.Call)
    assert isinstance(result, ast.Call)
    assert [ast.dump(one) for one in result.args] == [ast.dump(one) for one in given.args]
    assert [keyword.arg for keyword in result.keywords] == ["x", "y"]
