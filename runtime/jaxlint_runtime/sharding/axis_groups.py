"""Groups the axes of a program's inputs by common index, by an analysis of its jaxpr.

Two axes belong together if values along them are combined elementwise, or contracted with each other: the rows of a
second matrix and the columns of the first, a bias and its operand, a moment of the optimiser and its parameter. So
the groups are what people call logical axes (batch, embed, heads, mlp, vocab), whatever the parameters are called.
Splitting all axes of a group in the same way moves the least data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.compat import Literal, inner_jaxprs, open_jaxpr, scan_counts
from jaxlint_runtime.lowering.avals import nbytes

Node = int
_PLAIN = frozenset(
    "convert_element_type copy copy_p reduce_precision stop_gradient optimization_barrier sharding_constraint".split()  # noqa: SIM905
)
_REDUCTIONS = (
    "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Use:
    """How one input takes part in a product or a look-up. The nodes are those of the input's own axes."""

    kind: str  # "product" or "lookup"
    contracted: tuple[Node, ...] = ()
    free: tuple[Node, ...] = ()
    batched: tuple[Node, ...] = ()  # a separate slice for each index of the other operand
    looked_up: tuple[Node, ...] = ()


@dataclass
class Product:
    """The result of a product of two values: its axes, and their order after an immediately following transpose (of
    an einsum)."""

    eqn: Any
    axes: tuple[Node | None, ...]
    shown: tuple[int, ...]
    nbytes: float


@dataclass(frozen=True, slots=True)
class _Value:
    """The axes of a value, None for unknown ones, and the input that it is, apart from moves and conversions."""

    axes: tuple[Node | None, ...]
    origin: int | None = None


@dataclass
class Axes:
    """The groups of the axes of all inputs. `nodes[i][d]` is axis d of input i; `group` returns the name of its
    group."""

    nodes: list[tuple[Node, ...]] = field(default_factory=list)
    uses: dict[int, list[Use]] = field(default_factory=dict)
    stacked: set[Node] = field(default_factory=set)  # axes that a loop iterates over
    carried: dict[Node, float] = field(default_factory=dict)  # bytes of the values with the axis
    parts: dict[Node, set[int]] = field(default_factory=dict)  # sizes of axes that one was split into
    # Batch axes in products of values that are not inputs: heads.
    between: set[Node] = field(default_factory=set)
    products: dict[int, Product] = field(default_factory=dict)  # by the ids of their equations
    inner: set[Node] = field(default_factory=set)  # contracted in such products: the head size
    parents: list[Node] = field(default_factory=list)

    def new(self) -> Node:
        """A new axis."""
        self.parents.append(len(self.parents))
        return len(self.parents) - 1

    def group(self, node: Node) -> Node:
        """The group of an axis."""
        while self.parents[node] != node:
            self.parents[node] = self.parents[self.parents[node]]
            node = self.parents[node]
        return node

    def groups(self, number: int) -> tuple[Node, ...]:
        """The groups of the axes of input `number`."""
        return tuple(self.group(node) for node in self.nodes[number])

    def join(self, left: Node | None, right: Node | None) -> Node | None:
        """Declares that two axes have the same index; returns the known one."""
        if left is None or right is None:
            return right if left is None else left
        one, other = self.group(left), self.group(right)
        if one != other:
            self.parents[max(one, other)] = min(one, other)
        return left

    def by_group(self, values: dict[Node, float]) -> dict[Node, float]:
        """Sums over the axes of each group."""
        found: dict[Node, float] = {}
        for node, value in values.items():
            found[self.group(node)] = found.get(self.group(node), 0.0) + value
        return found


def analyse(jaxpr: Any) -> Axes:
    """The axes of a traced program's inputs."""
    axes = Axes()
    parts = open_jaxpr(jaxpr)
    given = []
    for number, var in enumerate(parts.invars):
        nodes = tuple(axes.new() for _ in getattr(var.aval, "shape", ()))
        axes.nodes.append(nodes)
        given.append(_Value(nodes, number))
    _Walk(axes).run(jaxpr, given, 1.0)
    return axes


