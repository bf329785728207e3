"""Runs the steps of fixes on shared views of the files, and joins what they ask for into text edits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from jaxlint.codemods.imports import ImportChanges
from jaxlint.codemods.registry import Draft, find_codemod
from jaxlint.codemods.site import Refused, Site
from jaxlint.codemods.tidy import import_edits
from jaxlint.finding import Edit, Fix, FixRequest
from jaxlint.source.file import SourceFile

# Files whose libcst trees are kept at a time: a tree takes a hundred times the room of its source.
_LIVE_TREES = 16


@dataclass(slots=True)
class Plan:
    """What one fix does, by file, before its imports are tidied. Made all or none."""

    drafts: dict[str, Draft] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not any(
            draft.edits or draft.imports.added or draft.imports.moved for draft in self.drafts.values()
        )

    def conflicts_with(self, other: Plan) -> bool:
        return any(
            path in other.drafts and draft.conflicts_with(other.drafts[path])
            for path, draft in self.drafts.items()
        )


class Workspace:
    """The files of one round: each is parsed at most once, however many fixes touch it."""

    def __init__(
        self, sources: Mapping[str, SourceFile], make_site: Callable[[SourceFile], Site] = Site
    ) -> None:
        self.sources = sources
        self._make_site = make_site
        self._sites: dict[str, Site] = {}  # the most recently used last

    def site(self, path: str) -> Site:
        """The shared view of the file at `path`. Raises Refused when it is not among the sources."""
        if path not in self.sources:
            raise Refused(f"{path} was not read in this run")
        site = self._sites.pop(path, None) or self._make_site(self.sources[path])
        self._sites[path] = site
        if len(self._sites) > _LIVE_TREES:
            self._sites[list(self._sites)[-1 - _LIVE_TREES]].release()
        return site

    def plan(self, request: FixRequest) -> Plan | str:
        """What `request` does, or the reason why it is refused."""
        plan = Plan()
        try:
            for step in request.steps:
                draft = plan.drafts.get(step.path) or Draft(self.site(step.path))
                plan.drafts[step.path] = draft
                try:
                    run = find_codemod(step.codemod)
                except KeyError:
                    return f"there is no codemod {step.codemod!r}"
                run(draft, step)
        except Refused as refusal:
            return str(refusal)
        except RecursionError:
            return "the file is nested too deeply to be rewritten"
        return "nothing to change" if plan.is_empty else plan

    def adopt(self, fix: Fix) -> Plan | str:
        """A fix that comes as text edits already, as a plan."""
        plan = Plan()
        try:
            for edit in fix.edits:
                draft = plan.drafts.get(edit.path) or Draft(self.site(edit.path))
                plan.drafts[edit.path] = draft
                draft.replace(edit.span, edit.content)
        except Refused as refusal:
            return str(refusal)
        return "nothing to change" if plan.is_empty else plan

    def edits(self, plans: Iterable[Plan]) -> list[Edit]:
        """The text edits of `plans`, none of which conflict, with the imports tidied. Raises Refused."""
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
            result += edits + import_edits(self.site(path), imports, edits)
        return sorted(result, key=lambda edit: (edit.path, edit.span))


@functools.lru_cache(maxsize=2)
def _recent_site(source: SourceFile) -> Site:
    return Site(source)


def resolve(request: FixRequest, sources: Mapping[str, SourceFile]) -> Fix | str:
    """The text edits of a fix, or the reason why it is refused.

    `sources` maps the paths that the steps name to the files. Fixes of one file are best resolved in a row: it is then
    parsed once.
    """
    workspace = Workspace(sources, _recent_site)
    plan = workspace.plan(request)
    if isinstance(plan, str):
        return plan
    try:
        edits = workspace.edits([plan])
    except Refused as refusal:
        return str(refusal)
    return Fix(request.safety, request.message, tuple(edits))
