"""Whether rows may be added to arguments of a traced function without a change of its results.

A function that receives arrays of other lengths in each call compiles for each length. A person pads them to one length: with
zeros, or indices with one beyond every axis, which JAX drops where it adds rows (`segment_sum`). The results are the same if the
added rows reach none of them. The program is traced at two sizes, so that an axis that was padded is known by its size, and a
number that depends on the length by its value. From the arguments on, each equation tells what the added rows of its result hold
(`padding_rules.py`). A sum, mean or maximum over them needs a mask, so the place of its call is told.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxlint_runtime.compat import Literal, inner_jaxprs, open_jaxpr, scan_counts, user_places
from jaxlint_runtime.inspection.padding_rules import Blocked, Fill, Known, Step, after, joined

SIZES = (
    (11, 13),
    (17, 23),
    (29, 41),
    (43, 67),
)  # of each group of axes, in the two traces; no other axis has such a pair
_ROUNDS = 8  # of a loop's body, until what its carries hold is known
_CALLS = frozenset(
    [
        "jit",
        "pjit",
        "closed_call",
        "core_call",
        "custom_jvp_call",
        "custom_vjp_call",
        "custom_vjp_call_jaxpr",
        "remat",
        "remat2",
        "checkpoint",
    ]
)
_REDUCING = ("reduce_", "arg")
Place = tuple[str, int, int, int, int]  # file, and the first and last line and column of an expression


@dataclass(frozen=True, slots=True)
class Mask:
    """A call that reduces an axis with added rows: the group of the axis, its number, the number of axes of the array, and whether it
    holds floats. `chains`: the calls around it, the innermost first, as the program reaches it."""

    group: int
    axis: int
    rank: int
    floats: bool
    chains: frozenset[tuple[Place, ...]] = frozenset()


@dataclass(slots=True)
class Padding:
    """How to pad: a fill for each of the arguments that have a padded axis, and the calls that need a mask, by their places."""

    fills: list[Fill]
    masks: dict[Place, Mask] = field(default_factory=dict)


def padding(one: Any, other: Any, kinds: Sequence[str | None]) -> Padding:
    """How the arguments of a program may be padded. `one` and `other`: its jaxprs at the two `SIZES`; `kinds`: "i" for each argument of
    integers that is padded, "f" for another one, None for one that is not. Raises Blocked with the reason of the best way."""
    ways = [
        ((Fill.OUTSIDE, Fill.ZERO) if kind == "i" else (Fill.ZERO,)) if kind else (Fill.FINITE,)
        for kind in kinds
    ]
    best: Padding | None = None
    reason: Blocked | None = None
    for fills in itertools.islice(itertools.product(*ways), 32):
        try:
            found = _masked(one, other, fills)
        except Blocked as blocked:
            reason = reason or blocked
            continue
        if best is None or len(found.masks) < len(best.masks):
            best = found
        if not best.masks:
            break
    if best is None:
        assert reason is not None
        raise reason
    return best


def _masked(one: Any, other: Any, fills: Sequence[Fill]) -> Padding:
    """How the program works with these fills: with masks where a reduction needs them. Raises Blocked."""
    found = Padding(list(fills))
    while True:
        walk = _Walk(found.masks)
        try:
            results = walk.run(one, other, [Known(fill) for fill in fills])
        except Blocked as blocked:
            place = walk.place
            if place is None or not blocked.reduces or place in found.masks or place not in walk.reductions:
                raise
            found.masks[place] = walk.reductions[place]
            continue
        for result, axes in results:
            if axes:
                raise Blocked("a result has the axis")
            if result.size or result.beyond is not None or result.fill is Fill.NAN:
                raise Blocked("a result depends on the length")
        for place, mask in list(found.masks.items()):
            found.masks[place] = dataclasses.replace(mask, chains=frozenset(walk.chains.get(place, ())))
        return found


class _Walk:
    """One pass over the two programs. `place`: the call of the present equation; `reductions`: the calls that reduce a padded axis."""

    def __init__(self, masks: Mapping[Place, Mask]) -> None:
        self.masks = masks
        self.place: Place | None = None
        self.reductions: dict[Place, Mask] = {}
        self.chains: dict[Place, set[tuple[Place, ...]]] = {}

    def run(self, one: Any, other: Any, given: Sequence[Known]) -> list[tuple[Known, Mapping[int, int]]]:
        """What the results of a program hold, each with its padded axes. Raises Blocked."""
        first, second = open_jaxpr(one), open_jaxpr(other)
        if [eqn.primitive for eqn in first.eqns] != [eqn.primitive for eqn in second.eqns]:
            raise Blocked("the program does other operations for another length")
        known: dict[Any, Known] = dict(zip(first.invars, given, strict=True))
        consts = itertools.zip_longest(first.consts, second.consts)
        for var, same, values in itertools.zip_longest(
            first.constvars, second.constvars, consts, fillvalue=(0, 0)
        ):
            if _axes(var, same):
                raise Blocked("a constant has the length")
            known[var] = Known(size=not _equal(*values))
        for eqn, twin in zip(first.eqns, second.eqns, strict=True):
            operands = [_of(atom, same, known) for atom, same in zip(eqn.invars, twin.invars, strict=True)]
            self.place, chain = _place_of(eqn)
            if self.place is not None:
                self.chains.setdefault(self.place, set()).add(chain)
            found = list(self._results(eqn, twin, operands))
            known.update(zip(eqn.outvars, found, strict=True))
        return [
            (_of(atom, same, known), _axes(atom, same))
            for atom, same in zip(first.outvars, second.outvars, strict=True)
        ]

    def _results(self, eqn: Any, twin: Any, operands: Sequence[Known]) -> Iterator[Known]:
        name = eqn.primitive.name
        inner, others = inner_jaxprs(eqn), inner_jaxprs(twin)
        if name in _CALLS and inner:
            return iter(self._inside(inner[0][1], others[0][1], operands))
        if name == "scan":
            return iter(self._scan(eqn, twin, operands))
        if name == "while":
            return iter(self._while(eqn, twin, operands))
        if name == "cond":
            return iter(self._cond(eqn, twin, operands))
        step = Step(
            name,
            eqn.params,
            [_axes(a, b) for a, b in zip(eqn.invars, twin.invars, strict=True)],
            [_axes(a, b) for a, b in zip(eqn.outvars, twin.outvars, strict=True)],
            [_shape(one) for one in eqn.invars],
            [_shape(one) for one in eqn.outvars],
            list(eqn.invars),
            self.place in self.masks,
        )
        if name.startswith(_REDUCING) and "axes" in eqn.params and self.place is not None:
            over = [axis for axis in eqn.params["axes"] if axis in step.axes[0]]
            if len(over) == 1:
                floats = np.dtype(eqn.invars[0].aval.dtype).kind == "f"
                mask = Mask(step.axes[0][over[0]], over[0], len(step.shapes[0]), floats)
                self.reductions.setdefault(self.place, mask)
        if not any((*step.axes, *step.results)) or name == "integer_pow":
            for key, value in eqn.params.items():
                if repr(value) != repr(twin.params[key]) and "jaxpr" not in key:
                    raise Blocked(f"`{name}` uses the length")
        found = after(step, operands)
        return iter([found] * len(eqn.outvars))

    def _inside(self, one: Any, other: Any, operands: Sequence[Known]) -> list[Known]:
        return [known for known, _ in self.run(one, other, operands)]

    def _scan(self, eqn: Any, twin: Any, operands: Sequence[Known]) -> list[Known]:
        if eqn.params["length"] != twin.params["length"]:
            raise Blocked("a loop runs over the axis")
        consts, carries = scan_counts(eqn)
        body, other = inner_jaxprs(eqn)[0][1], inner_jaxprs(twin)[0][1]

        def turn(carry: Sequence[Known]) -> list[Known]:
            return self._inside(body, other, [*operands[:consts], *carry, *operands[consts + carries :]])

        return self._settled(turn, operands[consts : consts + carries])

    def _while(self, eqn: Any, twin: Any, operands: Sequence[Known]) -> list[Known]:
        bodies, others = dict(inner_jaxprs(eqn)), dict(inner_jaxprs(twin))
        split = eqn.params["cond_nconsts"]
        start = split + eqn.params["body_nconsts"]

        def turn(carry: Sequence[Known]) -> list[Known]:
            self._inside(bodies["cond_jaxpr"], others["cond_jaxpr"], [*operands[:split], *carry])
            return self._inside(bodies["body_jaxpr"], others["body_jaxpr"], [*operands[split:start], *carry])

        return self._settled(turn, operands[start:])

    def _settled(self, turn: Any, carry: Sequence[Known]) -> list[Known]:
        """What the results of a loop hold: each turn may change what the carries do."""
        carry = list(carry)
        for _ in range(_ROUNDS):
            found = turn(carry)
            both = [_both(old, new) for old, new in zip(carry, found[: len(carry)], strict=True)]
            if both == carry:
                return [*carry, *found[len(carry) :]]
            carry = both
        raise Blocked("a loop changes the axis in each turn")

    def _cond(self, eqn: Any, twin: Any, operands: Sequence[Known]) -> list[Known]:
        pairs = zip(inner_jaxprs(eqn), inner_jaxprs(twin), strict=True)
        ways = [self._inside(one, other, operands[1:]) for (_, one), (_, other) in pairs]
        return [_both(*way) for way in zip(*ways, strict=True)]


def _both(*ways: Known) -> Known:
    """What a value holds that is one of several."""
    if all(one == ways[0] for one in ways):
        return ways[0]
    of_length = any(one.size or one.beyond is not None for one in ways)
    return Known(joined([one.fill for one in ways]), size=of_length)


def _of(atom: Any, twin: Any, known: Mapping[Any, Known]) -> Known:
    """What a variable or a literal holds."""
    if not isinstance(atom, Literal):
        return known[atom]
    if not isinstance(twin, Literal) or not np.array_equal(np.asarray(atom.val), np.asarray(twin.val)):
        return Known(size=True)
    return Known(Fill.ZERO if not np.any(np.asarray(atom.val)) else Fill.FINITE)


def _equal(one: Any, other: Any) -> bool:
    """Whether a constant is the same in both traces."""
    return one is other or bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _shape(atom: Any) -> tuple[int, ...]:
    return tuple(getattr(atom.aval, "shape", ()))


def _axes(atom: Any, twin: Any) -> dict[int, int]:
    """The padded axes of a value, each with its group. Raises Blocked for one that is part of another axis."""
    found = {}
    shapes = _shape(atom), _shape(twin)
    if len(shapes[0]) != len(shapes[1]):
        raise Blocked("the program does other operations for another length")
    for axis, pair in enumerate(zip(*shapes, strict=True)):
        if pair in SIZES:
            found[axis] = SIZES.index(pair)
        elif pair[0] != pair[1]:
            raise Blocked("the axis is joined with another")
    return found


def _place_of(eqn: Any) -> tuple[Place | None, tuple[Place, ...]]:
    places = user_places(eqn)
    return (places[0], tuple(places[1:])) if places else (None, ())
