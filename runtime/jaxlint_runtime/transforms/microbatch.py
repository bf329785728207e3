"""Microbatches: the gradient of a batch as the mean, or the sum, of the gradients of its parts, one part after the
other.

The program's derivative is intercepted, and the program runs once more for each part, up to that point. So the loss
may be written in any way. It must be a mean or a sum over the batch, which its equations
(`inspection.batch_coupling`) and its values show.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime import compat, inspection
from jaxlint_runtime.inspection.batch_coupling import Differs, coupling
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.lowering.function_versions import Version, first_line
from jaxlint_runtime.lowering.jaxpr_interpreter import inlined, of_traced_leaves
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.programs.replaced_arguments import released
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform
from jaxlint_runtime.wording.paths import display_path

_COUNTS = (2, 4, 8, 16, 32, 64)
_CLOSE = {2: 1e-2, 4: 1e-4, 8: 1e-8}  # by bytes of a float: the tolerance between two orders of summation


class _Reached(BaseException):
    """The derivative was reached: the requested facts are known, and the rest need not run."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class _Split:
    """The leaves of the call with the batch as first axis, and how the results of the parts are combined.

    `loss` is "mean" or "sum"; `aux` says for each further result "mean", "sum", "last" or the axis to join.
    """

    leaves: tuple[int, ...]
    size: int
    loss: str = "mean"
    aux: tuple[str | int, ...] = ()


class Microbatch(Transform):
    """Accumulates gradients over parts of the batch."""

    name = "microbatch"
    trade = True

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate for each number of parts, fewest first. Raises NotApplicable."""
        split = _examined(program)
        labels = list(dict.fromkeys(program.label(n) for n in split.leaves))
        given = released(program)
        before = inspection.liveness(program.baseline.jaxpr, given).total
        found = []
        for count in _COUNTS:
            if split.size % count or count > split.size:
                continue
            jaxpr = program.stage(_accumulating(program.version, split, count)).jaxpr
            live = inspection.liveness(jaxpr, given).total
            found.append(
                Candidate(
                    name=f"{self.name}:{count}",
                    summary=f"accumulate the gradient over {count} microbatches of {', '.join(labels)}, {split.size // count} examples each "
                    f"({split.loss} of the parts)",
                    requires="",
                    estimate=float(before - live),
                    parameters={
                        "parts": count,
                        "batch": split.size,
                        "arguments": labels,
                        "combined": split.loss,
                        "live_bytes": {"before": before, "after": live},
                        "code": _code(labels, count, split.loss),
                        "split": split,
                    },
                )
            )
        if not found:
            raise NotApplicable(f"a batch of {split.size} examples has no equal parts")
        return found

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, its gradient accumulated."""
        return _accumulating(version, candidate.parameters["split"], candidate.parameters["parts"])


def _code(labels: Sequence[str], count: int, combined: str) -> str:
    """The code to write, as text: the batch in parts, and a scan that accumulates."""
    batch = ", ".join(labels)
    total = f"loss, grads = jax.tree.map(lambda total: total / {count}, (loss, grads))"
    return "\n".join(
        [
            "# loss_fn takes one part of the batch as its arguments",
            f"parts = jax.tree.map(lambda x: x.reshape({count}, -1, *x.shape[1:]), ({batch}{',' if len(labels) == 1 else ''}))",
            "",
            "def add(total, part):",
            "    return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_fn)(params, *part)), None",
            "",
            "zeros = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)",
            "(loss, grads), _ = jax.lax.scan(add, zeros, parts)",
            *([total] if combined == "mean" else []),
        ]
    )


# ---- splitting ----


def _examined(program: Program) -> _Split:
    """How the batch is split. Raises NotApplicable with the reason if it cannot be."""
    leaves = program.bound.leaves
    whole = _loss(program, [leaf.aval for leaf in leaves])
    state = {update.input for update in program.updates if update.distance}
    sizes: dict[int, int] = {}
    for n, leaf in enumerate(leaves):
        if n not in state and n not in whole.primals and leaf.aval.shape:
            sizes[leaf.aval.shape[0]] = sizes.get(leaf.aval.shape[0], 0) + nbytes(leaf.aval)
    sizes = {size: total for size, total in sizes.items() if size > 1}
    if not sizes:
        raise NotApplicable("no argument other than the trained ones has a batch axis")
    size = max(sizes, key=lambda key: sizes[key])
    split = _Split(
        tuple(
            n
            for n, leaf in enumerate(leaves)
            if n not in state and n not in whole.primals and leaf.aval.shape[:1] == (size,)
        ),
        size,
    )
    if size % 2:
        raise NotApplicable(f"a batch of {size} examples has no equal parts")
    try:
        part = _loss(program, _cut([leaf.aval for leaf in leaves], split, 2))
    except NotApplicable as reason:
        raise NotApplicable(f"the function does not run on a part of the batch: {reason}") from None
    try:
        found = coupling(whole.jaxpr, part.jaxpr)
    except (Differs, ValueError):
        raise NotApplicable("the traced program differs for a part of the batch") from None
    if found is not None:
        where = f" ({display_path(found.site[0])}:{found.site[1]})" if found.site else ""
        raise NotApplicable(
            f"the loss is not a mean or sum over the batch, so microbatches change the gradient: {found.reason}{where}"
        )
    return _combined(program, split)


