"""Whether two versions of a function are equivalent: in values and, through the returned updates, in gradients.

An error is relative to the norm of a group of outputs that belong together (the parameters, one moment of the
optimiser, the loss), not to single elements: a gradient that is exactly zero in theory is noise in practice, and
noise has no relative accuracy. If an output is the new value of an input, the change is compared, not the value,
since a wrong gradient hardly moves a parameter. Integers, booleans and random keys must be equal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime import compat
from jaxlint_runtime.model import Numerics

# The relative error of a group of outputs that rounding explains, in units of the compute dtype's epsilon. Float32
# and float64 sums may be reordered over many terms; a half-precision product is rounded once and summed in float32.
# Measured on transformer gradients: 7.7e-3 to 2e-2 for bfloat16, whose epsilon is 7.8e-3.
_UNITS = {"float64": 256.0, "float32": 256.0, "bfloat16": 4.0, "float16": 16.0}
_LEAST_UNITS = 16.0  # multiples of epsilon that are allowed however exact the original is
_LEAF_FACTOR = 100.0  # a single leaf may be off by this many times more of the group's root mean square ...
_LEAF_LIMIT = 0.25  # ... but never by more than this
_SPREAD_FACTOR = 4.0  # and by this many times what rounding the inputs alone does to it
_NOISE = 1e-4  # a leaf with a smaller share of its group's signal is noise
_MEANINGLESS = 0.5  # an error of half the signal is an error, however ill-conditioned the function is


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of one run: host arrays, one per leaf, and their groups."""

    leaves: tuple[np.ndarray, ...]
    paths: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    # By output number: the input that it updates.
    starts: Mapping[int, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures for one draw of inputs, and the first error."""

    numerics: Numerics
    problem: str | None


def tolerance(compute_dtype: str) -> float:
    """The relative error allowed for a group of outputs computed in `compute_dtype`."""
    return _UNITS[compute_dtype] * float(jnp.finfo(compute_dtype).eps)


def calibrated(compute_dtype: str, reference: Outcome, exact: Outcome) -> float:
    """The relative error allowed for a group if the original is also known in double precision.

    The original has some rounding error itself. Another order of the same operations may have a few times that, but
    never more than `tolerance`. `compare` adds the allowance of single groups, from the error of each.
    """
    allowed = tolerance(compute_dtype)
    eps = float(jnp.finfo(compute_dtype).eps)
    own = compare(reference, _cast(exact, reference), allowed).numerics.max_rel
    return min(allowed, max(_LEAST_UNITS * eps, _SPREAD_FACTOR * own))


def _cast(exact: Outcome, like: Outcome) -> Outcome:
    """The same values in the dtypes of `like`; integers from `like`, since a tie may round the other way."""
    leaves = tuple(
        one.astype(two.dtype) if _floats(two) else two
        for one, two in zip(exact.leaves, like.leaves, strict=True)
    )
    return Outcome(leaves, exact.paths, exact.groups, exact.starts)


def outcome(result: Any, starts: Mapping[int, np.ndarray] | None = None) -> Outcome:
    """Transfers a program's results to the host, and finds the groups of leaves."""
    return Outcome(tuple(map(host, jax.tree.leaves(result))), *layout(result), starts or {})


def layout(result: Any) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The paths of a result's leaves, and the numbers of those that belong together."""
    return tuple(path or "the result" for path in compat.named_paths(((result,), {}))), _groups(result)


def host(leaf: Any) -> np.ndarray:
    """A host copy of an array; a typed random key as its integers."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def told(leaf: np.ndarray) -> int:
    """How many values of a leaf can distinguish two versions: NaN cannot, since any operation on NaN gives NaN."""
    return int(leaf.size - np.isnan(leaf).sum()) if _floats(leaf) else int(leaf.size)


def lost(outcome: Outcome) -> str | None:
    """The path of the first leaf that only contains NaN."""
    return next(
        (
            path
            for path, leaf in zip(outcome.paths, outcome.leaves, strict=True)
            if leaf.size and not told(leaf)
        ),
        None,
    )


def identical(left: Outcome, right: Outcome) -> bool:
    """Whether every leaf has the same bits."""
    return len(left.leaves) == len(right.leaves) and all(
        a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(left.leaves, right.leaves, strict=True)
    )


def unchanged(outcome: Outcome) -> Comparison:
    """The comparison of an outcome with one of the same bits, which needs no arithmetic on large arrays."""
    several = any(_floats(leaf) and leaf.size > 1 for leaf in outcome.leaves)
    return Comparison(Numerics(0.0, 0.0, 1.0 if several else None, 0.0, True), None)


def compare(
    reference: Outcome,
    candidate: Outcome,
    allowed: float,
    *,
    rounded: Outcome | None = None,
) -> Comparison:
    """Compares two outcomes of the same inputs.

    `allowed` is the relative error of a group (see `tolerance`). `rounded` is the original's outcome after rounding
    its inputs in the compute dtype: any program in that dtype may differ by as much as this moves a group.
    """
    if len(reference.leaves) != len(candidate.leaves):
        return _broken("a different number of outputs", allowed)
    for path, a, b in zip(reference.paths, reference.leaves, candidate.leaves, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return _broken(f"{path} is {b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}", allowed)
        problem = _exact_problem(a, b)
        if problem:
            return _broken(f"{path}: {problem}", allowed)

    judged = {
        n: _judge(n, reference, candidate, rounded)
        for group in reference.groups
        for n in group
        if _floats(reference.leaves[n])
    }
    noise = _noise(reference.groups, judged)
    max_abs = max((leaf.max_abs for leaf in judged.values()), default=0.0)
    max_rel = 0.0
    used = allowed
    cosines = []
    problem = None
    for group in reference.groups:
        members = [n for n in group if n in judged and n not in noise]
        if not members:
            continue
        leaves = [judged[n] for n in members]
        scale = _norm(leaf.scale for leaf in leaves)
        error = _norm(leaf.error for leaf in leaves)
        floor = _norm(leaf.floor for leaf in leaves)
        spread = _SPREAD_FACTOR * _norm(leaf.spread for leaf in leaves)
        limit = min(allowed * scale + spread, _MEANINGLESS * scale) + floor
        if scale + floor > 0 and error / (scale + floor) > max_rel:
            max_rel = error / (scale + floor)
            used = max(allowed, limit / (scale + floor))
        if sum(leaf.count for leaf in leaves) > 1 and scale > floor:
            cosines.append(_cosine(leaves))
        if problem is None and error > limit:
            name = reference.paths[members[0]] + (" and others" if len(members) > 1 else "")
            norm = scale + floor or 1.0
            problem = f"{name}: relative error {error / norm:.2g}, allowed {limit / norm:.2g}"
        if problem is None and len(members) > 1:
            problem = _leaf_problem(leaves, [reference.paths[n] for n in members], scale, allowed)
    cosine = min(cosines) if cosines else None
    return Comparison(Numerics(max_abs, max_rel, cosine, used, problem is None), problem)


def worst(comparisons: Sequence[Comparison]) -> Comparison:
    """The comparison to report for several draws: a failed one, otherwise the one with the largest error."""
    return max(
        comparisons,
        key=lambda c: (c.problem is not None, c.numerics.max_rel / (c.numerics.tolerance or 1.0)),
    )


def draws(leaves: Sequence[Any], magnitudes: Sequence[float], seed: int) -> list[list[Any]]:
    """The captured inputs and, for each magnitude, a version with scaled and slightly varied floating leaves.

    Zeros and signs are kept: a second moment must not become negative, a mask must remain a mask. Integers, booleans
    and keys are never touched.
    """
    generator = np.random.default_rng(seed)
    varied = [[_varied(leaf, magnitude, 0.1, generator) for leaf in leaves] for magnitude in magnitudes]
    return [list(leaves), *varied]


def rounded_inputs(leaves: Sequence[Any], dtype: str, seed: int) -> list[Any]:
    """The inputs with every floating value moved by half a unit in the last place of `dtype`, up or down."""
    generator = np.random.default_rng(seed)
    step = float(jnp.finfo(dtype).eps) / 2
    return [_varied(leaf, 1.0, step, generator) for leaf in leaves]


def gradient(function: Callable[..., Any], seed: int) -> Callable[..., Any]:
    """A function that returns the gradients of `function` with respect to the floating leaves of its arguments.

    A scalar result is differentiated directly; others are weighted by random numbers drawn from `seed`.
    """

    def gradients(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = jax.tree.flatten((args, kwargs))
        floating = [n for n, leaf in enumerate(leaves) if _is_float(leaf)]

        def scalar(chosen: list[Any]) -> Any:
            filled = list(leaves)
            for n, leaf in zip(floating, chosen, strict=True):
                filled[n] = leaf
            new_args, new_kwargs = jax.tree.unflatten(structure, filled)
            outs = [out for out in jax.tree.leaves(function(*new_args, **new_kwargs)) if _is_float(out)]
            key = jax.random.key(seed)
            total = jnp.zeros((), jnp.float32)
            for n, out in enumerate(outs):
                alone = len(outs) == 1 and jnp.ndim(out) == 0
                weight = 1.0 if alone else jax.random.normal(jax.random.fold_in(key, n), jnp.shape(out))
                total += jnp.sum(out * weight).astype(jnp.float32)
            return total

        return (jax.grad(scalar)([leaves[n] for n in floating]),)  # one group: their scale is common

    return gradients


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Norms of one leaf. `floor` is the rounding error of the value itself, below which a change is meaningless."""

    count: int
    scale: float
    error: float
    spread: float
    floor: float
    max_abs: float
    dot: float
    other: float  # norm of the candidate's signal


def _judge(n: int, reference: Outcome, candidate: Outcome, rounded: Outcome | None) -> _Leaf:
    value = reference.leaves[n]
    signal, other = _signal(n, reference), _signal(n, candidate)
    finite = np.isfinite(signal) & np.isfinite(other)
    if not finite.all():
        signal, other, value = (np.where(finite, one, 0) for one in (signal, other, value))
    spread = 0.0
    if rounded is not None:
        moved = _signal(n, rounded) - signal
        spread = _length(np.where(finite & np.isfinite(moved), moved, 0))
    error = np.abs(other - signal)
    eps = float(jnp.finfo(value.dtype).eps)
    return _Leaf(
        count=value.size,
        scale=_length(signal),
        error=_length(error),
        spread=spread,
        floor=4 * eps * _length(value),
        max_abs=float(error.max(initial=0.0)),
        dot=float(np.vdot(signal, other).real),
        other=_length(other),
    )


def _signal(n: int, outcome: Outcome) -> np.ndarray:
    """The signal of leaf `n`, in double precision: its change if it is the new value of an input."""
    value = outcome.leaves[n]
    wide = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    start = outcome.starts.get(n)
    return wide if start is None else wide - start.astype(wide.dtype)


def _noise(groups: Sequence[Sequence[int]], judged: Mapping[int, _Leaf]) -> set[int]:
    """Leaves that an optimiser computed from noise, such as the bias of attention's keys, whose gradient is zero in
    theory.

    Such a gradient is negligible beside the others, but Adam divides it by its own size, so the parameter moves as
    far as any. It is recognised in the copy of the parameter tree where it is small (a moment), and left out of the
    other copies.
    """
    found: set[int] = set()
    alike: dict[tuple[int, ...], list[Sequence[int]]] = {}
    for group in groups:
        if len(group) > 1 and all(n in judged for n in group):
            alike.setdefault(tuple(judged[n].count for n in group), []).append(group)
    for copies in alike.values():
        shares = [_shares([judged[n] for n in group]) for group in copies]
        for position in range(len(copies[0])):
            if min(share[position] for share in shares) < _NOISE:
                found.update(
                    group[position]
                    for group, share in zip(copies, shares, strict=True)
                    if share[position] >= _NOISE
                )
    return found


def _shares(leaves: Sequence[_Leaf]) -> list[float]:
    """The root mean square of each leaf's signal as a share of its group's; 1 if the group's is zero."""
    whole = _norm(leaf.scale for leaf in leaves) / math.sqrt(sum(leaf.count for leaf in leaves) or 1)
    return [leaf.scale / math.sqrt(leaf.count or 1) / whole if whole else 1.0 for leaf in leaves]


def _leaf_problem(judged: Sequence[_Leaf], paths: Sequence[str], scale: float, allowed: float) -> str | None:
    """A leaf with a large error in a correct group, of which it is a small part."""
    loose = min(_LEAF_LIMIT, _LEAF_FACTOR * allowed)
    count = sum(leaf.count for leaf in judged)
    for leaf, path in zip(judged, paths, strict=True):
        own = leaf.scale + scale * math.sqrt(leaf.count / count)
        if leaf.error > loose * own + _SPREAD_FACTOR * leaf.spread + leaf.floor:
            return f"{path}: error {leaf.error:.2g} where its norm is {leaf.scale:.2g}"
    return None


def _exact_problem(a: np.ndarray, b: np.ndarray) -> str | None:
    if not _floats(a):
        different = int(np.sum(a != b))
        return (
            f"{different} of {a.size} values differ, and they are not floating point" if different else None
        )
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "NaN at other positions"
    infinite = np.isinf(a) | np.isinf(b)
    if infinite.any() and not np.array_equal(a[infinite], b[infinite], equal_nan=True):
        return "infinities at other positions"
    return None


def _broken(problem: str, allowed: float) -> Comparison:
    return Comparison(Numerics(math.inf, math.inf, None, allowed, passed=False), problem)


def _cosine(judged: Sequence[_Leaf]) -> float:
    """The cosine between the signals of a group; 1 if both are zero."""
    norms = _norm(leaf.scale for leaf in judged) * _norm(leaf.other for leaf in judged)
    return min(1.0, sum(leaf.dot for leaf in judged) / norms) if norms > 0 else 0.0


def _groups(result: Any) -> tuple[tuple[int, ...], ...]:
    """The numbers of leaves that belong together.

    The largest subtree that occurs more than once is that of the parameters, which an optimiser's moments repeat:
    each of its copies is a group. The rest is grouped by the elements of the result.
    """
    repeated = Counter(signature for signature in _signatures(result) if len(signature[1]) > 1)
    copies = [signature for signature, count in repeated.items() if count > 1]
    tree = max(copies, key=lambda signature: len(signature[1]), default=None)
    groups: list[tuple[int, ...]] = []

    def walk(node: Any, first: int, apart: bool) -> int:
        """Adds the groups of a node whose first leaf is `first`; returns the number after its last leaf."""
        stop = first + len(jax.tree.leaves(node))
        apart = apart or (tree is not None and tree in _signatures(node) and _signature(node) != tree)
        children = _children(node)
        if apart and children:
            start = first
            for child in children:
                start = walk(child, start, apart=False)
        elif stop > first:
            groups.append(tuple(range(first, stop)))
        return stop

    walk(result, 0, apart=True)
    return tuple(groups)


def _children(node: Any) -> list[Any]:
    """The children of one pytree node; none for a leaf or None."""
    children = jax.tree.leaves(node, is_leaf=lambda child: child is not node)
    return [] if len(children) == 1 and children[0] is node else children


def _signature(node: Any) -> tuple[Any, tuple[Any, ...]]:
    leaves, structure = jax.tree.flatten(node)
    return structure, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)


