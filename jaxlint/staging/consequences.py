"""Findings that follow from another: what is traced in a function because the wrong arguments of it are static."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field, replace

from jaxlint.finding import Finding, Severity, Span
from jaxlint.staging.events import Event
from jaxlint.staging.values import Array, Transformed

Place = tuple[str, str, Span]  # of a finding: its file, its rule and where it stands


@dataclass(frozen=True, slots=True)
class WrongStatic:
    """A finding says that a jitted function has the wrong arguments static: `entries` are those that are wrong."""

    jitted: Transformed
    entries: frozenset[str]

    def written_at(self) -> tuple[str, Span] | None:
        """Where the positions are written, if they are."""
        why = self.jitted.why
        call = why.node if isinstance(why.node, ast.Call) else None
        given = next((k.value for k in call.keywords if k.arg == "static_argnums"), None) if call else None
        if given is None or why.module is None or not why.module.reported:
            return None
        return why.module.display, why.module.span(given)


@dataclass(slots=True)
class Consequences:
    """Which findings are about which parameter of a jitted function, and which say that other arguments ought to be static."""

    about: dict[Place, tuple[ast.AST, str]] = field(default_factory=dict)
    causes: dict[ast.AST, dict[Place, WrongStatic]] = field(default_factory=lambda: defaultdict(dict))

    def note(self, place: Place, event: Event, cause: WrongStatic | None) -> None:
        """Takes note of a finding that is reported for `event`."""
        if cause is not None:
            if cause.jitted.why.node is not None:
                self.causes[cause.jitted.why.node][place] = cause
        elif (parameter := _parameter(event)) is not None:
            self.about[place] = parameter

    def fold(self, findings: dict[Place, Finding]) -> None:
        """Leaves of a cause and what follows from it the cause alone, where it is written."""
        for node, causes in self.causes.items():
            stated = [place for place in causes if _is_error(place, findings)]
            following = {
                place: name
                for place, (jitted, name) in self.about.items()
                if jitted is node and _is_error(place, findings)
            }
            wrong = frozenset[str]().union(*(causes[place].entries for place in stated))
            if not following or len(set(following.values())) > len(wrong):
                continue  # more is traced than positions can have been meant for
            first = findings[min(stated, key=lambda place: (place[0], place[2]))]
            first = _extended(first, causes[stated[0]], [(findings[p], n) for p, n in following.items()])
            for place in (*stated, *following):
                del findings[place]
            findings[first.path, first.code, first.span] = first


def _is_error(place: Place, findings: dict[Place, Finding]) -> bool:
    return place in findings and findings[place].severity is Severity.ERROR


def _parameter(event: Event) -> tuple[ast.AST, str] | None:
    """Where the function is jitted whose traced parameter an event is about, and the parameter."""
    for value in (getattr(event, "value", None), getattr(event, "index", None)):
        why = value.why if isinstance(value, Array) else None
        while why is not None and not why.parameter:
            why = why.cause
        if why is not None and why.cause is not None and why.cause.node is not None:
            return why.cause.node, why.parameter
    return None


def _extended(first: Finding, cause: WrongStatic, following: list[tuple[Finding, str]]) -> Finding:
    """The finding of the cause, with what follows from it among its reasons."""
    names = ", ".join(f"`{name}`" for name in sorted({name for _, name in following}))
    lines = sorted({finding.span.line for finding, _ in following if finding.path == first.path})
    where = f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
    reason = f"{first.reason}; the function needs {names} as a Python value{where}"
    written = cause.written_at()
    if written is None:
        return replace(first, reason=reason)
    return replace(first, path=written[0], span=written[1], reason=reason)