class _Walk:
    def __init__(self, axes: Axes) -> None:
        self.axes = axes

    def run(self, jaxpr: Any, given: Sequence[_Value], times: float) -> list[_Value]:
        """The results of a jaxpr with the inputs `given`; it runs `times`."""
        parts = open_jaxpr(jaxpr)
        known: dict[Any, _Value] = dict(zip(parts.invars, given, strict=True))

        def read(atom: Any) -> _Value:
            if isinstance(atom, Literal) or atom not in known:
                return _Value((None,) * len(getattr(atom.aval, "shape", ())))
            return known[atom]

        products: dict[Any, Product] = {}  # by the variable of the result
        for eqn in parts.eqns:
            results = self._equation(eqn, [read(atom) for atom in eqn.invars], times)
            self._noted(eqn, results, times, products)
            for var, value in zip(eqn.outvars, results, strict=True):
                if value.origin is None:
                    size = nbytes(var.aval) * times
                    for node in value.axes:
                        if node is not None:
                            self.axes.carried[node] = self.axes.carried.get(node, 0.0) + size
                known[var] = value
        return [read(atom) for atom in parts.outvars]

    def _noted(self, eqn: Any, results: list[_Value], times: float, products: dict[Any, Product]) -> None:
        """Records products, and the order of their axes if a transpose follows."""
        if not eqn.outvars:
            return
        out = eqn.outvars[0]
        if eqn.primitive.name == "dot_general":
            size = nbytes(out.aval) * times
            product = Product(eqn, results[0].axes, tuple(range(len(results[0].axes))), size)
            self.axes.products[id(eqn)] = products[out] = product
        elif eqn.primitive.name == "transpose" and eqn.invars[0] in products:
            product = products[out] = products[eqn.invars[0]]
            product.shown = tuple(product.shown[n] for n in eqn.params["permutation"])

    def _equation(self, eqn: Any, values: list[_Value], times: float) -> list[_Value]:
        name = eqn.primitive.name
        method = getattr(self, "_" + name.replace("-", "_"), None)
        if method is not None:
            found = method(eqn, values, times)
            return [found] if isinstance(found, _Value) else list(found)
        if name in _PLAIN:
            return [values[0]]
        if name in _REDUCTIONS:
            gone = eqn.params["axes"]
            return [
                _Value(tuple(node for n, node in enumerate(values[0].axes) if n not in gone))
                for _ in eqn.outvars
            ]
        bodies = [body for _, body in inner_jaxprs(eqn)]
        if bodies and len(open_jaxpr(bodies[0]).invars) == len(values):
            found = self.run(bodies[0], values, times)
            return found if len(found) == len(eqn.outvars) else self._unknown(eqn)
        return self._elementwise(eqn, values)

    @staticmethod
    def _unknown(eqn: Any) -> list[_Value]:
        return [_Value((None,) * len(getattr(var.aval, "shape", ()))) for var in eqn.outvars]

    def _elementwise(self, eqn: Any, values: list[_Value]) -> list[_Value]:
        """Values are combined along axes of equal size; an axis of size 1 is not combined (equations broadcast it)."""
        shapes = [getattr(atom.aval, "shape", ()) for atom in eqn.invars]
        results = []
        for var in eqn.outvars:
            shape = getattr(var.aval, "shape", ())
            axes: tuple[Node | None, ...] = (None,) * len(shape)
            fits = all(
                not own
                or (len(own) == len(shape) and all(a in (1, b) for a, b in zip(own, shape, strict=True)))
                for own in shapes
            )
            for value, own in zip(values, shapes, strict=True):
                if fits and own:
                    axes = self._met(
                        axes, [node if size > 1 else None for node, size in zip(value.axes, own, strict=True)]
                    )
            results.append(_Value(axes))
        return results

    def _met(self, left: Iterable[Node | None], right: Iterable[Node | None]) -> tuple[Node | None, ...]:
        return tuple(self.axes.join(a, b) for a, b in zip(left, right, strict=True))

    # ---- data movement ----

    def _transpose(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        return _Value(tuple(values[0].axes[n] for n in eqn.params["permutation"]), values[0].origin)

    def _squeeze(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        gone = eqn.params["dimensions"]
        return _Value(tuple(x for n, x in enumerate(values[0].axes) if n not in gone), values[0].origin)

    def _expand_dims(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        result = list(values[0].axes)
        for n in sorted(eqn.params["dimensions"]):
            result.insert(n, None)
        return _Value(tuple(result), values[0].origin)

    def _broadcast_in_dim(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        result: list[Node | None] = [None] * len(eqn.params["shape"])
        for node, n, size in zip(
            values[0].axes, eqn.params["broadcast_dimensions"], eqn.invars[0].aval.shape, strict=True
        ):
            result[n] = node if size == eqn.params["shape"][n] else None
        grown = math.prod(eqn.params["shape"]) > math.prod(eqn.invars[0].aval.shape)
        return _Value(tuple(result), None if grown else values[0].origin)

    def _reshape(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        old, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
        return _Value(self._reshaped(values[0].axes, old, new), values[0].origin)

    def _reshaped(
        self, axes: tuple[Node | None, ...], old: Sequence[int], new: Sequence[int]
    ) -> tuple[Node | None, ...]:
        """The first, slowest part of an axis that is split, or of several that are merged, keeps its identity."""
        result: list[Node | None] = [None] * len(new)
        i = j = 0
        while i < len(old) and j < len(new):
            first_old, first_new = i, j
            a, b = old[i], new[j]
            while a != b and i < len(old) and j < len(new):
                if a < b:
                    i += 1
                    a *= old[i] if i < len(old) else 1
                else:
                    j += 1
                    b *= new[j] if j < len(new) else 1
            i, j = i + 1, j + 1
            source = next((n for n in range(first_old, min(i, len(old))) if old[n] > 1), None)
            target = next((n for n in range(first_new, min(j, len(new))) if new[n] > 1), None)
            if source is None or target is None:
                continue
            node = axes[source]
            result[target] = node
            if node is not None and new[target] < old[source]:
                self.axes.parts.setdefault(node, set()).add(new[target])
        return tuple(result)

    def _slice(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        old, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
        # An equal share of an axis (queries of a fused queries-keys-values axis) keeps the axis, an odd one does not.
        axes = tuple(
            node if size and have % size == 0 and size > 1 else None
            for node, have, size in zip(values[0].axes, old, new, strict=True)
        )
        return _Value(axes, values[0].origin)

    _dynamic_slice = _slice

    def _split(self, eqn: Any, values: list[_Value], times: float) -> list[_Value]:
        results = []
        for var in eqn.outvars:
            pairs = zip(values[0].axes, eqn.invars[0].aval.shape, var.aval.shape, strict=True)
            axes = tuple(node if size > 1 and have % size == 0 else None for node, have, size in pairs)
            results.append(_Value(axes, values[0].origin))
        return results

    def _dynamic_update_slice(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        axes = tuple(
            self.axes.join(node, part) if have == size else node
            for node, part, have, size in zip(
                values[0].axes,
                values[1].axes,
                eqn.invars[0].aval.shape,
                eqn.invars[1].aval.shape,
                strict=True,
            )
        )
        return _Value(axes)

    def _concatenate(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        axes: tuple[Node | None, ...] = (None,) * len(values[0].axes)
        for value in values:
            axes = self._met(axes, value.axes)
        along = eqn.params["dimension"]
        return _Value(tuple(None if n == along else node for n, node in enumerate(axes)))

    def _pad(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        return _Value(
            tuple(
                node if tuple(padding) == (0, 0, 0) else None
                for node, padding in zip(values[0].axes, eqn.params["padding_config"], strict=True)
            )
        )

    # ---- products and look-ups ----

    def _dot_general(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        (contract, batch) = eqn.params["dimension_numbers"]
        for a, b in (*zip(*contract, strict=True), *zip(*batch, strict=True)):
            self.axes.join(values[0].axes[a], values[1].axes[b])
        if values[0].origin is None and values[1].origin is None:
            self.axes.between.update(_known(values[0].axes[n] for n in batch[0]))
            self.axes.inner.update(_known(values[0].axes[n] for n in contract[0]))
        free = []
        for side, value in enumerate(values):
            inside = (*contract[side], *batch[side])
            # an axis that is unknown so far may be determined by what the result is combined with: experts, from a
            # comparison mask
            free.append([node for n, node in enumerate(value.axes) if n not in inside])
            free[-1] = [self.axes.new() if node is None else node for node in free[-1]]
            if value.origin is not None:
                self._used(
                    value.origin,
                    Use(
                        "product",
                        _known(value.axes[n] for n in contract[side]),
                        _known(free[-1]),
                        _known(value.axes[n] for n in batch[side]),
                    ),
                )
        batched = [self.axes.join(values[0].axes[a], values[1].axes[b]) for a, b in zip(*batch, strict=True)]
        return _Value((*batched, *free[0], *free[1]))

    def _conv_general_dilated(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        numbers = eqn.params["dimension_numbers"]
        left, right = values[0].axes, values[1].axes
        grouped = eqn.params["feature_group_count"] > 1 or eqn.params["batch_group_count"] > 1
        if not grouped:
            self.axes.join(left[numbers.lhs_spec[1]], right[numbers.rhs_spec[1]])
        result: list[Node | None] = [None] * len(eqn.outvars[0].aval.shape)
        result[numbers.out_spec[0]] = left[numbers.lhs_spec[0]]
        result[numbers.out_spec[1]] = right[numbers.rhs_spec[0]]
        if values[1].origin is not None:
            contracted = _known([right[numbers.rhs_spec[1]]])
            self._used(values[1].origin, Use("product", contracted, _known([right[numbers.rhs_spec[0]]])))
        if values[0].origin is not None:
            contracted = _known([left[numbers.lhs_spec[1]]])
            self._used(values[0].origin, Use("product", contracted, _known([left[numbers.lhs_spec[0]]])))
        return _Value(tuple(result))

    def _gather(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
        operand, indices = values[0].axes, values[1].axes
        batching = tuple(getattr(numbers, "operand_batching_dims", ()))
        for a, b in zip(batching, getattr(numbers, "start_indices_batching_dims", ()), strict=True):
            self.axes.join(operand[a], indices[b])
        gone = {*numbers.collapsed_slice_dims, *batching}
        window = [n for n in range(len(operand)) if n not in gone]
        shape = eqn.invars[0].aval.shape
        result: list[Node | None] = [None] * len(eqn.outvars[0].aval.shape)
        for position, n in zip(numbers.offset_dims, window, strict=True):
            result[position] = operand[n] if sizes[n] == shape[n] else None
        others = [n for n in range(len(result)) if n not in numbers.offset_dims]
        for position, node in zip(others, indices[:-1], strict=False):
            result[position] = node
        if values[0].origin is not None:
            looked_up = _known(operand[n] for n in numbers.start_index_map)
            free = _known(operand[n] for n in window if n not in numbers.start_index_map)
            self._used(values[0].origin, Use("lookup", free=free, looked_up=looked_up))
        return _Value(tuple(result))

    def _scatter_add(self, eqn: Any, values: list[_Value], times: float) -> _Value:
        numbers = eqn.params["dimension_numbers"]
        result, updates = list(values[0].axes), values[2].axes
        batching = tuple(getattr(numbers, "operand_batching_dims", ()))
        gone = {*numbers.inserted_window_dims, *batching}
        window = [n for n in range(len(result)) if n not in gone]
        shape, given = eqn.invars[0].aval.shape, eqn.invars[2].aval.shape
        for position, n in zip(numbers.update_window_dims, window, strict=True):
            if shape[n] == given[position]:
                result[n] = self.axes.join(result[n], updates[position])
        for a, b in zip(batching, getattr(numbers, "scatter_indices_batching_dims", ()), strict=True):
            result[a] = self.axes.join(result[a], values[1].axes[b])
        return _Value(tuple(result))

    _scatter = _scatter_add

    def _used(self, origin: int, use: Use) -> None:
        self.axes.uses.setdefault(origin, []).append(use)

    # ---- bodies ----

    def _scan(self, eqn: Any, values: list[_Value], times: float) -> list[_Value]:
        consts, carries = scan_counts(eqn)
        body = inner_jaxprs(eqn)[0][1]
        turns: Node | None = None
        slices = []
        for value in values[consts + carries :]:
            node = value.axes[0]
            turns = self.axes.join(turns, node)
            if value.origin is not None and node is not None:
                self.axes.stacked.add(node)
            slices.append(_Value(value.axes[1:], value.origin))
        carry = [_Value(value.axes, None) for value in values[consts : consts + carries]]
        outs: list[_Value] = []
        for _ in range(2):  # an axis that is unknown in the first iteration may be known in the next
            outs = self.run(body, [*values[:consts], *carry, *slices], times * eqn.params["length"])
            before = carry
            carry = [
                _Value(self._met(old.axes, new.axes)) for old, new in zip(carry, outs[:carries], strict=True)
            ]
            if [one.axes for one in before] == [one.axes for one in carry]:
                break
        return [*carry, *(_Value((turns, *value.axes)) for value in outs[carries:])]

    def _while(self, eqn: Any, values: list[_Value], times: float) -> list[_Value]:
        named = dict(inner_jaxprs(eqn))
        consts = eqn.params["cond_nconsts"]
        start = consts + eqn.params["body_nconsts"]
        carry = [_Value(value.axes) for value in values[start:]]
        outs = self.run(named["body_jaxpr"], [*values[consts:start], *carry], times)
        return [_Value(self._met(a.axes, b.axes)) for a, b in zip(carry, outs, strict=True)]

    def _cond(self, eqn: Any, values: list[_Value], times: float) -> list[_Value]:
        found: list[_Value] = []
        for _, body in inner_jaxprs(eqn):
            outs = self.run(body, values[1:], times)
            found = (
                [_Value(self._met(a.axes, b.axes)) for a, b in zip(found, outs, strict=True)]
                if found
                else outs
            )
        return found


def _known(nodes: Iterable[Node | None]) -> tuple[Node, ...]:
    return tuple(node for node in nodes if node is not None)
