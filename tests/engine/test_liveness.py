"""Which assignments nothing reads, and which changes of what a variable holds come after its last use."""

from __future__ import annotations

import ast

import pytest

from jaxlint.syntax.liveness import unread_statements


def unread(body: str) -> list[str]:
    text = "def f(x, xs, d, p):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = sorted(unread_statements(function), key=lambda statement: statement.lineno)
    return [ast.unparse(statement) for statement in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = x + 1\nreturn xs", ["x = x + 1"]),
        ("x = x + 1\nreturn x", []),
        ("x += 1\nreturn xs", ["x += 1"]),
        ("for y in xs:\n    y = y * 2\nreturn xs", ["y = y * 2"]),
        ("for y in xs:\n    x = x + y\nreturn x", []),
        ("for y in xs:\n    x = x + y", []),
        ("while p:\n    x = x + 1\n    if d:\n        break\n    x = 0\nreturn x", []),
        ("if p:\n    x = x + 1\nelse:\n    return x\nreturn d", ["x = x + 1"]),
        ("x = x + 1\ndef g():\n    return x\nreturn g", []),
        ("try:\n    x = x + 1\n    d()\nexcept ValueError:\n    return x\nreturn d", []),
        ("for y in xs:\n    if p:\n        x = 1\n        continue\n    d(x)\n", []),
        ("d['a'] = x\nreturn d", []),
        ("d['a'] = x\nreturn x", ["d['a'] = x"]),
        ("d['a'] = d['b'] + 1\nreturn x", ["d['a'] = d['b'] + 1"]),
        ("for y in xs:\n    d.append(y)\nreturn xs", ["d.append(y)"]),
        ("global x\nx = x + 1", []),
        ("with p as y:\n    y = y + 1\n    return y", []),
    ],
)
def test_what_nothing_reads(body: str, expected: list[str]) -> None:
    assert unread(body) == expected
