"""Values from environment variables, and branches that only such a variable opens."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from jaxlint.staging.values import MISSING, Setting, Static, Value, constant, hashable, kind_of_static


def by_environment(usual: Value) -> Value:
    """A value that is `usual` unless the environment says otherwise. Anything but a plain value stays unchanged."""
    if not isinstance(usual, Static):
        return usual
    return Setting(kind=kind_of_static(usual) if usual.const is not None else "", default=constant(usual))


def usually(value: Value) -> Value:
    """The value if the environment does not set it."""
    return Static(value.default, kind_of_static(value)) if isinstance(value, Setting) else value


def converted(value: Setting, convert: Callable[[Any], object]) -> Setting:
    """The setting that a plain function computes from another setting."""
    try:
        default = MISSING if value.default is MISSING else convert(value.default)
    except Exception:
        default = MISSING
    known = default is not MISSING and hashable(default)
    return Setting(kind=type(default).__name__ if known else "", default=default if known else MISSING)


def closed_outcome(value: Value) -> bool | None:
    """The outcome of a test that only the environment can cause; None if unknown."""
    return not value.default if type(value) is Setting and value.default is not MISSING else None


def closed_branch(value: Value, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> bool | None:
    """The same for a branch: if the program without the setting raises in one, the setting is expected."""
    closed = closed_outcome(value)
    usual = orelse if closed else body
    return None if usual and isinstance(usual[-1], ast.Raise) else closed
