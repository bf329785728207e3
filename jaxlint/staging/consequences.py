"""Findings that follow from another finding: a function traces some values because the wrong arguments are static."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field, replace

from jaxlint.finding import Finding, Severity, Span
from jaxlint.staging.events import Event
from jaxlint.staging.values import Array, Transformed

Place = tuple[str, str, Span]  # a finding's file, rule and position


@dataclass(frozen=True, slots=True)
class WrongStatic:
    """A finding that a jitted function has the wrong static arguments. `entries` are the wrong positions or names."""

    jitted: Transformed
    entries: frozenset[str]

    def written_at(self) -> tuple[str, Span] | None:
        """The place where the program writes the positions, if it does."""
        why = self.jitted.why
        call = why.node if isinstance(why.node, ast.Call) else None
        given = next((k.value for k in call.keywords if k.arg == "static_argnums"), None) if call else None
        if given is None or why.module is None or not why.module.reported:
            return None
        return why.module.display, why.module.span(given)


@dataclass(slots=True)
class Consequences:
    """Which findings concern which parameter of a jitted function, and which say that other arguments should be
    static."""

    about: dict[Place, tuple[ast.AST, str]] = field(default_factory=dict)
    causes: dict[ast.AST, dict[Place, WrongStatic]] = field(default_factory=lambda: defaultdict(dict))

    def note(self, place: Place, event: Event, cause: WrongStatic | None) -> None:
        """Records a finding reported for `event`."""
        if cause is not None:
            if cause.jitted.why.node is not None:
                self.causes[cause.jitted.why.node][place] = cause
        elif (parameter := _parameter(event)) is not None:
            self.about[place] = parameter

    def fold(self, findings: dict[Place, Finding]) -> None:
        """Keeps only the cause of findings that follow from it, if the program writes the positions there."""
        for node, causes in self.causes.items():
            stated = [place for place in causes if _is_error(place, findings)]
            following = {
                place: name
                for place, (jitted, name) in self.about.items()
                if jitted is node and _is_error(place, findings)
            }
            wrong = frozenset[str]().union(*(causes[place].entries for place in stated))
            if not following or len(set(following.values())) > len(wrong):
                continue  # too many traced parameters: the positions cannot have meant all of them
            first = findings[min(stated, key=lambda place: (place[0], place[2]))]
            first = _extended(first, causes[stated[0]], [(findings[p], n) for p, n in following.items()])
            for place in (*stated, *following):
                del findings[place]
            findings[first.path, first.code, first.span] = first


def _is_error(place: Place, findings: dict[Place, Finding]) -> bool:
    return place in findings and findings[place].severity is Severity.ERROR


def _parameter(event: Event) -> tuple[ast.AST, str] | None:
    """The parameter of a jitted function that an event is about, and the place where that function is jitted."""
    for value in (getattr(event, "value", None), getattr(event, "index", None)):
        why = value.why if isinstance(value, Array) else None
        while why is not None and not why.parameter:
            why = why.cause
        if why is not None and why.cause is not None and why.cause.node is not None:
            return why.cause.node, why.parameter
    return None


def _extended(first: Finding, cause: WrongStatic, following: list[tuple[Finding, str]]) -> Finding:
    """The finding of the cause, with the others among its reasons."""
    names = ", ".join(f"`{name}`" for name in sorted({name for _, name in following}))
    lines = sorted({finding.span.line for finding, _ in following if finding.path == first.path})
    where = f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
    reason = f"{first.reason}; the function needs {names} as a Python value{where}"
    written = cause.written_at()
    if written is None:
        return replace(first, reason=reason)
    return replace(first, path=written[0], span=written[1], reason=reason)
