"""The inputs of a step by role: the batch, classes of parameters, and the optimiser state that follows them.

Parameters of one class have the same shape and the same groups of axes (`axis_groups.py`), such as the query
projections of all blocks. They are split in the same way, so the search makes a dozen decisions instead of one for
each array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.sharding.activation_constraints import Activation, activations
from jaxlint_runtime.sharding.axis_groups import Axes, Node, Use

Path = tuple[str, ...]
_TOKEN = re.compile(r"\.(\w+)|\[([^\]]+)\]|^(\w+)")


@dataclass(frozen=True, slots=True)
class Input:
    """One input array: its path as keys, and the output with its new value (None: no output)."""

    number: int
    path: str
    keys: Path
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    output: int | None


@dataclass
class ParameterClass:
    """Parameters that are split in the same way. `groups` names the group of each axis, `uses` how the first of them
    is used."""

    name: str
    shape: tuple[int, ...]
    groups: tuple[Node, ...]
    members: list[Input]
    uses: tuple[Use, ...] = ()
    nodes: tuple[Node, ...] = ()  # axes of the first parameter, which `uses` describes
    followers: list[Input] = field(default_factory=list)  # moments of the optimiser and the like

    @property
    def nbytes(self) -> int:
        """Bytes of the parameters, without the state that follows them."""
        return sum(one.nbytes for one in self.members)


@dataclass(frozen=True)
class Classes:
    """All inputs, sorted. `batch` is the group of the batch axis, None if there is none."""

    inputs: tuple[Input, ...]
    parameters: tuple[ParameterClass, ...]
    data: tuple[Input, ...]  # inputs with the batch axis
    others: tuple[Input, ...]  # counters, keys, unknown inputs: replicated on every device
    batch: Node | None
    roles: dict[Node, str]  # of groups: "batch", "embed", "heads", "vocab" ...
    activations: tuple[Activation, ...] = ()

    @property
    def trains(self) -> bool:
        """Whether parameters are returned updated."""
        return any(one.output is not None for found in self.parameters for one in found.members)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters."""
        return sum(found.nbytes for found in self.parameters)


def keys_of(path: str) -> Path:
    """The keys of a `jax.tree_util.keystr` path, without the box in which flax may hold an array."""
    path = re.sub(r"\.(raw_)?value$", "", path)
    return tuple((a or b or c).strip("'\"") for a, b, c in _TOKEN.findall(path))


def inputs_of(leaves: Sequence[Any], updated: dict[int, int]) -> tuple[Input, ...]:
    """The inputs of a bound call (`lowering.function_versions.Leaf`); `updated` maps inputs to the outputs with their
    new values."""
    return tuple(
        Input(
            n,
            leaf.path,
            keys_of(leaf.path),
            tuple(leaf.aval.shape),
            str(leaf.aval.dtype),
            nbytes(leaf.aval),
            updated.get(n),
        )
        for n, leaf in enumerate(leaves)
    )


def classify(inputs: Sequence[Input], axes: Axes) -> Classes:
    """Sorts the inputs. Joins groups of `axes`: those of repeated blocks become one."""
    _join_repeated(inputs, axes)
    batch = _batch(inputs, axes)
    carries = {one.number for one in inputs if batch is not None and batch in axes.groups(one.number)}
    weights = [one for one in inputs if one.number not in carries and _is_weight(one, axes)]
    own, under = _parameters(inputs, weights, carries)
    data = tuple(one for one in inputs if _is_data(one, axes, batch, {p.number for p in own}, carries))
    seen = {one.number for one in (*own, *data)}
    followed: dict[int, list[Input]] = {}
    others = []
    for one in inputs:
        if one.number in seen:
            continue
        leader = _leader(one, own, under)
        if leader is None:
            others.append(one)
        else:
            followed.setdefault(leader.number, []).append(one)
    found = _grouped(own, followed, axes, under)
    roles = _roles(found, axes, batch)
    inside = activations(axes, batch, roles, [entry.groups for entry in found])
    return Classes(tuple(inputs), tuple(found), data, tuple(others), batch, roles, inside)


def _join_repeated(inputs: Sequence[Input], axes: Axes) -> None:
    """Arrays whose paths differ only in numbers belong to repeated blocks: their axes are split in the same way.

    Not if that would unite two axes of one array, as in a chain of square layers: there each layer consumes the
    previous one's result.
    """
    buckets: dict[Any, list[Input]] = {}
    for one in inputs:
        key = (tuple(re.sub(r"\d+", "*", k) for k in one.keys), one.shape, one.dtype)
        buckets.setdefault(key, []).append(one)
    for bucket in buckets.values():
        before = list(axes.parents)
        twice = {one.number for one in inputs if _doubled(one, axes)} if len(bucket) > 1 else set()
        for one in bucket[1:]:
            for left, right in zip(axes.nodes[bucket[0].number], axes.nodes[one.number], strict=True):
                axes.join(left, right)
        if len(bucket) > 1 and any(_doubled(one, axes) for one in inputs if one.number not in twice):
            axes.parents[:] = before


def _doubled(one: Input, axes: Axes) -> bool:
    groups = axes.groups(one.number)
    return len(set(groups)) < len(groups)


def _is_weight(one: Input, axes: Axes) -> bool:
    return "float" in one.dtype and bool(axes.uses.get(one.number))


