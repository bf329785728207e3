"""The claims about a version's gain over another. This module decides and words them; the reports only print
them.

A gain in time, or in another measured figure, is claimed if the whole interval is on one side of 1, beyond what noise
can fake. Bytes in the compiler's plan are exact, so they have no interval. A ratio that supports no claim is never
shown.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.report_forms import ResultJson
from jaxlint_runtime.timing_noise import agreement, beyond_noise
from jaxlint_runtime.wording.units import size, times

# share of the blocks: other load comes in bursts, which the bootstrap mistakes for a difference
_AGREEING = 0.9
BETWEEN_PROCESSES = 1.06  # the least lower bound for comparisons of whole programs
_LEAST_PAIRS = 2  # of runs of whole programs: one has no interval
_BY_FAR = 2.5  # the least ratio of time that a single pair may show
_COMPILER_GAIN = 1.02  # the least ratio of two compiler estimates of time that supports a claim
_COMPILER_LOSS = 1.25  # an estimate must be this much worse to outweigh certain memory savings
# A memory saving supports a claim from this share of the whole, or this many bytes, and in any case from one page.
_LEAST_SHARE, _LEAST_BYTES, _PAGE = 0.01, 2**20, 4096
# Values that are computed in a coarser dtype need this many bytes in any case: kilobytes do not pay for other values.
_COARSER_THAN = 1e-3  # the tolerance of a comparison; that of float32 is 3e-5, of bfloat16 3e-2
_MORE_MEMORY = 1.05  # a gain in time may cost no more than this
_PROVEN = ("verified", "compiled")


class Ratio(Protocol):
    """A median with its interval."""

    @property
    def median(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class Claim(enum.StrEnum):
    """The claim about one figure."""

    BETTER = "better"
    WORSE = "worse"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two versions: how many times less the second needs, and the claim about it.

    `exact`: without an interval. `doubt` is why there is no claim though the interval excludes 1.
    """

    what: str  # "time", "memory", "compile time"
    kind: str  # "measured", "compiler"
    claim: Claim
    ratio: float
    low: float
    high: float
    exact: bool = False
    doubt: str = ""

    @property
    def better(self) -> bool:
        return self.claim is Claim.BETTER

    @property
    def worse(self) -> bool:
        return self.claim is Claim.WORSE

    @property
    def factor(self) -> float:
        """The reliable factor: 1 without a claim."""
        return 1.0 if self.claim is Claim.NONE else self.ratio

    @property
    def cell(self) -> str:
        """For a table: "1.25x [1.20, 1.30]", "not clear [0.93, 1.80]", "1.25x (compiler)"."""
        if self.exact:
            return f"{times(self.ratio)}x" + ("" if self.kind == "measured" else f" ({self.kind})")
        span = f"[{times(self.low)}, {times(self.high)}]"
        return f"not clear {span}" if self.claim is Claim.NONE else f"{times(self.ratio)}x {span}"

    @property
    def text(self) -> str:
        """For a sentence: "1.25x as fast, 1.20 to 1.30", "no difference in memory beyond noise, 0.93 to 1.80 times less"."""
        timed = self.what == "time"
        if self.claim is Claim.NONE and not self.exact:
            what, of = ("", "as fast") if timed else (f" in {self.what}", "less")
            return f"no difference{what} beyond noise: {times(self.low)} to {times(self.high)} times {of}{self.doubt}"
        ratio, low, high, of = self.ratio, self.low, self.high, "as fast"
        if not timed:
            of = f"less {self.what}"
            if self.ratio < 1:
                ratio, low, high, of = 1 / ratio, 1 / high, 1 / max(low, 1e-9), f"more {self.what}"
        if low == high and self.doubt:
            return f"{times(ratio)}x {of}{self.doubt}"
        return f"{times(ratio)}x {of}" + ("" if self.exact else f", {times(low)} to {times(high)}")

    @property
    def brief(self) -> str:
        """The claim in a few words: "1.25x as fast", "1.25x as fast (compiler)", "43% less memory"; "" without a
        claim."""
        if not self.better:
            return ""
        kind = "" if self.kind == "measured" else f" ({self.kind})"
        if self.what == "time":
            return f"{times(self.ratio)}x as fast{kind}"
        return f"{1 - 1 / self.ratio:.0%} less {self.what}"


