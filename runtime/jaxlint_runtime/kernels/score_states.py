"""The states of values that depend on the product of queries and keys, in a forward walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.kernels.axis_labels import Axes, Label
from jaxlint_runtime.kernels.outside_operands import Outside


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on the scores or the exponentials: scale, factor, bias, cap or mask."""

    kind: str
    number: float = (
        # a scale; the sign of a bias; 1 for a mask that keeps where it is true, 0 for one that keeps where it is
        # false
        0.0
    )
    outside: Outside | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The product of queries and keys, after `steps`, minus the row constants in `shift`."""

    axes: Axes
    steps: tuple[Step, ...] = ()
    shift: frozenset[Any] = frozenset()


@dataclass(frozen=True, slots=True)
class Exponentials:
    """exp(scores - shift), partly set to zero by `steps`."""

    axes: Axes
    scores: Scores
    steps: tuple[Step, ...] = ()

    @property
    def key(self) -> Any:
        """The key in which the exponentials and their sum must agree."""
        return (self.scores.steps, self.scores.shift, self.steps)


@dataclass(frozen=True, slots=True)
class Row:
    """A row constant. `kind`: "sum" of exponentials, its "inverse" or "terms", a sum of such constants."""

    axes: Axes
    kind: str
    key: Any = None  # of the summed exponentials
    over: frozenset[Label] = frozenset()
    scores: Scores | None = None
    terms: frozenset[Any] = frozenset()  # (what, labels); what is a value, or ("log", key, over) for a sum


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
    """Weights times values. While `key` is not None, the exponentials are not yet divided by their sum."""

    axes: Axes
    exponentials: Exponentials | None
    weights: Weights | None
    over: frozenset[Label]
    values: Outside


@dataclass(frozen=True, slots=True)
class Marked:
    """Scores times a one-hot mask of each row."""

    axes: Axes
    scores: Scores
    label: Outside


@dataclass(frozen=True, slots=True)
class Picked:
    """The score at one position of each row, minus the constants in `shift`, times `sign`."""

    axes: Axes
    scores: Scores
    label: Outside
    shift: frozenset[Any]
    sign: float = 1.0


State = Scores | Exponentials | Row | Weights | Products | Marked | Picked


def logarithms(terms: frozenset[Any]) -> frozenset[Any]:
    """The terms that are logarithms of sums of exponentials."""
    return frozenset(term for term in terms if isinstance(term[0], tuple) and term[0][0] == "log")


def complete(picked: Picked) -> bool:
    """Whether the subtracted value is the logarithm of the sum of all exponentials of the row."""
    logs = logarithms(picked.shift)
    if len(logs) != 1:
        return False
    ((_, key, over), _) = next(iter(logs))
    rest = picked.shift - logs
    return key == (picked.scores.steps, rest, ()) and not any(own & over for _, own in rest)
