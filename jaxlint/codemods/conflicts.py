"""Whether the changes of a fix to a file exclude those of fixes that were chosen before."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, insort
from collections.abc import Iterable

from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import NewImport
from jaxlint.codemods.source.text_edits import overlaps
from jaxlint.finding import Edit, Span


class ChosenChanges:
    """The changes of several fixes to one file, none of which excludes another."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []  # in the order of the text
        self._meanings: dict[str, set[str]] = {}  # of the names that the new imports bind
        self._moved: dict[ast.alias, set[NewImport | None]] = {}
        self._unbound: set[str] = set()  # names that no import binds any more
        self._defined: dict[str, set[Edit]] = {}  # the edits that write a function or class of that name
        self._wholes: dict[Edit, list[frozenset[Edit]]] = {}  # the fixes that replace a text

    def add(self, draft: Draft) -> None:
        """Adds changes that these do not exclude."""
        whole = frozenset(draft.edits)
        for edit in draft.edits:
            insort(self._edits, edit, key=_place)
            if not _is_empty(edit.span):
                self._wholes.setdefault(edit, []).append(whole)
            for name in _defined_by(edit, draft):
                self._defined.setdefault(name, set()).add(edit)
        for new in draft.imports.all_new():
            self._meanings.setdefault(new.bound, set()).add(new.means)
        for alias, moved in draft.imports.moved.items():
            self._moved.setdefault(alias, set()).add(moved)
        self._unbound |= draft.imports.unbound()

    def excludes(self, draft: Draft) -> bool:
        """Whether an edit overlaps, two fixes that differ replace the same text, one import moves to two places, one name
        gets two meanings or two new definitions, or a name is written that is no longer imported."""
        imports = draft.imports
        bound = {new.bound: new.means for new in imports.all_new()}
        return (
            any(self._meanings.get(name, {means}) != {means} for name, means in bound.items())
            or any(self._moved.get(alias, {new}) != {new} for alias, new in imports.moved.items())
            or _writes(draft.edits, self._unbound)
            or _writes(self._edits, imports.unbound())
            or any(
                self._defined.get(name, {edit}) != {edit}
                for edit in draft.edits
                for name in _defined_by(edit, draft)
            )
            or any(map(self._overlaps, draft.edits))
            or self._replaces_the_same(draft)
        )

    def _replaces_the_same(self, draft: Draft) -> bool:
        """Whether a chosen fix replaces a text as `draft` does, and each changes something else besides: the text may
        need what is written there."""
        whole = frozenset(draft.edits)
        return any(
            not (other <= whole or whole <= other)
            for edit in draft.edits
            for other in self._wholes.get(edit, ())
        )

    def _overlaps(self, edit: Edit) -> bool:
        """Whether `edit` overlaps another one; only its neighbours can."""
        at = bisect_left(self._edits, edit.span, key=_place)
        for number in range(at - 1, -1, -1):
            before = self._edits[number]
            if before != edit and overlaps(before.span, edit.span):
                return True
            if not _is_empty(before.span):
                break
        end = (edit.span.end_line, edit.span.end_column)
        for number in range(at, len(self._edits)):
            after = self._edits[number]
            if (after.span.line, after.span.column) > end:
                break
            if after != edit and overlaps(after.span, edit.span):
                return True
        return False


def _writes(edits: Iterable[Edit], names: set[str]) -> bool:
    """Whether the new text mentions one of `names`."""
    return bool(names) and any(
        re.search(rf"(?<![\w.]){name}\b", edit.content) for name in names for edit in edits
    )


def _defined_by(edit: Edit, draft: Draft) -> list[str]:
    """The functions and classes that an edit inserts into a module or class. One inserted into a function is used right
    after it, so another one of that name does not matter; one in the place of another text is that of the program."""
    if not _is_empty(edit.span):
        return []
    names = re.findall(r"^[ \t]*(?:async def|def|class)[ \t]+(\w+)", edit.content, re.M)
    line = edit.span.line
    inside = names and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno < line <= (node.end_lineno or line)
        for node in ast.walk(draft.site.tree)
    )
    return [] if inside else names


def _place(edit: Edit) -> Span:
    return edit.span


def _is_empty(span: Span) -> bool:
    return (span.line, span.column) == (span.end_line, span.end_column)