@dataclass(frozen=True, slots=True)
class Gain:
    """A version compared with another; None for figures that are not known for both. `whole`: for programs, from
    start to end."""

    time: Change | None
    memory: Change | None
    compile: Change | None
    whole: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(one for one in (self.time, self.memory, self.compile) if one is not None)

    @property
    def better(self) -> bool:
        """Whether a gain in any figure may be claimed."""
        return any(one.better for one in self.changes)

    @property
    def brief(self) -> str:
        """All claims: "1.25x as fast, 43% less memory"."""
        return ", ".join(one.brief for one in self.changes if one.better)

    @property
    def faster(self) -> bool:
        return self.time is not None and self.time.better

    @property
    def slower(self) -> bool:
        return self.time is not None and self.time.worse

    @property
    def smaller(self) -> bool:
        return self.memory is not None and self.memory.better

    @property
    def bigger(self) -> bool:
        return self.memory is not None and self.memory.worse

    @property
    def costs_no_time(self) -> bool:
        """Whether the time is known and nothing suggests that it is longer: written edits may not trade time."""
        return self.time is not None and self.time.high >= 1.0

    @property
    def weight(self) -> float:
        """For ranking: the claims in time and memory together."""
        return sum(math.log(one.factor) for one in (self.time, self.memory) if one is not None)

    def improves(self, *, trade: bool = False) -> bool:
        """Whether a function improves: smaller and not slower, or faster and not bigger. `trade`: memory may cost
        time."""
        return (self.smaller and (trade or not self.slower)) or (self.faster and not self.bigger)

    @property
    def lack(self) -> str:
        """Why it does not improve."""
        if self.bigger or self.slower:
            return "more memory" if self.bigger else "slower"
        return "no gain beyond noise and page rounding"

    def as_json(self) -> dict[str, Any]:
        """The form in results of the JSON report: for each figure the `claim`, its ratio with the interval, and the
        words."""
        names = ("time", "memory", "compile")
        return {
            name: _plain(one) for name, one in zip(names, (self.time, self.memory, self.compile), strict=True)
        }


def _plain(change: Change | None) -> dict[str, Any] | None:
    if change is None:
        return None
    figures = {"ratio": change.ratio, "low": change.low, "high": change.high}
    return {"claim": change.claim.value, "kind": change.kind, **figures, "text": change.text}


def gain_of(result: Any) -> Gain:
    """The claims of a result of the report; `result` is a `model.Result` or its JSON form."""
    if not isinstance(result, Mapping):
        result = to_plain(result)
    before, after = result.get("before") or {}, result.get("after") or {}
    speedup, ratios = result.get("speedup"), result.get("ratios") or {}
    if ratios:
        pairs = result.get("pairs") or 0
        parts = (("time", speedup), ("memory", ratios.get("memory")), ("compile time", ratios.get("compile")))
        time, memory, compiling = (
            None if one is None else between_runs(what, pairs, one["median"], one["low"], one["high"])
            for what, one in parts
        )
        return Gain(time, memory, compiling, whole=True)
    coarser = (result.get("numerics") or {}).get("tolerance", 0.0) > _COARSER_THAN
    time = _time(before, after, speedup, result.get("pairs_ms") or ())
    return Gain(time, _memory(before, after, coarser), None)


def _time(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    speedup: Mapping[str, Any] | None,
    pairs: Sequence[Sequence[float]],
) -> Change | None:
    if speedup is None:
        return None
    median, low, high = speedup["median"], speedup["low"], speedup["high"]
    kind = after.get("time_kind") or "measured"
    if kind != "measured":
        claim = (
            Claim.BETTER
            if median >= _COMPILER_GAIN
            else Claim.WORSE
            if median <= 1 / _COMPILER_LOSS
            else Claim.NONE
        )
        return Change("time", kind, claim, median, low, high, exact=True)
    times = [(cost.get("time_ms") or {}).get("median") or 0.0 for cost in (before, after)]
    return between_calls(median, low, high, times[0], times[1], agreement(pairs, median))


