"""HTML and SVG elements built from Python. Text is escaped unless it was built here, so no name in a program can
become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Union

from jaxlint.report.escaping import STEERING

_VOID = frozenset(("meta", "link", "br", "hr", "img"))
# Characters that are invisible in a browser or change the text direction: a name must not hide behind them.
_UNSEEN = re.compile(f"(?![\t\n\r])[{STEERING}\ud800-\udfff]")


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


Child = Union[str, int, float, None, Iterable["Child"]]  # noqa: UP007 - a recursive alias


def escaped(text: object) -> str:
    """Text for a page: markup is escaped, and invisible characters are shown by their codes."""
    return html.escape(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text)), quote=True)


def render(child: Child) -> Markup:
    """Concatenated children; None is empty."""
    if child is None:
        return Markup("")
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return Markup(escaped(child))
    return Markup("".join(render(one) for one in child))


def tag(name: str, /, *children: Child, **attributes: object) -> Markup:
    """An element. A trailing underscore of an attribute is dropped, others become hyphens; None and False omit it."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        parts.append(label if value is True else f'{label}="{escaped(value)}"')
    opening = " ".join(parts)
    if name in _VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{render(children)}</{name}>")
