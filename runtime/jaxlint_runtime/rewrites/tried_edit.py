"""An edit of the source that was run, and the conclusions from its run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint.codemods import Compatible, Refused, Workspace
from jaxlint.finding import FixRequest, Span
from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.watched_functions import definitions
from jaxlint_runtime.model import Numerics
from jaxlint_runtime.rewrites.proposals import Key, Rewrite
from jaxlint_runtime.rewrites.run_figures import allowed_slowdown, at_equal_share, no_promise
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.source_analysis.parsing import tree_of

LEFT = 0.05  # share of the edited program's time that a function must take to be tried after others
# Kinds of edits of one function, by how much they compile.
_KINDS = ("loop-to-steps", "steps-between-looks", "loops", "jit", "region-to-jit", "fix")
PLAIN = 1.5  # the least ratio of two pairs, and of the first runs of both versions, that needs no third pair


@dataclass(slots=True)
class Tried:
    """An edit and its run."""

    rewrite: Rewrite
    trial: Trial
    sources: dict[str, SourceFile]
    problem: str | None
    numerics: Numerics | None = None
    evidence: str = ""
    parts: list[Tried] = field(default_factory=list)  # the edits that it combines, if there are several
    before: Trial | None = None  # the run that it must beat, if that is not the original's

    @property
    def members(self) -> list[Tried]:
        """The single edits in it."""
        return self.parts or [self]

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset(one.rewrite.key for one in self.members)


def edited(fixes: Sequence[FixRequest], sources: Mapping[str, SourceFile]) -> dict[str, SourceFile] | str:
    """The files with the fixes applied, or why they cannot be."""
    workspace = Workspace(sources, strict=True)
    compatible = Compatible()
    for fix in fixes:
        plan = workspace.plan(fix)
        if isinstance(plan, str):
            return plan
        if not compatible.take(plan):
            return "the edits overlap"
    try:
        new = workspace.edited(compatible.plans)
    except Refused as refusal:
        return str(refusal)
    if any(source.container is not None for source in new.values()):
        return "edited notebooks and pages are not run"
    return {**sources, **new}


def ways_of(rewrite: Rewrite | None) -> Iterator[Rewrite]:
    """An edit and its alternatives."""
    while rewrite is not None:
        yield rewrite
        rewrite = rewrite.instead


def is_writable(rewrite: Rewrite, sources: Mapping[str, SourceFile]) -> bool:
    """Whether an edit, or one of its alternatives, can be written."""
    return any(not isinstance(edited(way.fixes, sources), str) for way in ways_of(rewrite))


def outermost(
    rewrites: Iterable[Rewrite],
    sources: Mapping[str, SourceFile],
    watched: Iterable[Mapping[str, Any]] = (),
) -> list[Rewrite]:
    """The edits that may be applied together: those that compile most come first, without a `jit` of a
    function that another such function calls, or of a part of a function that only compiled code would call.

    `watched`: what called each function in the run.
    """
    rewrites = list(rewrites)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    called: dict[tuple[str, str], set[str]] = {}
    for one in rewrites:
        source = by_path.get(one.path)
        tree = tree_of(source) if source is not None else None
        if _jits(one) and tree is not None:
            for node, name in definitions(tree):
                if name == one.function:
                    called[one.path, name] = _called_in(node)
    inner = [
        one
        for one in rewrites
        if _jits(one)
        and any(
            one.function in names
            for (_, name), names in called.items()
            if name != one.function and name not in called.get((one.path, one.function), ())
        )
    ]
    found: list[Rewrite] = []
    taken: set[tuple[str, str, str]] = set()
    compiled = _Compiled(by_path, watched)
    for one in sorted(rewrites, key=lambda one: (-one.estimate, _rank(one))):
        if one in inner or ((_is_part(one) or _jits(one)) and compiled.calls_all(one)):
            continue
        if not codemods_of(one) <= taken:  # the fix of a finding may be the same region
            found.append(one)
            taken |= codemods_of(one)
            compiled.add(one)
    return found


class _Compiled:
    """The lines that edits compile, and which functions are then only called from there."""

    def __init__(self, sources: Mapping[str, SourceFile], watched: Iterable[Mapping[str, Any]]) -> None:
        self._sources = sources
        self._lines: set[tuple[str, int]] = set()
        self._parts: list[tuple[str, Span]] = []  # of one line
        self._whole: set[tuple[str, str]] = set()  # functions that are jitted
        self._callers = {
            (one["path"], one["function"]): {(path, name) for path, name in one.get("callers") or ()}
            for one in watched
        }

    def add(self, rewrite: Rewrite) -> None:
        """Notes what an edit compiles, without the statements of the host that follow it."""
        if _jits(rewrite):
            self._whole.add((rewrite.path, rewrite.function))
        for step in (step for fix in rewrite.fixes for step in fix.steps if step.codemod == "region-to-jit"):
            behind = step.parameters.get("behind")
            left = {
                line
                for place in (behind if isinstance(behind, list | tuple) else ())
                for line in range(place[0], place[2] + 1)
            }
            if step.span.line == step.span.end_line:
                self._parts.append((os.path.realpath(step.path), step.span))
                continue
            lines = range(step.span.line, step.span.end_line + 1)
            self._lines |= {(os.path.realpath(step.path), line) for line in lines if line not in left}

    def calls_all(self, rewrite: Rewrite) -> bool:
        """Whether all calls of an edit's function are in what other edits compile, as far as names or the run show."""
        by_names = bool(self._lines or self._parts) and self._is_only_called(
            rewrite.function.rpartition(".")[2], rewrite.path, []
        )
        return by_names or self._ran_inside((rewrite.path, rewrite.function), [])

    def _ran_inside(self, function: tuple[str, str], asked: list[tuple[str, str]]) -> bool:
        """Whether every call of a function in the run came from one that is jitted."""
        callers = self._callers.get(function) or set()
        asked = [*asked, function]
        return bool(callers) and all(
            caller in self._whole or (caller not in asked and self._ran_inside(caller, asked))
            for caller in callers
        )

    def _is_in_part(self, node: ast.expr, path: str) -> bool:
        return any(
            path == where
            and node.lineno == span.line
            and span.column - 1 <= node.col_offset < span.end_column - 1
            for where, span in self._parts
        )

    def _is_only_called(self, name: str, path: str, asked: list[str]) -> bool:
        source = self._sources.get(path)
        tree = tree_of(source) if source is not None else None
        if tree is None or name in asked:
            return False
        around = [node for node, _ in definitions(tree)]
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
            and getattr(node, "attr", getattr(node, "id", "")) == name
        ]
        for call in calls:
            if (path, call.lineno) in self._lines or self._is_in_part(call, path):
                continue
            inside = [one for one in around if one.lineno <= call.lineno <= (one.end_lineno or 0)]
            innermost = max(inside, key=lambda one: one.lineno, default=None)
            if innermost is None or not self._is_only_called(innermost.name, path, [*asked, name]):
                return False
        return bool(calls)


