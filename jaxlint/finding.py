"""A finding: a place, a claim with its reason, and perhaps a fix."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Severity(enum.StrEnum):
    """How much a finding matters."""

    ERROR = "error"  # the program fails or gives wrong results
    WARNING = "warning"  # it costs time or memory, or is very likely wrong
    INFO = "info"  # advice, off by default


class Safety(enum.StrEnum):
    """Whether a fix keeps the meaning of the program."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of source text: 1-based lines and columns, columns in code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replaces the text of `span` in the file `path` by `content`; an empty span inserts.

    With `cell`, `span` counts in that cell of a notebook.
    """

    path: str
    span: Span
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a codemod: its name, place and parameters."""

    codemod: str
    path: str
    span: Span
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A fix that a rule proposes, before a codemod has run. Either all of its steps apply or none."""

    safety: Safety
    message: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix as text edits. Either all of them apply or none."""

    safety: Safety
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim about one place.

    `path` is as the user gave it. `reason` says how the analysis knows ("the tracer comes from ..."). `data` holds
    facts for other tools (the runtime reads `argnums`, `callers`); it is not printed.
    """

    path: str
    span: Span
    code: str
    name: str
    category: str
    severity: Severity
    message: str
    reason: str
    function: str | None = None
    cell: int | None = None
    fix: FixRequest | Fix | None = None
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The rule's page, relative to the project's repository."""
        return f"docs/rules/{self.name}.md"

    @property
    def sort_key(self) -> tuple[str, Span, str]:
        return (self.path, self.span, self.code)
