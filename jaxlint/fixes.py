"""Applies the fixes of findings to source text, again and again until nothing changes.

The findings come from a function, so that this module knows nothing of paths, settings or rules: each round checks the
files as they then are, makes the fixes that do not touch each other, and verifies that the files still parse.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from jaxlint.codemods import Plan, Refused, Workspace, apply_edits
from jaxlint.finding import Edit, Finding, Fix, FixRequest, Safety
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.parse import parse_text

# From the files, by the path that findings give them, to what there is to report in them.
Check = Callable[[Mapping[str, SourceFile]], Sequence[Finding]]

MAX_ROUNDS = 25
_NEEDS_UNSAFE = "the fix may change what the program does; --unsafe-fixes applies it"


@dataclass(frozen=True, slots=True)
class RefusedFix:
    """A fix that was not made, and why."""

    finding: Finding
    reason: str


@dataclass(slots=True)
class FixResult:
    """What fixing did. Nothing is written yet: `texts` maps the paths of changed files to their new text, and `sources` holds
    all files as they then are.

    `applied` are the findings that were fixed, each as it stood in its round. `remaining` is what the last check still
    reports; of those, `refused` had a fix that was not made, and `held_back` an unsafe one that was not asked for.
    `errors` are files whose fixes never came to rest; they are left as they were.
    """

    texts: dict[str, str] = field(default_factory=dict)
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    remaining: list[Finding] = field(default_factory=list)
    refused: list[RefusedFix] = field(default_factory=list)
    held_back: list[RefusedFix] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    rounds: int = 0
    together: dict[str, set[str]] = field(default_factory=dict)

    def groups(self) -> list[set[str]]:
        """The changed files, in groups that have to be written all or none: one fix reaches into each of them."""
        waiting = set(self.texts)
        found: list[set[str]] = []
        while waiting:
            group, edge = set(), {min(waiting)}
            while edge:
                group |= edge
                edge = {other for path in edge for other in self.together.get(path, ())} & waiting - group
            waiting -= group
            found.append(group)
        return found

    def withdraw(self, group: set[str]) -> None:
        """Takes the changes of these files back: they could not be written."""
        for path in group:
            self.texts.pop(path, None)
        gone = [one for one in self.applied if one.fix is not None and _paths(one.fix) & group]
        self.applied = [one for one in self.applied if one not in gone]
        # The places are those of the round in which they were found: the first, nearly always.
        self.remaining = sorted([*self.remaining, *gone], key=lambda one: one.sort_key)


def fix_sources(
    sources: Mapping[str, SourceFile],
    check: Check,
    *,
    unsafe: bool = False,
    max_rounds: int = MAX_ROUNDS,
) -> FixResult:
    """Fixes what `check` reports in `sources`: safe fixes, and with `unsafe` the others too."""
    return _Run(sources, check, unsafe).run(max_rounds)


@dataclass(slots=True)
class _Candidate:
    finding: Finding
    plan: Plan


class _Run:
    def __init__(self, sources: Mapping[str, SourceFile], check: Check, unsafe: bool) -> None:
        self.sources = sources
        self.check = check
        self.unsafe = unsafe
        self.current = dict(sources)
        self.seen: dict[str, set[str]] = {path: {source.text} for path, source in sources.items()}
        self.given_up: set[str] = set()
        self.result = FixResult()

    def run(self, max_rounds: int) -> FixResult:
        result = self.result
        while True:
            result.remaining = list(self.check(self.current))
            changed = self._round(result.remaining)
            if not changed:
                break
            result.rounds += 1
            restless = {path for path in changed if self.current[path].text in self.seen[path]}
            if result.rounds >= max_rounds:
                restless = changed
            for path in changed:
                self.seen[path].add(self.current[path].text)
            self._give_up(restless)
        result.texts = {
            path: source.file_text
            for path, source in self.current.items()
            if source.text != self.sources[path].text
        }
        result.sources = self.current
        return result

    def _round(self, findings: Sequence[Finding]) -> set[str]:
        """Makes the fixes of `findings` that can be made at once; the paths of the files that changed."""
        self.result.refused.clear()
        self.result.held_back.clear()
        workspace = Workspace(self.current)
        chosen: list[_Candidate] = []
        for finding in sorted(findings, key=lambda finding: finding.sort_key):
            candidate = self._candidate(workspace, finding)
            if candidate and not any(candidate.plan.conflicts_with(other.plan) for other in chosen):
                chosen.append(candidate)
        sources = self._apply(workspace, chosen)
        for finding in self.result.applied:
            paths = _paths(finding.fix) if finding.fix else set()
            for path in paths:
                self.result.together.setdefault(path, set()).update(paths)
        changed = {path for path, source in sources.items() if source.text != self.current[path].text}
        for path in changed:
            self.current[path] = sources[path]
        return changed

    def _candidate(self, workspace: Workspace, finding: Finding) -> _Candidate | None:
        """The fix of `finding` worked out; None, with the reason noted, when it is not to be made."""
        fix = finding.fix
        if fix is None:
            return None
        paths = _paths(fix)
        if paths & self.given_up:
            self._refuse(finding, "fixing this file never came to an end")
            return None
        if fix.safety is Safety.UNSAFE and not self.unsafe:
            self.result.held_back.append(RefusedFix(finding, _NEEDS_UNSAFE))
            return None
        try:
            plan = workspace.adopt(fix) if isinstance(fix, Fix) else workspace.plan(fix)
        except Exception as error:  # a bug of ours must not cost the other fixes
            self._refuse(finding, f"internal error ({type(error).__name__}: {error}); please report it")
            return None
        if isinstance(plan, str):
            self._refuse(finding, plan)
            return None
        return _Candidate(finding, plan)

    def _refuse(self, finding: Finding, reason: str) -> None:
        self.result.refused.append(RefusedFix(finding, reason))

    def _apply(self, workspace: Workspace, chosen: list[_Candidate]) -> dict[str, SourceFile]:
        """The new files. Should they not parse, the fixes are tried one after the other, to leave out the culprits."""
        try:
            sources = self._rewritten(workspace, chosen)
        except (Refused, ValueError) as error:
            if len(chosen) == 1:
                self._refuse(chosen[0].finding, str(error))
                return {}
        else:
            self.result.applied += [candidate.finding for candidate in chosen]
            return sources
        accepted: list[_Candidate] = []
        sources = {}
        for candidate in chosen:
            try:
                sources = self._rewritten(workspace, [*accepted, candidate])
            except (Refused, ValueError) as error:
                self._refuse(candidate.finding, str(error))
            else:
                accepted.append(candidate)
        self.result.applied += [candidate.finding for candidate in accepted]
        return sources

    def _rewritten(self, workspace: Workspace, chosen: Sequence[_Candidate]) -> dict[str, SourceFile]:
        """Raises Refused or ValueError when the fixes do not go together or the result would not parse."""
        by_path: dict[str, list[Edit]] = {}
        for edit in workspace.edits(candidate.plan for candidate in chosen):
            by_path.setdefault(edit.path, []).append(edit)
        sources = {path: _edited(self.current[path], edits) for path, edits in by_path.items()}
        for path, source in sources.items():
            _check_parses(path, source.text)
        return sources

    def _give_up(self, paths: Iterable[str]) -> None:
        """Puts files whose fixes do not come to rest, and those changed along with them, back as they were."""
        waiting = [path for path in paths if path not in self.given_up]
        while waiting:
            path = waiting.pop()
            if path in self.given_up:
                continue
            self.given_up.add(path)
            self.current[path] = self.sources[path]
            self.result.errors.append(
                SourceError(path, "its fixes never came to rest; left as it was, please report this")
            )
            waiting.extend(self.result.together.get(path, ()))
        self.result.applied = [
            finding
            for finding in self.result.applied
            if finding.fix is None or not _paths(finding.fix) & self.given_up
        ]


def _paths(fix: FixRequest | Fix) -> set[str]:
    return {part.path for part in (fix.edits if isinstance(fix, Fix) else fix.steps)}


def _edited(source: SourceFile, edits: Sequence[Edit]) -> SourceFile:
    """`source` with `edits` made. Raises ValueError when they overlap, or when its container does not take them."""
    text = apply_edits(source.text, edits)
    container = source.container
    if container is None:
        return dataclasses.replace(source, text=text)
    container = container.edited(edits)
    return dataclasses.replace(source, text=container.code, container=container)


def _check_parses(path: str, text: str) -> None:
    """Raises Refused when either parser rejects the text."""
    try:
        parse_text(text)
        cst.parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, cst.ParserSyntaxError) as error:
        reason = str(error).partition("\n")[0]
        raise Refused(f"{path} would not parse afterwards ({reason})") from None
