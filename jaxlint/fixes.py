"""Applies the fixes of findings to source text, repeatedly until nothing changes.

The findings come from a function, so this module depends on no paths, settings or rules. Each round checks the
current files and applies fixes that do not touch each other. A fix's proposal (`jaxlint.codemods.plan`) says what it
does, or why it is refused; `check` shows the same. Some fixes undo each other, never converge, or cause a finding
that no other fix removes. The rounds that applied them identify these; they are reverted and reported as refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods import Compatible, Plan, Refused, Workspace
from jaxlint.codemods.source.text_edits import lines_of
from jaxlint.finding import Finding, Fix, FixRequest, Safety, Severity
from jaxlint.source.file import SourceError, SourceFile

# Returns the findings in these files, which are given by the path in their findings.
Check = Callable[[Mapping[str, SourceFile]], Sequence[Finding]]

MAX_ROUNDS = 100
_RECENT = 5  # rounds in which a fix that never converges was applied last
_OFTEN = 3  # rounds that make a fix one of those
_STUCK = 6  # rounds in which a rule's fix is applied in a function without reducing its findings there
# in one file, or findings that fixes cause there, after which fixes are identified by less of what they write
_CIRCLES = 5
_NEEDS_UNSAFE = "the fix may change what the program does; --unsafe-fixes applies it"


@dataclass(frozen=True, slots=True)
class RefusedFix:
    """A fix that was not applied, and the reason."""

    finding: Finding
    reason: str


@dataclass(slots=True)
class FixResult:
    """The result of fixing. Nothing is written yet: `texts` maps the paths of changed files to their new
    text, and `sources` holds all files in their final state.

    `applied` are the fixed findings, each as it was in its round. `remaining` are the findings of the last
    check. Of those, `refused` had a fix that was not applied, and `held_back` an unsafe fix that was not
    requested. Fixes that undo each other or never converge are among the refused. `errors` are files where
    this happened with every combination; they are not changed.
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
        """The changed files, in groups that must be written together: one fix changes several of them."""
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
        """Discards the changes of these files, which could not be written."""
        for path in group:
            self.texts.pop(path, None)
        gone = [one for one in self.applied if one.fix is not None and _paths(one.fix) & group]
        self.applied = [one for one in self.applied if one not in gone]
        # The places are those of the round that found them, nearly always the first.
        self.remaining = sorted([*self.remaining, *gone], key=lambda one: one.sort_key)


def fix_sources(
    sources: Mapping[str, SourceFile],
    check: Check,
    *,
    unsafe: bool = False,
    max_rounds: int = MAX_ROUNDS,
) -> FixResult:
    """Fixes the findings of `check` in `sources`: safe fixes, and with `unsafe` the others too."""
    return _Run(sources, check, unsafe).run(max_rounds)


# What identifies a fix in later rounds: file, rule, function and the replaced text, or less.
_Mark = tuple[object, ...]


@dataclass(slots=True, eq=False)
class _Candidate:
    finding: Finding
    plan: Plan
    paths: frozenset[str]
    marks: tuple[_Mark, ...]


@dataclass(slots=True)
class _Round:
    """The files before a round, and the fixes that it applied."""

    before: dict[str, SourceFile]
    counts: Counter[_Mark]  # findings by their kind
    made: list[_Candidate] = field(default_factory=list)


