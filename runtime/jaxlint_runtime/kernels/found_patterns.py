"""The patterns found in a traced program: attentions and cross-entropies, with labelled axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime import compat
from jaxlint_runtime.kernels.axis_labels import Axes, Label, Sizes
from jaxlint_runtime.kernels.outside_operands import Outside, expression
from jaxlint_runtime.kernels.score_states import Step
from jaxlint_runtime.kernels.value_graph import Node, Value

NEGLIGIBLE = -1e4  # upper bound on the value of a masked score


class Unlike(Exception):
    """The operations after a product are not attention; the message says why, if that is worth reporting."""


@dataclass(eq=False)
class Attention:
    """One attention: its operands with labelled axes, and its result."""

    result: Value
    axes: Axes  # of the result
    queries: Outside
    keys: Outside
    values: Outside
    depth: frozenset[Label]  # the labels that queries and keys are summed over
    positions: frozenset[Label]  # of the keys
    steps: tuple[Step, ...]  # on the scores, including masks on the exponentials
    sizes: Sizes
    product: Node
    compute_dtype: Any  # of the scores
    site: tuple[str, int, str] | None = None
    scores_bytes: int = 0

    @property
    def place(self) -> str:
        """The place that computes the scores."""
        return place_of(self.product)

    @property
    def operands(self) -> list[Value]:
        """The values that it is computed from."""
        read = [
            outside.value for outside in (self.queries, self.keys, self.values) if not outside.value.is_held
        ]
        for step in self.steps:
            read += expression(step.outside, self.sizes).reads() if step.outside is not None else []
        return read


@dataclass(eq=False)
class Likelihood:
    """The log-likelihood of one position in each row of scores, as in a cross-entropy, times `sign`."""

    result: Value
    axes: Axes
    rows: Outside
    table: Outside
    label: Outside
    sign: float
    depth: frozenset[Label]
    positions: frozenset[Label]
    steps: tuple[Step, ...]
    sizes: Sizes
    product: Node
    scores_bytes: int = 0
    # Rows that are slices: of which rows, and the offset.
    cuts: dict[Label, tuple[Label, int]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The place that computes the scores."""
        return place_of(self.product)

    @property
    def operands(self) -> list[Value]:
        """The values that it is computed from."""
        read = [outside.value for outside in (self.rows, self.table) if not outside.value.is_held]
        for outside in (self.label, *(step.outside for step in self.steps)):
            read += expression(outside, self.sizes).reads() if outside is not None else []
        return read


@dataclass
class Found:
    """The attentions of a graph, and near misses with their reasons."""

    attentions: list[Attention] = field(default_factory=list)
    likelihoods: list[Likelihood] = field(default_factory=list)
    near: list[str] = field(default_factory=list)


def place_of(node: Node) -> str:
    """The place that computes an equation's result, as path:line."""
    return next(iter(places_of(node)), "unknown place")


def places_of(node: Node) -> list[str]:
    """The places that compute an equation's result, as path:line, from the inside to the outside."""
    return [f"{path}:{line}" for path, line, _ in compat.user_frames(node.eqn)]
