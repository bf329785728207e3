"""What is known of a value that depends on the product of queries and keys, while it is followed forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.kernels.axis_labels import Axes, Label
from jaxlint_runtime.kernels.outside_operands import Outside


@dataclass(frozen=True, slots=True)
class Step:
    """What was done to the scores, or to the exponentials: scale, factor, bias, cap or mask."""

    kind: str
    number: float = (
        0.0  # a scale; the sign of a bias; 1 for a mask that keeps where it holds, 0 where it does not
    )
    outside: Outside | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The product of queries and keys, after `steps`, less the constants of the row in `shift`."""

    axes: Axes
    steps: tuple[Step, ...] = ()
    shift: frozenset[Any] = frozenset()


@dataclass(frozen=True, slots=True)
class Exponentials:
    """exp(scores - shift), some of them set to zero by `steps`."""

    axes: Axes
    scores: Scores
    steps: tuple[Step, ...] = ()

    @property
    def key(self) -> Any:
        """What the exponentials and their sum must agree in."""
        return (self.scores.steps, self.scores.shift, self.steps)


@dataclass(frozen=True, slots=True)
class Row:
    """A constant of the row. `kind`: "sum" of exponentials, its "inverse" or "terms", a sum of such constants."""

    axes: Axes
    kind: str
    key: Any = None  # of the exponentials that a sum is of
    over: frozenset[Label] = frozenset()
    scores: Scores | None = None
    terms: frozenset[Any] = frozenset()  # (what, labels); what is a value, or ("log", key, over) of a sum


@dataclass(frozen=True, slots=True)
class Weights:
    """Exponentials divided by their sum over `over`."""

    axes: Axes
    key: Any
    over: frozenset[Label]
    scores: Scores
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Products:
    """Weights times values; of exponentials that are not divided by their sum yet while `key` is not None."""

    axes: Axes
    exponentials: Exponentials | None
    weights: Weights | None
    over: frozenset[Label]
    values: Outside


@dataclass(frozen=True, slots=True)
class Marked:
    """Scores times a mask that is one at one position of each row, and zero elsewhere."""

    axes: Axes
    scores: Scores
    label: Outside


@dataclass(frozen=True, slots=True)
class Picked:
    """The score at one position of each row, less the constants in `shift`, times `sign`."""

    axes: Axes
    scores: Scores
    label: Outside
    shift: frozenset[Any]
    sign: float = 1.0


State = Scores | Exponentials | Row | Weights | Products | Marked | Picked


def logarithms(terms: frozenset[Any]) -> frozenset[Any]:
    """Those of the terms that are logarithms of sums of exponentials."""
    return frozenset(term for term in terms if isinstance(term[0], tuple) and term[0][0] == "log")


def complete(picked: Picked) -> bool:
    """Whether what was subtracted is the logarithm of the sum of all exponentials of the row."""
    logs = logarithms(picked.shift)
    if len(logs) != 1:
        return False
    ((_, key, over), _) = next(iter(logs))
    rest = picked.shift - logs
    return key == (picked.scores.steps, rest, ()) and not any(own & over for _, own in rest)
