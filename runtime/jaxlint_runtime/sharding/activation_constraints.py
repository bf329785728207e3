"""Results of products inside a step, and sharding constraints on them as activations.

Products with the same axes are one activation, including the gradient with respect to it: a constraint in the source
applies to both. For each, these placements are tried: its batch split like the inputs, with the axes that it shares
with parameters split like theirs; an expert's tokens on the expert's device; its longest other axis, the sequence,
split over the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint_runtime import compat
from jaxlint_runtime.inspection.hlo import own
from jaxlint_runtime.sharding.axis_groups import Axes, Node
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.source_analysis.parsing import tree_of_file
from jaxlint_runtime.wording.paths import display_path

Spec = tuple[tuple[str, ...], ...]
Axis = tuple[Node, int]  # the group of an axis (-1: unknown) and its length
Held = tuple[tuple[int, Spec], ...]  # activations by number, each with its spec
_MOST = 6  # activations that are considered
_LEAST = 0.02  # share of all bytes: smaller ones are not worth a line


@dataclass
class Activation:
    """Products with the same axes. `axes` is in source order for the first, `orders` has the order of each by its
    equation."""

    axes: tuple[Axis, ...]
    nbytes: float = 0.0
    orders: dict[int, tuple[Axis, ...]] = field(default_factory=dict)
    place: tuple[str, int] | None = None  # file and line of the first
    dispatched: bool = False  # tokens as input or output of experts

    @property
    def groups(self) -> tuple[Node, ...]:
        """The groups of its axes."""
        return tuple(group for group, _ in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return tuple(size for _, size in self.axes)


def activations(
    axes: Axes, batch: Node | None, roles: Mapping[Node, str], parameters: Sequence[tuple[Node, ...]]
) -> tuple[Activation, ...]:
    """The largest ones, in program order. `axes` has its groups joined already; `parameters` are groups of axes."""
    experts = [set(groups) for groups in parameters if any(roles.get(group) == "experts" for group in groups)]
    found: dict[tuple[Axis, ...], Activation] = {}
    for product in axes.products.values():
        eqn = product.eqn
        order = tuple(
            (-1 if node is None else axes.group(node), size)
            for node, size in zip(product.axes, eqn.outvars[0].aval.shape, strict=True)
        )
        groups = {group for group, _ in order}
        dispatched = any(
            len(groups & own) > 1 and any(roles.get(group) == "experts" for group in groups & own)
            for own in experts
        )
        if batch not in groups and (not dispatched or any(groups <= own for own in experts)):
            continue  # a gradient of a parameter
        one = found.setdefault(
            tuple(sorted(order)), Activation(tuple(order[n] for n in product.shown), dispatched=dispatched)
        )
        one.nbytes += product.nbytes
        one.orders[id(eqn)] = order
        if one.place is None:
            frame = own(compat.user_frames(eqn))
            one.place = frame[:2] if frame else None
    least = _LEAST * sum(one.nbytes for one in found.values())
    heavy = sorted((one for one in found.values() if one.nbytes >= least), key=lambda one: -one.nbytes)[
        :_MOST
    ]
    return tuple(one for one in found.values() if any(one is other for other in heavy))


def by_equation(found: Sequence[Activation], held: Held) -> dict[int, Spec]:
    """By the id of an equation: the spec of its result, in the order of its own axes."""
    specs: dict[int, Spec] = {}
    for number, spec in held:
        one = found[number]
        for equation, order in one.orders.items():
            left = list(zip(one.axes, spec, strict=True))
            parts = []
            for axis in order:
                at = next(n for n, (other, _) in enumerate(left) if other == axis)
                parts.append(left.pop(at)[1])
            specs[equation] = tuple(parts)
    return specs


def choices(
    one: Activation,
    mesh: MeshShape,
    roles: Mapping[Node, str],
    batch: tuple[str, ...],
    split: Mapping[Node, tuple[str, ...]],
) -> Iterator[Spec]:
    """Specs for an activation if the inputs are split over `batch` and the groups of parameters as in `split`."""
    experts = next(
        (split[g] for g in one.groups if one.dispatched and roles.get(g) == "experts" and split.get(g)), ()
    )
    tried = set()
    for first in ("parameters", "batch", "sequence"):
        wanted: list[tuple[str, ...]] = [()] * len(one.axes)
        order = sorted(range(len(one.axes)), key=lambda n: roles.get(one.axes[n][0]) != "experts")
        used: set[str] = set()
        for n in order:
            group, size = one.axes[n]
            role = roles.get(group)
            axes: tuple[str, ...] = ()
            if role == "batch":
                axes = tuple(name for name in batch if first == "batch" or name not in experts)
            elif role == "experts":
                axes = () if first == "batch" else experts
            elif first == "parameters":
                axes = split.get(group, ())
            if axes and used.isdisjoint(axes) and size % mesh.size(axes) == 0:
                wanted[n] = axes
                used.update(axes)
        if first == "sequence":
            left = tuple(name for name in mesh.split if name not in used)
            free = [n for n, (group, _) in enumerate(one.axes) if group not in roles]
            free = [n for n in free if left and one.axes[n][1] % mesh.size(left) == 0]
            if not free:
                continue
            wanted[max(free, key=lambda n: one.axes[n][1])] = left
        spec = tuple(wanted)
        if spec not in tried and any(spec):
            tried.add(spec)
            yield spec


def constraint_in_words(one: Activation, roles: Mapping[Node, str]) -> str:
    """A description: its name in the source, or its line, and its axes."""
    names = ", ".join(f"{roles.get(group, 'other')} {size}" for group, size in one.axes)
    name = variable(one.place)
    where = f"{display_path(one.place[0])}:{one.place[1]}" if one.place else "an unknown line"
    return f"{name} of {where} ({names})" if name else f"the product of {where} ({names})"


def variable(place: tuple[str, int] | None) -> str | None:
    """The single name that the statement at a place assigns; None for other statements."""
    if place is None:
        return None
    tree = tree_of_file(place[0])
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.lineno <= place[1] <= (node.end_lineno or node.lineno):
            target = node.targets[0]
            return target.id if len(node.targets) == 1 and isinstance(target, ast.Name) else None
    return None
