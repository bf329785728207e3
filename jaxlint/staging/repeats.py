"""Findings that one cause has: the first of them says what there is to do, and the others are advice.

Three kinds are known. One slip that a function repeats has one message, at several places; what the message names may differ.
Several rules have one cure for one loop: to compile its whole step. And several rules about numerics see one formula.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from jaxlint.finding import Finding, Severity, Span
from jaxlint.rule import Rule
from jaxlint.staging.consequences import Place
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import FunctionNode

_NAMED = re.compile(r"`[^`]*`(?: and `[^`]*`)*|\d+")  # the code that a message quotes, and lines
_VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")  # not a module, an attribute or a function
_MANY = {"are": "is", "them": "it"}  # for several names


@dataclass(slots=True)
class Repeats:
    """What the findings of a run are about."""

    slips: dict[tuple[str, object, str], list[Place]] = field(default_factory=lambda: defaultdict(list))
    cures: dict[tuple[str, ast.AST], list[tuple[int, Place]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    formulas: dict[tuple[str, int], dict[Place, frozenset[str]]] = field(
        default_factory=lambda: defaultdict(dict)
    )  # by line: the variables of each

    def note(
        self,
        place: Place,
        rule: Rule,
        frame: Frame,
        message: str,
        loop: ast.AST | None = None,
        slip: object = None,
    ) -> None:
        """Records a finding of `rule` in the activation `frame`, about `loop` if not the one around it. `slip`: what the places of one
        slip share, if not the function."""
        if rule.category == "migration":
            return  # each place has to change
        if slip is not None:
            self.slips[rule.code, (slip, place[0]), _form(message)].append(place)
        elif _lies_in(place, frame.owner):
            self.slips[rule.code, frame.owner, _form(message)].append(place)
        if rule.category == "numerics":
            self.formulas[place[0], place[2].line][place] = _variables(frame, place[2])
        if rule.cure is not None:
            cure, rank = rule.cure
            if loop is None:
                around = (one.loops[-1].node for one in (frame, *frame.callers()) if one.loops)
                loop = next((one for one in around if isinstance(one, ast.AST)), None)
            if isinstance(loop, ast.AST):
                self.cures[cure, loop].append((rank, place))

    def fold(self, findings: dict[Place, Finding]) -> None:
        """Makes advice of the warnings that another warning stands for.

        `jaxlint fix` loses nothing: once the first is fixed, the next is the first.
        """
        for held in self._same_slips(findings):
            others = held[1:]
            if not others:
                continue
            for place in others:
                _make_advice(place, findings)
            lines = sorted({findings[place].span.line for place in others})
            first = findings[held[0]]
            reason = f"{first.reason}; the same at line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
            findings[held[0]] = replace(first, reason=reason)
        for ranked in self.cures.values():
            least = min(rank for rank, _ in ranked)
            if any(rank == least for rank, place in ranked if _warnings([place], findings)):
                for rank, place in ranked:
                    if rank > least and _warnings([place], findings):
                        _make_advice(place, findings)
        for formulas in self.formulas.values():
            told: list[Place] = []
            held = _warnings(list(formulas), findings)
            for place in sorted(held, key=lambda one: (findings[one].fix is None, one)):
                known = [one for one in told if one[1] != place[1]]
                if any(_overlap(place[2], one[2]) or formulas[place] & formulas[one] for one in known):
                    _make_advice(place, findings)
                else:
                    told.append(place)

    def _same_slips(self, findings: dict[Place, Finding]) -> Iterator[list[Place]]:
        """Places of one slip, in the order of the text. Functions with fixes of their own are different steps."""
        for places in self.slips.values():
            groups: dict[str | None, list[Place]] = defaultdict(list)
            for place in _warnings(places, findings):
                finding = findings[place]
                groups[finding.function if finding.fix is not None else None].append(place)
            yield from groups.values()


def _form(message: str) -> str:
    """A message without what it names."""
    return " ".join(_MANY.get(word, word) for word in _NAMED.sub("`", message).split(" "))


def _lies_in(place: Place, owner: FunctionNode | ast.Module) -> bool:
    """Whether a place is in the function that is evaluated, and not in another that it uses."""
    return isinstance(owner, ast.Module) or owner.lineno <= place[2].line <= (owner.end_lineno or 0)


def _variables(frame: Frame, span: Span) -> frozenset[str]:
    """The variables of an expression that takes one line."""
    line = frame.module.lines[span.line - 1] if span.line == span.end_line else ""
    return frozenset(_VARIABLE.findall(line[span.column - 1 : span.end_column - 1]))


def _overlap(one: Span, other: Span) -> bool:
    """Whether one of two expressions contains the other."""
    spans = [(span.line, span.column, -span.end_line, -span.end_column) for span in (one, other)]
    outer, inner = sorted(spans)
    return outer[2:] <= inner[2:]


def _warnings(places: list[Place], findings: dict[Place, Finding]) -> list[Place]:
    """Those of `places` that still hold a warning, in the order of the text."""
    held = {place for place in places if place in findings}
    return sorted(place for place in held if findings[place].severity is Severity.WARNING)


def _make_advice(place: Place, findings: dict[Place, Finding]) -> None:
    findings[place] = replace(findings[place], severity=Severity.INFO)
