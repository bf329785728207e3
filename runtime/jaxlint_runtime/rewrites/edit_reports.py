"""The reports about edits of the source: why each is kept or not, and the gain of all kept ones together."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.rewrites.edit_timing import LEAST_PAIRS, timed
from jaxlint_runtime.rewrites.original_program import Original
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.run_figures import (
    allowed_slowdown,
    cost_of,
    figures_in_words,
    figures_of,
    is_slower_in_one,
    measured,
    no_promise,
)
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.rewrites.tried_edit import Tried, described


@dataclass(slots=True)
class EditReports:
    """The results of the edits that were tried against one original."""

    original: Original

    def before(self, one: Tried) -> Trial:
        """The run that an edit is compared with."""
        return one.before or self.original.base

    def where(self, one: Tried) -> str:
        """The words for an edit that was not tried on the original program."""
        return "" if self.before(one) is self.original.base else " on top of other edits"

    def verdict(self, one: Tried) -> str:
        """Why an edit that ran is not kept."""
        before = self.before(one)
        why = no_promise(before, one.trial)
        why = (
            why
            or f"no gain on top of the edits kept; one run{self.where(one)}: {figures_of(before, one.trial)}"
        )
        return f"{one.rewrite.summary}: {why}"

    def together(self, whole: Tried, lacking: str) -> None:
        """Why edits that ran together are not kept together."""
        names = " + ".join(f"{one.rewrite.name} in {one.rewrite.function}" for one in whole.parts)
        problem = whole.problem or f"{lacking}: {figures_of(self.original.base, whole.trial)}"
        status = Status.FAILED if whole.trial.failure else Status.REJECTED
        self.report(whole.rewrite, status, f"{names}: {problem}", whole)

    def conclude(self, kept: Tried, chosen: Sequence[Tried]) -> bool:
        """Times the edited program against the original and reports; returns whether it is proven."""
        summary = "; ".join(dict.fromkeys(described(one.rewrite) for one in chosen))
        first = chosen[0].rewrite
        rewrite = dataclasses.replace(
            first, name=first.name if len(chosen) == 1 else "source", summary=summary
        )
        if self.original.errors:
            reason = f"{summary}: the program failed before, and now its results agree with those without jit"
            self.report(rewrite, Status.VERIFIED, reason, kept)
            return True
        if kept.trial.earlier and self.original.run.request.source_first:  # before it is written
            now = self.original.tried_now(kept.rewrite, kept.sources)
            if now.problem is not None:
                self.report(rewrite, Status.REJECTED, f"{summary}: {now.problem}", now)
                return False
        pairs = timed(self.original, kept)
        result = self.result_of(rewrite, kept)
        if len(pairs) > 1 and all(before is pairs[0][0] for before, _ in pairs):
            result.evidence += "; the original ran once"
        gain = measured(result, pairs)
        result.earlier = result.earlier or next((one.earlier for _, one in pairs if one.earlier), "")
        total = result.ratios["total"]
        better = gain.better and total.median >= 1 / allowed_slowdown(self.original.base)
        if len(pairs) < LEAST_PAIRS:  # the median of two hides one in which it was slower
            better = better and not is_slower_in_one(pairs)
        if len(pairs) == 1:  # another load may have slowed down one of the two
            better = better and all(before.cpu_s >= 2 * after.cpu_s for before, after in pairs)
        result.status = Status.VERIFIED if better else Status.REJECTED
        result.reason = f"{summary}: {figures_in_words(result)}"
        if len(chosen) > 1 and any(one.trial is not chosen[0].trial for one in chosen):
            each = "; ".join(
                f"{one.rewrite.name} in {one.rewrite.function}{self.where(one)}: "
                f"{figures_of(self.before(one), one.trial)}"
                for one in chosen
            )
            result.evidence += f"; one run of each edit: {each}"
        self.original.run.report(result)
        return better

    def report(
        self,
        rewrite: Rewrite,
        status: Status,
        reason: str,
        tried: Tried | None = None,
        before: Trial | None = None,
    ) -> None:
        result = self.result_of(rewrite, tried, before)
        result.status, result.reason = status, reason
        self.original.run.report(result)

    def result_of(self, rewrite: Rewrite, tried: Tried | None, before: Trial | None = None) -> Result:
        """The result of an edit's run; the caller adds its status and reason."""
        result = Result(
            function=rewrite.function,
            path=rewrite.path,
            line=self.original.run.document.line_of(rewrite.path, rewrite.function, rewrite.line),
            code=rewrite.code,
            candidate=f"source:{rewrite.name}" if rewrite.name != "source" else "source",
            status=Status.REJECTED,
            evidence=tried.evidence if tried else "nothing was run",
            reason="",
            numerics=tried.numerics if tried else None,
            codemod=rewrite.codemods,
        )
        if tried is not None and tried.trial.failure is None and not self.original.errors:
            result.before, result.after = cost_of(before or self.original.base), cost_of(tried.trial)
        result.earlier = "" if tried is None else tried.trial.earlier
        return result