def _jits(rewrite: Rewrite) -> bool:
    """Whether it jits a function at its definition."""
    return any(step.codemod == "add-jit" for fix in rewrite.fixes for step in fix.steps)


def _rank(rewrite: Rewrite) -> int:
    """How much of a function an edit compiles, most first."""
    kind = rewrite.name.partition(":")[0]
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)


def _called_in(function: ast.AST) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def fixes_of(members: Iterable[Tried]) -> list[FixRequest]:
    """The fixes of several edits."""
    return [fix for one in members for fix in one.rewrite.fixes]


def codemods_of(rewrite: Rewrite) -> set[tuple[str, str, str]]:
    """The parts of an edit: path, function and codemod of each step."""
    return {(rewrite.path, rewrite.function, step.codemod) for fix in rewrite.fixes for step in fix.steps}


def described(rewrite: Rewrite) -> str:
    """The description of an edit, and its function."""
    function = rewrite.function.rpartition(".")[2]
    summary = rewrite.summary[:1].upper() + rewrite.summary[1:]
    return summary if function in summary else f"{summary} in {rewrite.function}"


def is_plain(before: Trial, trial: Trial) -> bool:
    """Whether one run shows a gain that needs no second run. A program that goes on after the runs are cut off may compile longer."""
    evenly = at_equal_share(before, trial)
    most = before.total_s if before.cut is None else allowed_slowdown(before) * before.total_s
    faster = before.run_s >= PLAIN * evenly.run_s and evenly.total_s < most
    return no_promise(before, trial) is None and (faster or before.total_s >= PLAIN * evenly.total_s)


def jit_gains_little(rewrite: Rewrite, trial: Trial) -> str:
    """Why a function, or a part of it, need not be jitted in a run: the host spends little time in it, or does not call it. If
    that changes, the next round reconsiders it."""
    seen = trial.functions.get(rewrite.function)
    if not (_jits(rewrite) or _is_part(rewrite)) or seen is None or seen["seconds"] >= LEFT * trial.total_s:
        return ""
    if not seen["calls"]:
        return "with the edits kept, its caller compiles it"
    return f"with the edits kept, it takes only {seen['seconds']:.2f} s of {trial.total_s:.2f} s"


def leaves_idle(trial: Trial, rewrite: Rewrite) -> bool:
    """Whether the host no longer calls the function that should be jitted, or a part of it: another edit compiles it as
    part of its caller."""
    seen = trial.functions.get(rewrite.function)
    jits = rewrite.name.startswith("jit:") or _is_part(rewrite)
    return jits and seen is not None and not seen["calls"]


def _is_part(rewrite: Rewrite) -> bool:
    """Whether it compiles statements of a function."""
    return rewrite.name.startswith("region-to-jit:")
