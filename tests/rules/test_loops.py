"""What rules ask of the code that a loop runs: its body, or a function or lambda that it calls."""

from __future__ import annotations

import ast

from jaxlint_rules._loops import assigned_once


def test_a_body_binds_names_once_or_more_often() -> None:
    loop = ast.parse("for x in xs:\n    a = x[0]\n    b = 1\n    b = 2\n").body[0]
    assert assigned_once(loop).keys() == {"a"}


def test_a_lambda_binds_no_names() -> None:
    assert assigned_once(ast.parse("lambda x: x + 1", mode="eval").body) == {}
