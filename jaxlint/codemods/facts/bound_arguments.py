"""Which argument of a call each parameter gets."""

from __future__ import annotations

import ast


def bound_arguments(call: ast.Call, parameters: list[ast.arg]) -> dict[int, ast.expr] | None:
    """The argument for each parameter, by position; None for an unpacked one."""
    if any(isinstance(part, ast.Starred) for part in call.args) or any(k.arg is None for k in call.keywords):
        return None
    numbers = {parameter.arg: number for number, parameter in enumerate(parameters)}
    found = {number: part for number, part in enumerate(call.args) if number < len(parameters)}
    found.update({numbers[k.arg]: k.value for k in call.keywords if k.arg in numbers})
    return found