class _Run:
    def __init__(self, sources: Mapping[str, SourceFile], check: Check, unsafe: bool) -> None:
        self.sources = sources
        self.check = check
        self.unsafe = unsafe
        self.current = dict(sources)
        self.rounds: list[_Round] = []
        self.allowed = Counter[_Mark]()  # findings of each kind that no fix is responsible for
        self.harms: Counter[str] = (
            Counter()
        )  # how often fixes in a file were reverted for findings that they caused
        self.restless: dict[_Mark, str] = {}  # fixes that are banned, and the reason
        self.endless: Counter[str] = Counter()  # how often a file had too many rounds
        self.circles: Counter[str] = Counter()  # how often its fixes went in a circle
        self.result = FixResult()

    def run(self, max_rounds: int) -> FixResult:
        result = self.result
        left = max_rounds
        while True:
            result.remaining = list(self.check(self.current))
            if not self.rounds:
                self.allowed = Counter(map(_kind, result.remaining))
            changed = self._round(result.remaining)
            if not changed and self._undo_harm(result.remaining):
                left = max_rounds
                continue
            if not changed:
                break
            result.rounds += 1
            left -= 1
            for path in changed:
                self._undo_circle(path)
                self._undo_growth(path)
            if left <= 0:
                self._undo_endless(changed)
                left = max_rounds
        result.texts = {
            path: source.file_text
            for path, source in self.current.items()
            if source.text != self.sources[path].text
        }
        result.sources = self.current
        made = [candidate for one in self.rounds for candidate in one.made]
        result.applied = [candidate.finding for candidate in made]
        for candidate in made:
            for path in candidate.paths:
                result.together.setdefault(path, set()).update(candidate.paths)
        return result

    def _round(self, findings: Sequence[Finding]) -> set[str]:
        """Applies the fixes of `findings` that can be applied together; returns the paths of the changed files."""
        self.result.refused.clear()
        self.result.held_back.clear()
        workspace = Workspace(dict(self.current))
        compatible = Compatible()
        chosen = [one for one in self._candidates(workspace, findings) if compatible.take(one.plan)]
        self.rounds.append(_Round(dict(self.current), Counter(map(_kind, findings))))
        sources = self._apply(workspace, chosen)
        changed = {path for path, source in sources.items() if source.text != self.current[path].text}
        for path in changed:
            self.current[path] = sources[path]
        return changed

    def _candidates(self, workspace: Workspace, findings: Sequence[Finding]) -> Iterable[_Candidate]:
        """The applicable fixes, worked out. For the others the reason is recorded."""
        fixable = sorted((one for one in findings if one.fix is not None), key=lambda one: one.sort_key)
        fixes = [one.fix for one in fixable if one.fix is not None]
        for finding, fix, proposal in zip(fixable, fixes, workspace.proposals(fixes), strict=True):
            if proposal.plan is None or proposal.fix is None:
                self._refuse(finding, proposal.refusal or "nothing to change")
                continue
            if fix.safety is Safety.UNSAFE and not self.unsafe:
                self.result.held_back.append(RefusedFix(finding, _NEEDS_UNSAFE))
                continue
            marks = self._marks(finding, proposal.fix)
            reason = next((self.restless[mark] for mark in marks if mark in self.restless), None)
            if reason is not None:
                self._refuse(finding, reason)
                continue
            paths = frozenset(edit.path for edit in proposal.fix.edits)
            yield _Candidate(finding, proposal.plan, paths, marks)

    def _marks(self, finding: Finding, fix: Fix) -> tuple[_Mark, ...]:
        """From the narrowest to the widest."""
        lines = {path: lines_of(self.current[path].text) for path in {edit.path for edit in fix.edits}}
        texts = tuple((edit.path, lines[edit.path].slice(edit.span), edit.content) for edit in fix.edits)
        wide = (finding.path, finding.code)
        return ((*wide, finding.function, texts), (*wide, finding.function), wide, (finding.path,))

    def _refuse(self, finding: Finding, reason: str) -> None:
        self.result.refused.append(RefusedFix(finding, reason))

    def _apply(self, workspace: Workspace, chosen: list[_Candidate]) -> dict[str, SourceFile]:
        """The new files. If the fixes do not fit together, halves are tried, and halves of these, to leave out the culprits."""
        made = self.rounds[-1].made
        waiting = [chosen]
        while waiting:
            group = waiting.pop()
            try:
                workspace.edited([one.plan for one in (*made, *group)])
            except Refused as refusal:
                if len(group) == 1:
                    self._refuse(group[0].finding, str(refusal))
                elif group:
                    half = len(group) // 2
                    waiting += [group[half:], group[:half]]  # the first half is next
            else:
                made += group
        return workspace.edited([one.plan for one in made])

    # Fixes that cause findings

    def _undo_harm(self, remaining: Sequence[Finding]) -> bool:
        """Once nothing changes any more, reverts fixes that caused new findings which no fix removed."""
        brought = self._new_findings(remaining)
        if not brought:
            return False
        # Later findings may disappear with the first.
        number = min(self._since(_kind(one)) for one in brought)
        harm = [one for one in brought if self._since(_kind(one)) == number]
        blamed = self._causing_fixes(number, harm)
        if not blamed:
            self.allowed.update(map(_kind, harm))
            return self._undo_harm(remaining)
        paths = {path for fix, _ in blamed for path in fix.paths}
        self.harms.update(paths)
        for fix, reason in blamed:
            level = min(max(self.harms[path] for path in fix.paths) // _CIRCLES, len(fix.marks) - 1)
            self.restless.setdefault(fix.marks[level], reason)
        self._take_back(paths, number)
        return True

    def _new_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """The kinds with more findings than allowed."""
        counts = Counter[_Mark]()
        found = []
        for one in findings:
            counts[_kind(one)] += 1
            if counts[_kind(one)] > self.allowed[_kind(one)]:
                found.append(one)
        return found

    def _since(self, kind: _Mark) -> int:
        """The first round with too many findings of a kind."""
        rounds = range(len(self.rounds) - 1, -1, -1)
        return next((n for n in rounds if self.rounds[n].counts[kind] <= self.allowed[kind]), 0)

    def _causing_fixes(self, number: int, harm: Sequence[Finding]) -> list[tuple[_Candidate, str]]:
        """The fixes of a round that caused `harm`, and the reason to refuse each. None if only fixes of errors did:
        the program failed there, and code after that is reached now."""
        this = self.rounds[number]
        workspace = Workspace(this.before)  # the plans refer to trees that are rebuilt
        proposals = workspace.proposals([fix.finding.fix for fix in this.made if fix.finding.fix is not None])
        plans = {fix: one.plan for fix, one in zip(this.made, proposals, strict=True) if one.plan}
        needed = [fix for fix in this.made if fix.finding.severity is Severity.ERROR]

        def brought(fixes: Sequence[_Candidate]) -> dict[_Mark, Finding]:
            try:
                files = workspace.edited([plans[fix] for fix in (*needed, *fixes) if fix in plans])
            except Refused:
                return {}
            found = self._new_findings(self.check({**this.before, **files}))
            return {_kind(one): one for one in found if _kind(one) in kinds}

        def among(fixes: Sequence[_Candidate]) -> dict[_Mark, list[_Candidate]]:
            """The fixes behind each kind: a single fix, or those that only cause it together."""
            found = brought(fixes) if fixes else {}
            if not found or len(fixes) == 1:
                return {kind: [*fixes] for kind in found}
            middle = len(fixes) // 2
            parts = (among(fixes[:middle]), among(fixes[middle:]))
            return {kind: [fix for part in parts for fix in part.get(kind, [])] or [*fixes] for kind in found}

        kinds = {_kind(one): one for one in harm}
        for kind in brought([]) if needed else ():
            del kinds[kind]
        places = {(one.path, one.function) for one in harm}
        others = [fix for fix in this.made if fix not in needed]
        near = [fix for fix in others if (fix.finding.path, fix.finding.function) in places]
        here = [fix for fix in others if fix.paths & {path for path, _ in places}]
        blamed: list[tuple[_Candidate, str]] = []
        for group in (near, here, others):
            for kind, fixes in among(group).items() if kinds else ():
                one = kinds.pop(kind)
                where = one.function or one.path
                blamed += [(fix, f"it would cause {one.code} ({one.name}) in `{where}`") for fix in fixes]
        return blamed

    # Fixes that do not converge

    def _undo_circle(self, path: str) -> None:
        """If the file at `path` equals its state before an earlier round, reverts the rounds since then, permanently."""
        text = self.current[path].text
        for number, one in enumerate(self.rounds):
            if one.before[path].text == text:
                circle = [fix for later in self.rounds[number:] for fix in later.made if path in fix.paths]
                if circle:
                    self.circles[path] += 1
                    marks = self._ban(circle, self.circles[path] // _CIRCLES, "undo each other")
                    first = (n for n, early in enumerate(self.rounds) if _has_one_of(early.made, marks))
                    self._take_back({path}, min([number, *first]))
                return

    def _undo_growth(self, path: str) -> None:
        """Reverts fixes that are applied in the file at `path` round after round without reducing its findings."""
        made: dict[_Mark, list[tuple[int, _Candidate]]] = {}
        for number, one in enumerate(self.rounds):
            for mark, fix in {fix.marks[1]: fix for fix in one.made if path in fix.paths}.items():
                made.setdefault(mark, []).append((number, fix))
        stuck = {
            mark: rounds
            for mark, rounds in made.items()
            if len(rounds) >= _STUCK - 1
            and self.rounds[rounds[-1][0]].counts[mark] >= self.rounds[rounds[1 - _STUCK][0]].counts[mark]
        }
        if any(len(rounds) >= _STUCK for rounds in stuck.values()):
            self._ban([rounds[0][1] for rounds in stuck.values()], 1, "do not converge")
            self._take_back({path}, min(rounds[0][0] for rounds in stuck.values()))

    def _undo_endless(self, paths: Iterable[str]) -> None:
        """Reverts fixes that were applied in `paths` again and again; each time they are identified less strictly."""
        for path in sorted(paths):
            here = [[fix for fix in one.made if path in fix.paths] for one in self.rounds]
            last = [fix for made in here[-_RECENT:] for fix in made]
            if not last:
                continue  # it converged when a circle was reverted
            self.endless[path] += 1
            level = self.endless[path]
            if level < len(last[0].marks) - 1:
                often = Counter(mark for made in here for mark in {fix.marks[level] for fix in made})
                again = [fix for fix in last if often[fix.marks[level]] >= _OFTEN] or last
                self._ban(again, level, "do not converge")
            else:
                self._ban(last, level, "do not converge")
                message = "its fixes do not converge; not changed, please report this"
                self.result.errors.append(SourceError(path, message))
            self._take_back({path}, 0)

    def _ban(self, fixes: Sequence[_Candidate], level: int, what: str) -> set[_Mark]:
        """Bans fixes like these, as identified by `level`."""
        names = sorted({f"{fix.finding.code} ({fix.finding.name})" for fix in fixes})
        if len(names) == 1:
            how = "its fixes undo each other" if what == "undo each other" else "its fix does not converge"
            reason = f"{how} here; not made"
        else:
            which = ", ".join(names[:-1]) + f" and {names[-1]}"
            reason = f"the fixes of {which} {what}; {'neither' if len(names) == 2 else 'none'} is made"
        marks = {fix.marks[min(level, len(fix.marks) - 1)] for fix in fixes}
        for mark in marks:
            self.restless.setdefault(mark, reason)
        return marks

    def _take_back(self, paths: set[str], number: int) -> None:
        """Restores the files, and those that changed with them, to their state before a round."""
        later = self.rounds[number:]
        reached: set[str] = set()
        while paths != reached:
            reached = set(paths)
            paths |= {path for one in later for fix in one.made if fix.paths & reached for path in fix.paths}
        for one in later:
            one.made = [fix for fix in one.made if not fix.paths & paths]
            one.before.update({path: later[0].before[path] for path in paths})
            kinds = {kind for kind in one.counts | later[0].counts if kind[0] in paths}
            one.counts.update({kind: later[0].counts[kind] - one.counts[kind] for kind in kinds})
        self.current.update({path: later[0].before[path] for path in paths})


def _kind(finding: Finding) -> _Mark:
    return (finding.path, finding.code, finding.function)


def _has_one_of(fixes: Iterable[_Candidate], marks: set[_Mark]) -> bool:
    return any(mark in marks for fix in fixes for mark in fix.marks)


def _paths(fix: FixRequest | Fix) -> set[str]:
    return {part.path for part in (fix.edits if isinstance(fix, Fix) else fix.steps)}