@dataclass(frozen=True)
class _Loss:
    """The differentiated function of a program: its equations, and the leaves of the call that it is differentiated
    with respect to."""

    jaxpr: Any
    primals: frozenset[int]


def _loss(program: Program, avals: Sequence[Any]) -> _Loss:
    """The program's differentiated function, for leaves of these shapes. Raises NotApplicable unless it is one
    scalar, once."""
    count = 0

    def counted(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        return original(fun, *primals, **options)

    # nnx's differentiated function can only be called once: one run counts it, another one traces it
    _traced(program, avals, lambda known: counted)
    if count != 1:
        many = f"{count} gradients" if count else "no gradient"
        raise NotApplicable(f"the function takes {many}; microbatches need exactly one")

    def staged(known: dict[int, int]) -> Callable[..., Any]:
        def vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
            flat = jax.tree.leaves(primals)
            jaxpr = inlined(jax.make_jaxpr(fun)(*primals), flat)
            raise _Reached(_Loss(jaxpr, frozenset(known[id(leaf)] for leaf in flat if id(leaf) in known)))

        return vjp

    loss = _traced(program, avals, staged)
    aval = compat.open_jaxpr(loss.jaxpr).outvars[0].aval
    if getattr(aval, "shape", None) != ():
        raise NotApplicable("the differentiated function does not return a scalar")
    return loss


def _traced(program: Program, avals: Sequence[Any], hook: Callable[[dict[int, int]], Any]) -> Any:
    """Traces the program with `hook`'s derivative, which receives the leaves by identity; returns what it reached.
    Raises NotApplicable."""

    def run(*leaves: Any) -> Any:
        args, kwargs = program.bound.with_leaves(leaves)
        with compat.replaced_vjp(hook({id(leaf): n for n, leaf in enumerate(leaves)})):
            return _arrays(jax.tree.leaves(program.version.function(*args, **kwargs)))

    try:
        jax.eval_shape(run, *(jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals))
    except _Reached as reached:
        return reached.found
    except Exception as error:
        raise NotApplicable(f"it cannot be traced ({first_line(error)})") from None
    return None


def _cut(avals: Sequence[Any], split: _Split, count: int) -> list[Any]:
    return [
        jax.ShapeDtypeStruct((aval.shape[0] // count, *aval.shape[1:]), aval.dtype)
        if n in split.leaves
        else aval
        for n, aval in enumerate(avals)
    ]


def _combined(program: Program, split: _Split) -> _Split:
    """The split with the ways to combine the results of its parts, found from values. Raises NotApplicable."""
    values = function_versions.placed(
        program.bound, [leaf.value for leaf in program.bound.leaves], program.runner
    )

    def evaluated(*leaves: Any) -> Any:
        return _forward(program, leaves)

    def parts_of(*leaves: Any) -> Any:
        cut = [_parts(leaf, 2) if n in split.leaves else leaf for n, leaf in enumerate(leaves)]
        return [
            evaluated(*(leaf[number] if n in split.leaves else leaf for n, leaf in enumerate(cut)))
            for number in range(2)
        ]

    try:
        full, parts = jax.device_get(compat.jit(lambda *v: (evaluated(*v), parts_of(*v)))(*values))
    except Exception as error:
        raise NotApplicable(
            f"the differentiated function cannot be run by itself: {first_line(error)}"
        ) from None
    rules = [_rule(f, p) for f, *p in zip(full, *parts, strict=True)]
    if rules[0] not in ("mean", "sum"):
        halves = " and ".join(f"{float(p[0]):.6g}" for p in parts)
        raise NotApplicable(
            "the loss of the batch is neither the mean nor the sum of its parts' losses: "
            f"{float(full[0]):.6g} for the batch, {halves} for its halves"
        )
    if None in rules:
        raise NotApplicable("an auxiliary output of the loss cannot be combined from parts of the batch")
    return _Split(split.leaves, split.size, str(rules[0]), tuple(rules[1:]))  # type: ignore[arg-type]


def _forward(program: Program, leaves: Sequence[Any]) -> list[Any]:
    """The loss and the auxiliary results, as leaves."""

    def vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
        raise _Reached(_arrays(jax.tree.leaves(fun(*primals))))

    args, kwargs = program.bound.with_leaves(leaves)
    try:
        with compat.replaced_vjp(vjp):
            program.version.function(*args, **kwargs)
    except _Reached as reached:
        return list(reached.found)
    raise NotApplicable("the function takes no gradient")


def _rule(whole: Any, parts: Sequence[Any]) -> str | int | None:
    """How a value of the whole batch follows from those of its parts."""
    whole, parts = np.asarray(whole), [np.asarray(part) for part in parts]
    if parts[0].shape != whole.shape:
        axes = [n for n, (a, b) in enumerate(zip(whole.shape, parts[0].shape, strict=False)) if a != b]
        return axes[0] if len(axes) == 1 and _close(np.concatenate(parts, axes[0]), whole) else None
    if jnp.issubdtype(whole.dtype, jnp.floating) and _close(sum(parts) / len(parts), whole):
        return "mean"
    if all(_close(part, whole) for part in parts):
        return "last"
    return "sum" if _close(sum(parts), whole) else None


def _close(left: Any, right: Any) -> bool:
    left, right = np.asarray(left), np.asarray(right)
    if not jnp.issubdtype(right.dtype, jnp.floating):
        return left.shape == right.shape and bool((left == right).all())
    allowed = _CLOSE[max(2, right.dtype.itemsize)]
    wide = right.astype(np.float64)
    return left.shape == right.shape and bool(
        np.linalg.norm(left.astype(np.float64) - wide) <= allowed * np.linalg.norm(wide)
    )


def _parts(leaf: Any, count: int) -> Any:
    return leaf.reshape(count, leaf.shape[0] // count, *leaf.shape[1:])


# ---- the program in parts ----


def _accumulating(version: Version, split: _Split, count: int) -> Version:
    """The function with its one derivative accumulated over `count` parts of the batch."""
    function = version.function

    @functools.wraps(function)
    def accumulated(*args: Any, **kwargs: Any) -> Any:
        flat, leaves = of_traced_leaves(function, args, kwargs)
        caught = False

        def vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
            nonlocal caught
            if caught:
                return original(fun, *primals, **options)
            caught = True
            return _accumulate(flat, leaves, split, count, bool(options.get("has_aux")))

        with compat.replaced_vjp(vjp):
            return flat(*leaves)

    return Version(accumulated, version.options)


def _accumulate(
    flat: Callable[..., Any], leaves: Sequence[Any], split: _Split, count: int, has_aux: bool
) -> Any:
    """The result of `jax.vjp` for the whole batch: the loss, a function of its cotangent, and the auxiliary results."""
    structure: Any = None
    beside: list[Any] = []  # the auxiliary results, with values other than arrays unchanged

    def part(chunks: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        nonlocal structure, beside
        filled = list(leaves)
        for n, chunk in zip(split.leaves, chunks, strict=True):
            filled[n] = chunk
        try:
            with compat.replaced_vjp(_gradient):
                flat(*filled)
        except _Reached as reached:
            loss, gradients, aux = reached.found
            structure = jax.tree.structure(gradients), jax.tree.structure(aux)
            beside = jax.tree.leaves(aux)
            return loss, jax.tree.leaves(gradients), _arrays(beside)
        raise NotApplicable("the function takes no gradient")

    stacked = [_parts(leaves[n], count) for n in split.leaves]
    loss, gradients, aux = jax.eval_shape(part, [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in stacked])
    added = [n for n, rule in enumerate(split.aux) if rule in ("mean", "sum")]
    start = [jnp.zeros(one.shape, one.dtype) for one in (loss, *gradients, *(aux[n] for n in added))]

    def step(total: list[Any], chunks: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        loss, gradients, aux = part(chunks)
        new = [a + b for a, b in zip(total, (loss, *gradients, *(aux[n] for n in added)), strict=True)]
        return new, [value for n, value in enumerate(aux) if n not in added]

    total, kept = jax.lax.scan(step, start, stacked)

    def scaled(value: Any, rule: str | int) -> Any:
        return value / jnp.asarray(count, value.dtype) if rule == "mean" else value

    whole = scaled(total[0], split.loss)
    gradient = [scaled(value, split.loss) for value in total[1 : 1 + len(gradients)]]

    def pull(cotangent: Any) -> Any:
        return jax.tree.unflatten(structure[0], [(cotangent * one).astype(one.dtype) for one in gradient])

    if not has_aux:
        return whole, pull
    sums, others = iter(total[1 + len(gradients) :]), iter(kept)
    put = iter(
        [
            scaled(next(sums), rule) if n in added else _joined(next(others), rule)
            for n, rule in enumerate(split.aux)
        ]
    )
    filled = [next(put) if _is_array(leaf) else leaf for leaf in beside]
    return whole, pull, jax.tree.unflatten(structure[1], filled)[0]


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") or isinstance(leaf, int | float | complex)


def _arrays(leaves: Sequence[Any]) -> list[Any]:
    return [leaf for leaf in leaves if _is_array(leaf)]


def _joined(stacked: Any, rule: str | int) -> Any:
    if rule == "last":
        return stacked[-1]
    axis = int(rule)
    moved = jnp.moveaxis(stacked, 0, axis)
    return moved.reshape(*moved.shape[:axis], -1, *moved.shape[axis + 2 :])


def _gradient(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
    """The loss, its gradients and the auxiliary results, in place of a pullback function."""
    out, pull, *aux = original(fun, *primals, **options)
    raise _Reached((out, pull(jnp.ones_like(out)), tuple(aux)))
