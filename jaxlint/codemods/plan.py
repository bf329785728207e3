"""Runs the steps of fixes on shared views of the files, and merges the results into text edits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.conflicts import ChosenChanges
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.registry import Draft, find_codemod
from jaxlint.codemods.source.edited_file import edited, is_in_comment, with_line_ends_of
from jaxlint.codemods.source.import_edits import import_edits
from jaxlint.codemods.source.imports import ImportChanges
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.crashes import described
from jaxlint.finding import Edit, Fix, FixRequest, Span
from jaxlint.source.file import SourceFile


@dataclass(slots=True)
class Plan:
    """The changes of one fix, by file, before its imports are tidied. All are applied or none."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    meant: set[tuple[str, Span]] = field(default_factory=set)  # places where a comment may change

    @property
    def is_empty(self) -> bool:
        return not any(
            draft.edits or draft.imports.added or draft.imports.moved for draft in self.drafts.values()
        )


class Compatible:
    """Plans that can be applied together."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self._chosen: dict[str, ChosenChanges] = {}  # by file

    def take(self, plan: Plan) -> bool:
        """Adds a plan, unless one that was taken before excludes it."""
        for path, draft in plan.drafts.items():
            if path in self._chosen and self._chosen[path].excludes(draft):
                return False
        for path, draft in plan.drafts.items():
            self._chosen.setdefault(path, ChosenChanges()).add(draft)
        self.plans.append(plan)
        return True


@dataclass(slots=True)
class Proposal:
    """The description of a fix for every command: what it does, or why it is refused.

    `crashed`: the reason is an internal error.
    """

    plan: Plan | None = None
    fix: Fix | None = None
    refusal: str | None = None
    crashed: Exception | None = None

    def refuse(self, reason: str) -> None:
        self.plan = self.fix = None
        self.refusal = reason


class Workspace:
    """The files of one round. Each is parsed at most once, however many fixes touch it.

    `strict`: tracing code that ran eagerly is refused unless all its callees certainly only compute.
    Otherwise it is refused only if a callee certainly does more: the fix is unsafe anyway, and a person
    reviews it. None: not checked now, because the edit checks it later.
    """

    def __init__(
        self,
        sources: Mapping[str, SourceFile],
        make_site: Callable[[SourceFile], Site] = Site,
        *,
        strict: bool | None = False,
    ) -> None:
        self.strict = strict
        self._programs: dict[str, Program] = {}
        self.sources = sources
        self._make_site = make_site
        self._sites: dict[str, Site] = {}
        self._edited: dict[tuple[Edit, ...], SourceFile] = {}

    def site(self, path: str) -> Site:
        """The shared view of the file at `path`. Raises Refused if it is not among the sources."""
        if path not in self.sources:
            raise Refused(f"{path} has to change too; pass that file as well")
        if path not in self._sites:
            self._sites[path] = self._make_site(self.sources[path])
        return self._sites[path]

    def program(self, path: str) -> Program:
        """The program around the file at `path`: all files, or only its imports if these suffice."""
        key = "" if self.strict else path
        if key not in self._programs:
            self._programs[key] = Program(self.sources, None if self.strict else (path,))
        return self._programs[key]

    def _draft(self, path: str) -> Draft:
        return Draft(self.site(path), functools.partial(self.program, path), self.strict)

    def plan(self, request: FixRequest) -> Plan | str:
        """The changes of `request`, or the reason why it is refused."""
        plan = Plan()
        try:
            for step in request.steps:
                draft = plan.drafts.get(step.path) or self._draft(step.path)
                plan.drafts[step.path] = draft
                try:
                    run = find_codemod(step.codemod)
                except KeyError:
                    return f"there is no codemod {step.codemod!r}"
                run(draft, step)
        except Refused as refusal:
            return str(refusal)
        except RecursionError:
            return "the file is nested too deeply to rewrite"
        return "nothing to change" if plan.is_empty else plan

    def adopt(self, fix: Fix) -> Plan | str:
        """A plan for a fix that already consists of text edits."""
        plan = Plan()
        try:
            for edit in fix.edits:
                draft = plan.drafts.get(edit.path) or self._draft(edit.path)
                plan.drafts[edit.path] = draft
                draft.replace(edit.span, edit.content)
                if is_in_comment(self.sources[edit.path].text, edit.span):
                    plan.meant.add((edit.path, edit.span))
        except Refused as refusal:
            return str(refusal)
        return "nothing to change" if plan.is_empty else plan

    def edits(self, plans: Iterable[Plan]) -> list[Edit]:
        """The text edits of `plans`, which do not conflict, with the imports tidied. Raises Refused."""
        by_path: dict[str, list[Draft]] = {}
        for plan in plans:
            for path, draft in plan.drafts.items():
                by_path.setdefault(path, []).append(draft)
        result: list[Edit] = []
        for path, drafts in by_path.items():
            edits = list(dict.fromkeys(edit for draft in drafts for edit in draft.edits))
            imports = ImportChanges()
            for draft in drafts:
                imports.update(draft.imports)
            whole = edits + import_edits(self.site(path), imports, edits)
            result += [with_line_ends_of(self.sources[path].text, edit) for edit in whole]
        return sorted(result, key=lambda edit: (edit.path, edit.span))

    def edited(self, plans: Sequence[Plan]) -> dict[str, SourceFile]:
        """The changed files of `plans`, which do not conflict. Raises Refused if a file would not parse, would lose a
        comment, or rejects the edits."""
        by_path: dict[str, list[Edit]] = {}
        for edit in self.edits(plans):
            by_path.setdefault(edit.path, []).append(edit)
        meant = {place for plan in plans for place in plan.meant}
        return {
            path: self._edited_file(path, edits, [span for one, span in meant if one == path])
            for path, edits in by_path.items()
        }

    def _edited_file(self, path: str, edits: Sequence[Edit], meant: Sequence[Span]) -> SourceFile:
        key = tuple(edits)
        if key not in self._edited:
            self._edited[key] = edited(self.sources[path], edits, meant)
        return self._edited[key]

    def proposals(self, fixes: Iterable[FixRequest | Fix]) -> list[Proposal]:
        """The result of each fix when it is applied alone."""
        found = [self._proposal(fix) for fix in fixes]
        waiting = [(proposal, proposal.plan) for proposal in found if proposal.plan is not None]
        while waiting:
            # Fixes that do not touch each other are checked at once: nearly always all of them work.
            group = Compatible()
            taken = [group.take(plan) for _, plan in waiting]
            self._refuse_bad([one for one, is_taken in zip(waiting, taken, strict=True) if is_taken])
            waiting = [one for one, is_taken in zip(waiting, taken, strict=True) if not is_taken]
        return found

    def _refuse_bad(self, group: Sequence[tuple[Proposal, Plan]]) -> None:
        """Refuses the fixes of a group that cannot be applied, found by halves."""
        reason = self._problem([plan for _, plan in group])
        if reason is None:
            return
        if len(group) == 1:
            group[0][0].refuse(reason)
            return
        middle = len(group) // 2
        self._refuse_bad(group[:middle])
        self._refuse_bad(group[middle:])

    def _proposal(self, fix: FixRequest | Fix) -> Proposal:
        """Before the check in the files."""
        try:
            plan = self.adopt(fix) if isinstance(fix, Fix) else self.plan(fix)
            if isinstance(plan, str):
                return Proposal(refusal=plan)
            return Proposal(plan, Fix(fix.safety, fix.message, tuple(self.edits([plan]))))
        except Refused as refusal:
            return Proposal(refusal=str(refusal))
        except Exception as error:  # an internal error must not cost the other fixes
            return Proposal(refusal=described(error, "please report it"), crashed=error)

    def _problem(self, plans: Sequence[Plan]) -> str | None:
        try:
            self.edited(plans)
        except Refused as refusal:
            return str(refusal)
        return None


@functools.lru_cache(maxsize=2)
def _recent_site(source: SourceFile) -> Site:
    return Site(source)


def resolve(request: FixRequest, sources: Mapping[str, SourceFile]) -> Fix | str:
    """The text edits of a fix, or the reason why it is refused.

    `sources` maps the paths in the steps to the files. It is best to resolve the fixes of one file in a row: the file
    is then parsed once.
    """
    [proposal] = Workspace(sources, _recent_site).proposals([request])
    return proposal.fix or proposal.refusal or ""