def _signatures(node: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    return [_signature(node)] + [found for child in _children(node) for found in _signatures(child)]


def _varied(leaf: Any, magnitude: float, amount: float, generator: np.random.Generator) -> Any:
    if not isinstance(leaf, (np.ndarray, np.generic)) or not _floats(np.asarray(leaf)):
        return leaf
    array = np.asarray(leaf)
    if np.iscomplexobj(array):
        return array
    if amount >= 0.05 and array.dtype.itemsize <= 4:  # in place: the state of a large model fills the caches
        factors = generator.random(size=array.shape, dtype=np.float32)
        factors *= np.float32(2 * amount * magnitude)
        factors += np.float32((1 - amount) * magnitude)
        return (factors * array).astype(array.dtype, copy=False)
    if amount >= 0.05:
        moves = generator.uniform(-amount, amount, size=array.shape)
    else:  # up or down, by no less
        moves = np.where(generator.integers(0, 2, size=array.shape, dtype=np.int8), amount, -amount)
    return (array.astype(np.float64) * (magnitude * (1 + moves))).astype(array.dtype)


def _floats(array: np.ndarray) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, (jax.Array, np.ndarray)) and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _norm(values: Iterable[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values))


def _length(array: np.ndarray) -> float:
    return float(np.linalg.norm(array.ravel()))