def between_calls(
    median: float, low: float, high: float, before_ms: float, after_ms: float, agreeing: float
) -> Change:
    """The claim about two call times that were measured in blocks; `agreeing` is as in `agreement`."""
    claim, doubt = Claim.NONE, ""
    if beyond_noise(median, low, before_ms):
        claim = Claim.BETTER
    elif beyond_noise(1 / median, 1 / high, after_ms):
        claim = Claim.WORSE
    if agreeing < _AGREEING:
        claim = Claim.NONE
        if low > 1 or high < 1:
            doubt = f", and {1 - agreeing:.0%} of the blocks disagree"
    return Change("time", "measured", claim, median, low, high, doubt=doubt)


def between_runs(what: str, pairs: int, median: float, low: float, high: float) -> Change:
    """The claim about a figure of whole programs, measured in so many pairs of fresh processes."""
    claim, doubt = Claim.NONE, ""
    if low >= BETWEEN_PROCESSES:
        claim = Claim.BETTER
    elif high <= 1 / BETWEEN_PROCESSES:
        claim = Claim.WORSE
    if pairs < _LEAST_PAIRS and claim is not Claim.NONE:
        by_far = pairs and what != "memory" and low >= _BY_FAR
        claim, doubt = claim if by_far else Claim.NONE, ", measured only once"
    return Change(what, "measured", claim, median, low, high, doubt=doubt)


def _memory(before: Mapping[str, Any], after: Mapping[str, Any], coarser: bool) -> Change | None:
    """Bytes in the compiler's plans. `coarser`: of a version that computes in a coarser dtype."""
    old, new = before.get("peak_bytes"), after.get("peak_bytes")
    if not old or new is None:
        return None
    claim = Claim.NONE
    least = _LEAST_BYTES if coarser else max(_PAGE, min(_LEAST_BYTES, _LEAST_SHARE * old))
    if old - new >= least:
        claim = Claim.BETTER
    elif new > _MORE_MEMORY * old:
        claim = Claim.WORSE
    ratio = old / max(new, 1)
    return Change("memory", "compiler", claim, ratio, ratio, ratio, exact=True)


def figures(result: Any) -> str:
    """Memory and time of a function, before and after, in words."""
    before, after, gain = result.before, result.after, gain_of(result)
    parts = []
    if before.peak_bytes and after.peak_bytes is not None:
        share = after.peak_bytes / before.peak_bytes
        bounds = ["at least " if cost.fits is False else "" for cost in (before, after)]
        sizes = f"{bounds[0]}{size(before.peak_bytes)} to {bounds[1]}{size(after.peak_bytes)}"
        fits = ""
        if before.fits is False:
            fits = ", which does not fit the device" if after.fits is False else ", which fits the device"
        parts.append(f"memory {sizes} ({share:.2f}x){fits}")
    if before.time_ms and after.time_ms and gain.time is not None:
        parts.append(
            f"{before.time_kind} time {before.time_ms.median:.3g} to {after.time_ms.median:.3g} ms ({gain.time.text})"
        )
    return ", ".join(parts) or "no figures"


# ---- counts ----


@dataclass(frozen=True, slots=True)
class Tally:
    """Among the tried candidates: how many were proven by running, and for how many more a compiler shows a gain."""

    verified: int
    compiled: int
    tried: int

    @property
    def proven(self) -> int:
        return self.verified or self.compiled

    @property
    def text(self) -> str:
        """One sentence, without its full stop."""
        said = f"{self.verified} of {self.tried} candidate{'s' if self.tried != 1 else ''} proven"
        if self.compiled:
            more = f"{self.compiled} more" if self.verified else str(self.compiled)
            said += f", {more} by the compiler alone (values checked here, gain not measured)"
        return said

    def as_json(self) -> dict[str, Any]:
        return {"verified": self.verified, "compiled": self.compiled, "tried": self.tried, "text": self.text}


def is_proven(result: ResultJson) -> bool:
    """Whether a result may be called an improvement."""
    return result["candidate"] != "original" and result["status"] in _PROVEN


def tally(results: Sequence[ResultJson]) -> Tally:
    """Counts results of candidates: those that were tried, with any outcome."""
    tried = [
        one
        for one in results
        if one["candidate"] not in ("original", "all") and one["status"] != "not-applicable"
    ]
    verified = sum(one["status"] == "verified" for one in tried)
    return Tally(verified, sum(is_proven(one) for one in tried) - verified, len(tried))
