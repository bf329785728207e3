"""Codemods by id. A codemod takes a step and its file, and adds edits and import changes to a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.codemods.imports import ImportChanges
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.site import Site
from jaxlint.finding import Edit, Span, Step


@dataclass(slots=True)
class Draft:
    """The changes of one fix's steps to one file."""

    site: Site
    program: Callable[[], Program]  # the program around the file
    strict: bool | None = False  # as in the workspace
    edits: list[Edit] = field(default_factory=list)
    imports: ImportChanges = field(default_factory=ImportChanges)

    def replace(self, span: Span, content: str) -> None:
        """Replaces the text of `span`; an empty span inserts."""
        edit = Edit(self.site.source.display, span, content)
        if edit not in self.edits and self.site.lines.slice(span) != content:
            self.edits.append(edit)

    def insert(self, line: int, column: int, content: str) -> None:
        self.replace(Span(line, column, line, column), content)


Codemod = Callable[[Draft, Step], None]

_codemods: dict[str, Codemod] = {}


def codemod(identifier: str) -> Callable[[Codemod], Codemod]:
    """Registers a codemod under a stable id. A codemod raises Refused, with the reason, if it cannot do its work."""

    def register(function: Codemod) -> Codemod:
        _codemods[identifier] = function
        return function

    return register


def find_codemod(identifier: str) -> Codemod:
    """The codemod with this id. Raises KeyError."""
    return _codemods[identifier]


def codemod_ids() -> tuple[str, ...]:
    """The ids of all registered codemods."""
    return tuple(sorted(_codemods))
