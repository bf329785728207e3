"""Times the edited program against the original, in pairs of processes."""

from __future__ import annotations

import time

from jaxlint_runtime.proof.gain import BETWEEN_PROCESSES
from jaxlint_runtime.rewrites.original_program import Original
from jaxlint_runtime.rewrites.run_figures import is_slower_in_one, ratios
from jaxlint_runtime.rewrites.stored_runs import version_name
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.rewrites.tried_edit import PLAIN, Tried
from jaxlint_runtime.spent import PAIRS

LEAST_PAIRS = 3
_PAIRS = (LEAST_PAIRS, 8)  # of runs in the final timing: least and most
# the least ratio of one pair, and of the first runs of both versions, that needs no second pair
_MANIFEST = 2.0
_PAIR_COSTS = 1.8  # runs of the original, in processor time, where the gain is small
_SLACK = 0.9  # times the first runs of both versions that must remain: these include the start of a process
_AMPLE = (
    3.0  # times less time and processor time in the first runs, after which the original does not run again
)
_CLEAR = 1.2  # the lower bound of a ratio that needs no more runs


def timed(original: Original, kept: Tried) -> list[tuple[Trial, Trial]]:
    """Pairs of runs in the order A B B A: at least three, fewer for a plain gain, more while there is time. An ample gain
    needs no second run of the original. Where there is time for one pair alone, the runs in which values were compared count as
    another, if both pairs show a clear gain."""
    pairs: list[tuple[Trial, Trial]] = []
    compared = (original.base, kept.trial)  # the runs in which values were compared
    limit = 6 * original.base.total_s + 30
    until = time.monotonic() + max(original.deadline - time.monotonic(), 4 * original.base.total_s)
    while len(pairs) < _PAIRS[0] or (len(pairs) < _PAIRS[1] and time.monotonic() < until):
        pair = _pair(original, kept, len(pairs), limit)
        if pair is None:
            break
        pairs.append(pair)
        shown = ratios(pairs)
        # if even the medians say too little, more runs rarely help
        decided = (
            max(one.low for one in shown) >= _CLEAR or max(one.median for one in shown) < BETWEEN_PROCESSES
        )
        if len(pairs) >= _PAIRS[0] and (decided or not original.can_pay(_PAIR_COSTS)):
            break
        agreed = max(one.low for one in ratios([*pairs, compared]))
        manifest = agreed >= (PLAIN if len(pairs) > 1 else _MANIFEST)
        if manifest and not is_slower_in_one([*pairs, compared]):
            return pairs if len(pairs) > 1 else [*pairs, compared]
    if len(pairs) == 1 and all(is_clear(*one) for one in [*pairs, compared]):
        pairs.append(compared)
    return pairs or [compared]


def _pair(original: Original, kept: Tried, number: int, limit: float) -> tuple[Trial, Trial] | None:
    """A run of the original and one of the edited program, the one that comes first in turn; None if there is no time or
    one fails."""
    stored, question = original.stored, f"pair {number} {version_name(kept.sources)}"
    known = stored.pair(question) if stored is not None else None
    if known is not None:
        return known
    if not original.run.request.has_time(_SLACK * (original.base.total_s + kept.trial.total_s)):
        return None
    if number == 0 and is_ample(original.base, kept.trial):  # another load does not make such a difference
        original.run.listener.progress("timing the edited program again")
        again = original.trials.run(kept.sources, limit, keep=False, purpose=PAIRS)[0]
        if again.failure is None and is_ample(original.base, again):
            return _kept(original, question, (original.base, again))
    turned = number % 2 == 1
    order = (kept.sources, original.sources) if turned else (original.sources, kept.sources)
    original.run.listener.progress(f"timing the edited program, pair {number + 1}")
    runs = [original.trials.run(sources, limit, keep=False, purpose=PAIRS)[0] for sources in order]
    if any(one.failure for one in runs):
        return None
    return _kept(original, question, (runs[1], runs[0]) if turned else (runs[0], runs[1]))


def _kept(original: Original, question: str, pair: tuple[Trial, Trial]) -> tuple[Trial, Trial]:
    if original.stored is not None:
        original.stored.keep_pair(question, pair)
    return pair


def is_clear(before: Trial, after: Trial) -> bool:
    """Whether two runs differ by more than other work explains: in time and in processor time, compiling included."""
    return (
        not before.earlier
        and not after.earlier
        and before.total_s >= _CLEAR * after.total_s
        and before.cpu_s >= _CLEAR * after.cpu_s > 0
    )


def is_ample(before: Trial, after: Trial) -> bool:
    """Whether a gain is so large that one run of the original is enough: in time and in processor time."""
    return (
        not before.earlier
        and before.total_s >= _AMPLE * after.total_s
        and before.cpu_s >= _AMPLE * after.cpu_s > 0
    )