def _batch(inputs: Sequence[Input], axes: Axes) -> Node | None:
    """The leading axis that most computations share, of an input that is not updated."""
    carried = axes.by_group(axes.carried)
    barred = {axes.group(n) for n in axes.stacked}
    for uses in axes.uses.values():
        barred |= {axes.group(n) for n in (*uses[0].contracted, *uses[0].looked_up)}
    state = any(one.output is not None for one in inputs)
    for pool in ([one for one in inputs if one.output is None] if state else list(inputs), inputs):
        found = {
            axes.group(axes.nodes[one.number][0])
            for one in pool
            if one.shape and one.shape[0] > 1 and axes.group(axes.nodes[one.number][0]) not in barred
        }
        found = {group for group in found if carried.get(group)}
        if found:
            return max(found, key=lambda group: carried[group])
    return None


def _parameters(
    inputs: Sequence[Input], weights: Sequence[Input], carries: set[int]
) -> tuple[list[Input], Path]:
    """The weights in products or look-ups, and the other leaves of the same tree; and that tree."""
    if not weights:
        return [], ()
    prefix = above([one.keys for one in weights])
    named = {one.number for one in weights}
    if len(prefix) < 2:  # the arguments themselves: other arguments need not be parameters
        return list(weights), prefix
    beside = [
        one
        for one in inputs
        if one.number in named
        or (one.keys[: len(prefix)] == prefix and "float" in one.dtype and one.number not in carries)
    ]
    return beside, prefix


def above(paths: Sequence[Path]) -> Path:
    """The common leading keys of all paths, without each path's last key."""
    prefix = paths[0][:-1] if paths else ()
    for keys in paths:
        common = 0
        while common < min(len(prefix), len(keys)) and prefix[common] == keys[common]:
            common += 1
        prefix = prefix[:common]
    return prefix


def _is_data(one: Input, axes: Axes, batch: Node | None, own: set[int], carries: set[int]) -> bool:
    return batch is not None and one.number in carries and one.number not in own


def _leader(one: Input, own: Sequence[Input], under: Path) -> Input | None:
    """The parameter of an optimiser moment: the same shape, and a similar end of the path."""
    best, length = None, 0
    for parameter in own:
        if parameter.shape != one.shape or not one.shape:
            continue
        tail = parameter.keys[len(under) :] or parameter.keys[-1:]
        shared = 0
        while shared < min(len(tail), len(one.keys)) and tail[-1 - shared] == one.keys[-1 - shared]:
            shared += 1
        if shared > length:
            best, length = parameter, shared
    return best


def _grouped(
    own: Sequence[Input], followed: dict[int, list[Input]], axes: Axes, under: Path
) -> list[ParameterClass]:
    found: dict[Any, ParameterClass] = {}
    for one in own:
        groups = axes.groups(one.number)
        kind = axes.uses[one.number][0].kind if one.number in axes.uses else ""
        entry = found.setdefault(
            (one.shape, groups, kind),
            ParameterClass(
                "", one.shape, groups, [], tuple(axes.uses.get(one.number, ())), axes.nodes[one.number]
            ),
        )
        entry.members.append(one)
        entry.followers += followed.get(one.number, [])
    for entry in found.values():
        entry.name = _name([one.keys[len(under) :] or one.keys[-1:] for one in entry.members])
    return list(found.values())


def _name(paths: Sequence[Path]) -> str:
    """One name for several paths: numbers become stars, names that differ are in braces."""
    plain = list(dict.fromkeys(tuple(re.sub(r"\d+", "*", key) for key in path) for path in paths))
    if len({len(path) for path in plain}) > 1:
        shown = [".".join(path) for path in plain]
        return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")
    parts = []
    for keys in zip(*plain, strict=True):
        distinct = list(dict.fromkeys(keys))
        parts.append(distinct[0] if len(distinct) == 1 else "{" + ",".join(distinct) + "}")
    return ".".join(parts)


def _roles(found: Sequence[ParameterClass], axes: Axes, batch: Node | None) -> dict[Node, str]:
    """The role of each group of axes, from the uses of its parameters."""
    contracted: dict[Node, int] = {}
    freed: dict[Node, int] = {}
    members: dict[Node, int] = {}
    roles: dict[Node, str] = {}
    for entry in found:
        first = {use.kind: use for use in reversed(entry.uses)}
        for group in set(entry.groups):
            members[group] = members.get(group, 0) + 1
        for node in first["product"].contracted if "product" in first else ():
            contracted[axes.group(node)] = contracted.get(axes.group(node), 0) + 1
        for node in first["product"].free if "product" in first else ():
            freed[axes.group(node)] = freed.get(axes.group(node), 0) + 1
        for node in first["product"].batched if "product" in first else ():
            roles.setdefault(axes.group(node), "experts")
        for node in first["lookup"].free if "lookup" in first else ():
            freed[axes.group(node)] = freed.get(axes.group(node), 0) + 1
        for node in first["lookup"].looked_up if "lookup" in first else ():
            roles[axes.group(node)] = "vocab"
    roles.update((axes.group(node), "layers") for node in axes.stacked)
    if batch is not None:
        roles[batch] = "batch"
    parts: dict[Node, set[int]] = {}
    for node, sizes in axes.parts.items():
        parts.setdefault(axes.group(node), set()).update(sizes)
    between = {axes.group(node) for node in axes.between}
    inner = {axes.group(node) for node in axes.inner}
    inside = [group for group in members if group in contracted and group in freed and group not in roles]
    if inside:
        residual = max(inside, key=lambda group: members[group])
        if contracted[residual] + freed[residual] > 2 or (len(inside) == 1 and members[residual] > 3):
            roles[residual] = "embed"
    for group in members:
        if group in roles:
            continue
        if group in between or (parts.get(group) and group in contracted and group in freed):
            roles[group] = "heads"
        elif group in inner:
            roles[group] = "head width"
        elif group in contracted and group in freed:
            roles[group] = "hidden"
        elif group in freed:
            roles[group] = "outputs"
        elif group in contracted:
            roles[group] = "features"
        else:
            roles[group] = "other"
    return roles
