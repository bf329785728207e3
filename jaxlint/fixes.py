"""Applies the fixes of findings to source text, again and again until nothing changes.

The findings come from a function, so that this module knows nothing of paths, settings or rules: each round checks the
files as they then are, and makes the fixes that do not touch each other. What a fix does, and why it cannot be made, is
said by its proposal (`jaxlint.codemods.plan`), the same that `check` shows. Fixes that undo each other, that never come
to an end, or that bring a finding which no other fix mends are found by the rounds in which they were made: these are taken
back, and the fixes refused by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods import Plan, Refused, Workspace
from jaxlint.codemods.text_edits import Lines
from jaxlint.finding import Finding, Fix, FixRequest, Safety, Severity
from jaxlint.source.file import SourceError, SourceFile

# From the files, by the path that findings give them, to what there is to report in them.
Check = Callable[[Mapping[str, SourceFile]], Sequence[Finding]]

MAX_ROUNDS = 100
_RECENT = 5  # rounds in which what never comes to rest was made last
_OFTEN = 3  # rounds that make a fix one of those
_STUCK = 6  # rounds in which a rule's fix is made in a function, and its findings there are as many as before
_CIRCLES = 5  # in one file, or findings that fixes bring there, after which fixes are told apart with less regard to what they write
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
    Fixes that undo each other, or never come to an end, are among the refused. `errors` are files in which that was so for
    whatever was tried; they are left as they were.
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


# What tells one fix from another in later rounds: file, rule, function and the text that it replaces; or less than that.
_Mark = tuple[object, ...]


@dataclass(slots=True, eq=False)
class _Candidate:
    finding: Finding
    plan: Plan
    paths: frozenset[str]
    marks: tuple[_Mark, ...]


@dataclass(slots=True)
class _Round:
    """The files before a round, and the fixes that were made in it."""

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
        self.allowed = Counter[_Mark]()  # findings of each kind that no fix has to answer for
        self.harms: Counter[str] = (
            Counter()
        )  # how often fixes in a file were taken back for what they brought
        self.restless: dict[_Mark, str] = {}  # fixes that are not made, and why
        self.endless: Counter[str] = Counter()  # how often a file had too many rounds
        self.circles: Counter[str] = Counter()  # how often one went in a circle
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
        """Makes the fixes of `findings` that can be made at once; the paths of the files that changed."""
        self.result.refused.clear()
        self.result.held_back.clear()
        workspace = Workspace(dict(self.current))
        chosen: list[_Candidate] = []
        for candidate in self._candidates(workspace, findings):
            if not any(candidate.plan.conflicts_with(other.plan) for other in chosen):
                chosen.append(candidate)
        self.rounds.append(_Round(dict(self.current), Counter(map(_kind, findings))))
        sources = self._apply(workspace, chosen)
        changed = {path for path, source in sources.items() if source.text != self.current[path].text}
        for path in changed:
            self.current[path] = sources[path]
        return changed

    def _candidates(self, workspace: Workspace, findings: Sequence[Finding]) -> Iterable[_Candidate]:
        """The fixes that may be made, worked out; of the others the reason is noted."""
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
        lines = {path: Lines(self.current[path].text) for path in {edit.path for edit in fix.edits}}
        texts = tuple((edit.path, lines[edit.path].slice(edit.span), edit.content) for edit in fix.edits)
        wide = (finding.path, finding.code)
        return ((*wide, finding.function, texts), (*wide, finding.function), wide, (finding.path,))

    def _refuse(self, finding: Finding, reason: str) -> None:
        self.result.refused.append(RefusedFix(finding, reason))

    def _apply(self, workspace: Workspace, chosen: list[_Candidate]) -> dict[str, SourceFile]:
        """The new files. Should the fixes not go together, they are tried one after the other, to leave out the culprits."""
        made = self.rounds[-1].made
        try:
            sources = workspace.edited([candidate.plan for candidate in chosen])
        except Refused:
            pass
        else:
            made += chosen
            return sources
        sources = {}
        for candidate in chosen:
            try:
                sources = workspace.edited([one.plan for one in (*made, candidate)])
            except Refused as refusal:
                self._refuse(candidate.finding, str(refusal))
            else:
                made.append(candidate)
        return sources

    # Fixes that bring findings

    def _undo_harm(self, remaining: Sequence[Finding]) -> bool:
        """Once nothing changes any more, takes back what brought findings that were not there and that no fix has mended."""
        brought = self._brought(remaining)
        if not brought:
            return False
        # Whatever else was brought later may be gone once the first is.
        number = min(self._since(_kind(one)) for one in brought)
        harm = [one for one in brought if self._since(_kind(one)) == number]
        blamed = self._blamed(number, harm)
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

    def _brought(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of which there are more than there may be."""
        counts = Counter[_Mark]()
        found = []
        for one in findings:
            counts[_kind(one)] += 1
            if counts[_kind(one)] > self.allowed[_kind(one)]:
                found.append(one)
        return found

    def _since(self, kind: _Mark) -> int:
        """The round since which there are too many findings of a kind."""
        rounds = range(len(self.rounds) - 1, -1, -1)
        return next((n for n in rounds if self.rounds[n].counts[kind] <= self.allowed[kind]), 0)

    def _blamed(self, number: int, harm: Sequence[Finding]) -> list[tuple[_Candidate, str]]:
        """The fixes of a round that brought `harm`, and why each is refused. None where fixes of errors alone did: the program
        failed there, and what comes after that is seen now."""
        this = self.rounds[number]
        workspace = Workspace(this.before)  # whose trees those plans are about that are made anew
        proposals = workspace.proposals([fix.finding.fix for fix in this.made if fix.finding.fix is not None])
        plans = {fix: one.plan for fix, one in zip(this.made, proposals, strict=True) if one.plan}
        needed = [fix for fix in this.made if fix.finding.severity is Severity.ERROR]

        def brought(fixes: Sequence[_Candidate]) -> dict[_Mark, Finding]:
            try:
                files = workspace.edited([plans[fix] for fix in (*needed, *fixes) if fix in plans])
            except Refused:
                return {}
            found = self._brought(self.check({**this.before, **files}))
            return {_kind(one): one for one in found if _kind(one) in kinds}

        def among(fixes: Sequence[_Candidate]) -> dict[_Mark, list[_Candidate]]:
            """What brought each kind: one fix, or those that bring it together alone."""
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
                blamed += [(fix, f"it would bring {one.code} ({one.name}) in `{where}`") for fix in fixes]
        return blamed

    # Fixes that do not come to rest

    def _undo_circle(self, path: str) -> None:
        """If the file at `path` is as it was before an earlier round, takes back what was done since, for good."""
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
        """Takes the fixes back that are made in the file at `path` round after round, and leave as many findings."""
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
        """Takes the fixes back that were made in `paths` again and again; each time with less regard to which these are."""
        for path in sorted(paths):
            here = [[fix for fix in one.made if path in fix.paths] for one in self.rounds]
            last = [fix for made in here[-_RECENT:] for fix in made]
            if not last:
                continue  # it came to rest by taking back a circle
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
        """Has fixes like these never be made again; what is like them, by `level`."""
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
        """Puts the files, and those that changed along with them, back as they were before a round."""
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
