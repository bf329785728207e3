"""Escapes the text in a report for display: names, messages and printed lines come from the program that ran."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxlint.report.escaping import escaped, printable
from jaxlint_runtime.report.document import Document

_CODE = frozenset({"code", "diff"})  # texts with several lines, by their key in a report


def harmless(document: Document) -> Document:
    """A copy in which no text controls a terminal, or starts a new line outside code."""
    made = {field.name: _cleaned(getattr(document, field.name)) for field in dataclasses.fields(document)}
    return dataclasses.replace(document, **made)


def _cleaned(value: Any, name: object = None) -> Any:
    if isinstance(value, str):
        if name in _CODE:
            return "\n".join(printable(line.expandtabs(4)) for line in value.split("\n"))
        return escaped(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(item, name) for item in value)
    return value
