"""Statements of host loops that only compute on arrays: each run of them is proposed as one jitted function.

The codemod (`jaxlint.codemods.region`) decides what may be compiled. This module finds the places that are worth
trying.
"""

from __future__ import annotations

import ast
import itertools
import os
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from jaxlint.codemods import Compatible, Workspace
from jaxlint.codemods.compilation.region_behind import may_move, only_reads
from jaxlint.codemods.compilation.region_host import next_to
from jaxlint.codemods.compilation.region_statements import may_hold, runs_often, written_out
from jaxlint.codemods.source.site import Site, place_of
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.observed_results import MODULE
from jaxlint_runtime.rewrites.loop_edits import function_at
from jaxlint_runtime.rewrites.proposals import (
    FETCHES,
    NUMBERS,
    OFTEN,
    Rewrite,
    busy,
    edit_of,
    how_often,
    imported,
    jit_in_words,
    stays_on_host,
)
from jaxlint_runtime.source_analysis.parsing import tree_of

_MOST_PLANS = 80  # proposals for one function
_MOST_ACROSS = 12  # of these across statements of the host
_MOST_SECONDS = 20.0  # of processor time for the proposals: others may use the machine
_MOST = 4  # regions of a function that are compiled
_LOOPS = (ast.For, ast.While)
_TO_NUMPY = frozenset({"np.asarray", "np.array", "numpy.asarray", "numpy.array", "jax.device_get"})
_Part = tuple[Sequence[ast.stmt | ast.expr], ast.expr | None]  # statements, and what the next one fetches
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def from_regions(
    watched: Sequence[Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
    in_parts: Set[tuple[str, str]] = frozenset(),
) -> list[Rewrite]:
    """For each busy host function, its largest region that can be compiled, and smaller ones as fallbacks.

    `in_parts`: paths and names of functions that cannot be compiled as a whole.
    """
    found: list[Rewrite] = []
    named_for: set[str] = set()
    for one, source in busy(watched, sources):
        around = body_of(one, source)
        if not around:
            continue
        given = "" if not found else _name_for(one["function"], named_for)
        rewrite: Rewrite | None = None
        for transform in reversed(_transforms(source)):
            alone = (one["path"], one["function"]) in in_parts or _stays_on_host(one, source)
            ways = _fixes(one, around, source, sources, transform, name=given, alone=alone)
            for fixes in reversed(ways):
                name = f"region-to-jit:{jit_in_words(transform, ())}"
                line, what = fixes[0].steps[0].span.line, _text_of(fixes, source)
                rewrite = edit_of(name, one, line, fixes, rewrite, what)
        if rewrite is not None:
            found.append(rewrite)
            named_for.add(given)
    return found


def _text_of(fixes: Sequence[FixRequest], source: SourceFile) -> str:
    """The lines of the regions that fixes compile, without their indentation."""
    lines = source.text.splitlines()
    spans = sorted((step.span.line, step.span.end_line) for fix in fixes for step in fix.steps)
    return "\n".join(line.strip() for first, last in spans for line in lines[first - 1 : last])


def _name_for(function: str, taken: Set[str]) -> str:
    """A name for the compiled part of a function that no other function's part has: methods of two classes share theirs."""
    parts = [part.strip("_") for part in function.split(".") if part.strip("_").isidentifier()]
    names = ["_".join(("jitted", *parts[start:])) for start in range(len(parts) - 1, -1, -1)] or ["jitted"]
    numbered = (f"{names[-1]}_{count}" for count in itertools.count(2))
    return next(name for name in itertools.chain(names, numbered) if name not in taken)


def script(path: str, seconds: float) -> dict[str, Any]:
    """The module-level code of a program, as if it were a watched function."""
    place = {"path": os.path.realpath(path), "function": MODULE, "line": 1}
    return {**place, "calls": 1, "seconds": seconds, "arguments": None}


def body_of(one: Mapping[str, Any], source: SourceFile) -> list[ast.stmt]:
    """The statements of a watched function, or of the program's main module; empty if they are not found."""
    if one["function"] == MODULE:
        tree = tree_of(source)
        return tree.body if tree is not None else []
    function = function_at(source, one["function"], one["line"])
    return function.body if function is not None else []


def named(one: Mapping[str, Any]) -> str:
    """A watched function in words."""
    return "the program" if one["function"] == MODULE else str(one["function"])


def seen_of(one: Mapping[str, Any]) -> dict[str, Any]:
    """The data about a watched function for codemods."""
    return {
        "function": one["function"],
        "arguments": [dict(entry) for entry in one["arguments"] or ()],
        "variables": [dict(entry) for entry in one.get("variables") or ()],
    }


def _transforms(source: SourceFile) -> list[str]:
    """The transformations that may compile a region of a file, the best first."""
    roots = imported(source)
    if "flax.nnx" in roots:
        return ["flax.nnx.jit"]
    return ["equinox.filter_jit", "jax.jit"] if "equinox" in roots else ["jax.jit"]


@dataclass(slots=True)
class _Drawing:
    """Asks the codemod for the regions of one file, within bounds."""

    one: Mapping[str, Any]
    source: SourceFile
    transform: str
    workspace: Workspace
    site: Site
    deadline: float
    plans: int = 0
    name: str = ""  # names for the new functions, unless the codemod chooses them
    reading: set[tuple[int, int]] = field(
        default_factory=set
    )  # regions whose reads of the host's numbers come first

    def fix(
        self,
        nodes: Sequence[ast.stmt | ast.expr],
        order: int = 0,
        ends: ast.expr | None = None,
        same: Sequence[int] = (),
    ) -> FixRequest:
        """The edit that compiles adjacent statements, with what the next one fetches (`ends`), or one expression. `same`: the place of a region
        with the same text, and its order, whose function is called here, too."""
        span = self.site.across(nodes)
        # a traced call makes what the function holds anew, too
        often = how_often(int(self.one["calls"]) + int(self.one.get("inner_calls") or 0))
        own = {"order": order, **often, "wide": True, **({"name": self.name} if self.name else {})}
        if ends is not None:
            own["ends"] = place_of(ends)
        inner = [node for node in nodes[1:-1] if isinstance(node, ast.stmt)]
        if behind := [place_of(node) for node in inner if self.is_of_host(node)]:
            own["behind"] = behind
        if (span.line, span.end_line) in self.reading:
            own["ahead"] = [place_of(node) for node in inner if only_reads(node)]
        if same:
            own["same"] = list(same)
        if self.lengths:
            own["lengths"] = dict(self.lengths)
        parameters = {"transform": self.transform, **seen_of(self.one), **own}
        step = Step("region-to-jit", self.source.display, span, parameters)
        last = span.end_line if ends is None else ends.end_lineno or ends.lineno
        lines = f"lines {span.line} to {last}" if span.line != last else f"line {span.line}"
        return FixRequest(Safety.UNSAFE, f"Compile {lines} of {named(self.one)} as one function", (step,))

    @property
    def lengths(self) -> Mapping[str, int]:
        """How often the loops of the function ran, by what they run over."""
        return self.one.get("lengths") or {}

    def is_of_host(self, node: ast.stmt) -> bool:
        """Whether the host runs a statement between those of a region: it fetches a value, prints, appends."""
        return not _holds(node, self.transform, self.lengths) or any(
            isinstance(one, ast.Call) and _fetched_by(one) is not None for one in ast.walk(node)
        )

    def together(self, regions: Sequence[_Part]) -> list[FixRequest]:
        """The edits of as many regions as fit beside each other, earlier ones first."""
        fixes: list[FixRequest] = []
        kinds: list[bool] = []  # functions that need distinct names
        compatible = Compatible()
        written: dict[str, list[int]] = {}  # the place and order of regions, by text
        for region, ends in regions:
            kind = bool(self.name) or isinstance(region[0], ast.expr)
            text = "" if ends is not None else "\n".join(map(ast.unparse, region))
            if text in written:
                fix = self.fix(region, same=written[text])
                plan = self.workspace.plan(fix)
                if not isinstance(plan, str) and compatible.take(plan):
                    fixes.append(fix)
                    continue
            fix = self.fix(region, kinds.count(kind), ends)
            plan = self.workspace.plan(fix)
            if not isinstance(plan, str) and compatible.take(plan):
                fixes.append(fix)
                if text:
                    span = self.site.across(region)
                    place = [span.line, span.column, span.end_line, span.end_column]
                    written.setdefault(text, [*place, kinds.count(kind)])
                kinds.append(kind)
            if len(fixes) == _MOST:
                break
        return fixes

    def can_be(self, nodes: Sequence[ast.stmt | ast.expr], ends: ast.expr | None = None) -> bool:
        """Whether the codemod compiles them; no longer asked once that has taken too long."""
        if (
            (ends is None and not _is_worth_it(nodes))
            or self.plans >= _MOST_PLANS
            or time.process_time() > self.deadline
        ):
            return False
        if self._is_planned(nodes, ends):
            return True
        if any(isinstance(node, ast.stmt) and only_reads(node) for node in nodes[1:-1]):
            span = self.site.across(nodes)
            self.reading.add((span.line, span.end_line))
            if self._is_planned(nodes, ends):
                return True
            self.reading.discard((span.line, span.end_line))
        return False

    def _is_planned(self, nodes: Sequence[ast.stmt | ast.expr], ends: ast.expr | None) -> bool:
        self.plans += 1
        return not isinstance(self.workspace.plan(self.fix(nodes, ends=ends)), str)

    def way(self, stretch: Sequence[ast.stmt]) -> _Part | None:
        """How it compiles adjacent statements: with what the next statement fetches of them, or alone; None if it does not."""
        following = next_to(self.site, stretch[-1])
        for ends in fetched_of(following) if following is not None else ():
            if self.can_be(stretch, ends):
                return stretch, ends
        return (stretch, None) if self.can_be(stretch) else None


def _fixes(
    one: Mapping[str, Any],
    body: list[ast.stmt],
    source: SourceFile,
    sources: Mapping[str, SourceFile],
    transform: str,
    *,
    name: str,
    alone: bool,
) -> list[list[FixRequest]]:
    """Proposals for a function: all of its regions together, and the largest alone if there are several.

    `name`: for the new functions; "" where no other function has any, so that the codemod may choose. `alone`: the function
    is not compiled as a whole.
    """
    drawing = _Drawing(
        one,
        source,
        transform,
        Workspace(dict(sources), strict=True),
        Site(source),
        time.process_time() + _MOST_SECONDS,
        name=name,
    )
    own = one["calls"] >= OFTEN and alone
    regions: list[_Part] = []
    for stretch in stretches(body, own=own, transform=transform, lengths=drawing.lengths):
        rest = [stretch]
        if (wide := _across_host(stretch, drawing)) is not None:
            regions.append(wide)
            first, last = (stretch.index(node) for node in (wide[0][0], wide[0][-1]))  # type: ignore[arg-type]
            rest = [stretch[:first], stretch[last + 1 :]]
        for part in (held for one in rest for held in _without_moved(one, drawing)):
            start = 0
            while start < len(part):
                for end in range(len(part), start, -1):
                    if (way := drawing.way(part[start:end])) is not None:
                        regions.append(way)
                        start = end - 1
                        break
                start += 1
    inside = {part for region, _ in regions for node in region for part in ast.walk(node)}
    taken = [place_of(ends) for _, ends in regions if ends is not None]
    for value in fetched(body, own=own):
        if value not in inside and place_of(value) not in taken and drawing.can_be([value]):
            regions.append(([value], None))
    regions.sort(key=_weight)
    ways = [drawing.together(regions)]
    if len(ways[0]) > 1:
        ways.append(drawing.together(regions[:1]))
    plain = [region for region in regions if not _writes_out(region)]
    if plain != regions:  # a loop that a trace writes out may compile too long
        ways.append(drawing.together(plain))
    return [fixes for number, fixes in enumerate(ways) if fixes and fixes not in ways[:number]]


def _weight(region: _Part) -> int:
    """Less for regions with more statements: they come first."""
    loops = [one for one in region[0] if isinstance(one, ast.For)]
    inner = [
        one for loop in loops for part in loop.body for one in ast.walk(part) if isinstance(one, ast.stmt)
    ]
    return -len(region[0]) - len(inner) - (region[1] is not None)


def _writes_out(region: _Part) -> bool:
    return any(True for _ in written_out([one for one in region[0] if isinstance(one, ast.stmt)]))


def _across_host(stretch: Sequence[ast.stmt], drawing: _Drawing) -> _Part | None:
    """The largest region with statements of the host between its own, which then follow it."""
    hosts = [drawing.is_of_host(node) for node in stretch]
    spans = [
        (start, end)
        for start, end in itertools.combinations(range(len(stretch) + 1), 2)
        if any(hosts[start:end]) and not hosts[start] and not hosts[end - 1]
    ]
    spans.sort(key=lambda one: one[0] - one[1])
    ways = (drawing.way(stretch[start:end]) for start, end in spans[:_MOST_ACROSS])
    return next((way for way in ways if way is not None), None)


def _without_moved(stretch: Sequence[ast.stmt], drawing: _Drawing) -> Iterator[list[ast.stmt]]:
    """The parts of a stretch that a region may hold as they are."""
    for held, part in itertools.groupby(stretch, lambda one: _holds(one, drawing.transform, drawing.lengths)):
        if held:
            yield list(part)


def _stays_on_host(one: Mapping[str, Any], source: SourceFile) -> bool:
    """Whether a function does what a jitted one cannot, or is a method. Any other function is better compiled as a whole."""
    function = function_at(source, one["function"], one["line"])
    if function is None:
        return False
    outer = one["function"].rpartition(".")[0]
    return bool(outer and not outer.endswith("<locals>")) or stays_on_host(function, source)


def fetched(body: list[ast.stmt], *, own: bool) -> Iterator[ast.expr]:
    """Expressions in the loops of a function that the host fetches: `int(...)`, `np.asarray(...)`, the test of an
    `if`."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, own) for statement in body]
    while waiting:
        node, repeated = waiting.pop(0)
        if isinstance(node, NESTED):
            continue
        if repeated and isinstance(node, ast.Call):
            if (value := _fetched_by(node)) is not None:
                yield value
        elif repeated and isinstance(node, (ast.If, ast.While)) and _calls(node.test):
            yield node.test
        inside = repeated or isinstance(node, _LOOPS)
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


def fetched_of(statement: ast.stmt) -> list[ast.expr]:
    """What a statement computes and the host fetches."""
    heads = [statement.test] if isinstance(statement, ast.If) else [getattr(statement, "value", None)]
    found = [statement.test] if isinstance(statement, ast.If) and _calls(statement.test) else []
    for head in heads:
        if head is not None and isinstance(
            statement, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.If)
        ):
            found += fetched([ast.Expr(head)], own=True)
    return [one for one in found if any(isinstance(part, ast.Call | ast.BinOp) for part in ast.walk(one))]


def _calls(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) for node in ast.walk(test))


def stretches(
    body: list[ast.stmt],
    *,
    own: bool,
    transform: str = "jax.jit",
    lengths: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[list[ast.stmt]]:
    """Adjacent statements in loops of a function's `body` that may form a region, between which some may move behind it; `own`: also of
    the body itself. `lengths`: how often loops ran, by what they run over."""
    waiting: list[tuple[list[ast.stmt], bool]] = [(body, own)]
    while waiting:
        block, repeated = waiting.pop(0)
        stretch: list[ast.stmt] = []
        between: list[ast.stmt] = []
        for statement in block:
            if repeated and _holds(statement, transform, lengths):
                stretch += [*between, statement]
                between = []
                waiting += [(loop.body, True) for loop, _ in written_out([statement])]
                continue
            if stretch and may_move(statement):
                between.append(statement)
            else:
                if stretch:
                    yield stretch
                stretch, between = [], []
            if isinstance(statement, NESTED):
                continue
            inside = repeated or isinstance(statement, _LOOPS)
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner:
                    waiting.append((inner, inside))
        if stretch:
            yield stretch


def _holds(statement: ast.stmt, transform: str, lengths: Mapping[str, int]) -> bool:
    """Whether a region may hold a statement, as far as its kind and the number of its turns tell."""
    return may_hold(statement, transform, wide=True) and not runs_often([statement], lengths)


def _fetched_by(call: ast.Call) -> ast.expr | None:
    """What a call makes a number of Python or an array of NumPy of; None if it does not."""
    called = call.func
    if isinstance(called, ast.Name) and called.id in NUMBERS and len(call.args) == 1:
        return call.args[0]
    if isinstance(called, ast.Attribute) and called.attr in FETCHES:
        return called.value
    return call.args[0] if call.args and ast.unparse(called) in _TO_NUMPY else None


def _is_worth_it(nodes: Sequence[ast.stmt | ast.expr]) -> bool:
    """Whether they compute or call something; the codemod decides about statements that only call a function."""
    work = sum(
        isinstance(node, (ast.Call, ast.BinOp, ast.AugAssign)) for one in nodes for node in ast.walk(one)
    )
    first = nodes[0]
    return work > 1 or (work == 1 and isinstance(first, ast.Assign) and isinstance(first.value, ast.Call))
