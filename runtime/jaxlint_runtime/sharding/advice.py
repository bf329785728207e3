"""Advice on other ways of using several devices, given only if the program itself gives a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.sharding.input_classes import Classes
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.placed_program import Figures
from jaxlint_runtime.sharding.placement_code import written
from jaxlint_runtime.sharding.stated_constraints import foreign
from jaxlint_runtime.sharding.strategies import Strategy
from jaxlint_runtime.source_analysis.parsing import tree_of_file
from jaxlint_runtime.wording.units import size


def undivided(classes: Classes, mesh: MeshShape) -> Iterator[str]:
    """Axes that the mesh size does not divide, and that so cannot be split."""
    sizes = sorted({mesh.size((name,)) for name in mesh.split})
    if classes.data:
        batch = classes.data[0].shape[0]
        if mesh.split and all(batch % n for n in sizes):
            yield f"no axis of {mesh} divides the batch of {batch} ({classes.data[0].path}): every device computes the whole batch"
    for entry in classes.parameters:
        for group, length in zip(entry.groups, entry.shape, strict=True):
            role = classes.roles.get(group, "")
            if role in ("heads", "hidden", "vocab", "outputs", "experts") and any(length % n for n in sizes):
                largest = max(n for n in sizes if length % n)
                padded = -(-length // largest) * largest
                yield f"{entry.name}: {largest} does not divide its {role} axis of {length}; pad it to {padded} to split it"


def experts(
    classes: Classes, mesh: MeshShape, strategy: Strategy, tried: Sequence[tuple[Strategy, float]] = ()
) -> Iterator[str]:
    """Expert parallelism, and ensembles, whose members are independent. `tried` has placements and their scores."""
    groups = [group for group, role in classes.roles.items() if role == "experts"]
    for group in groups:
        with_it = [entry for entry in classes.parameters if group in entry.groups]
        count = next((entry.shape[entry.groups.index(group)] for entry in with_it), 0)
        if len(with_it) == len(classes.parameters) > 1 and all(entry.groups[0] == group for entry in with_it):
            yield (
                f"all parameters have an axis of {count} that vmap maps over: an ensemble. Split over that axis, its members send nothing "
                "(use vmap(..., spmd_axis_name=...) if there are sharding constraints inside)"
            )
            continue
        share = sum(entry.nbytes for entry in with_it) / max(1, classes.parameter_bytes)
        said = f"{count} experts hold {share:.0%} of the parameters"
        if _splits(classes, strategy, group):
            yield f"{said}; the best placement splits them (expert parallelism)"
            continue
        inside = any(
            any(strategy.spec(classes, n))
            for n, entry in enumerate(classes.parameters)
            if group in entry.groups
        )
        yield (
            said
            + "; "
            + (
                "the best placement splits each expert over all devices"
                if inside
                else "the best placement replicates them"
            )
        )
        scores = [score for one, score in tried if _splits(classes, one, group)]
        own = next((score for one, score in tried if one is strategy), None)
        if scores and own is not None:
            yield f"expert parallelism scored {min(scores):.2f} at best, the best placement {own:.2f}"


def _splits(classes: Classes, strategy: Strategy, group: int) -> bool:
    """Whether a placement splits a group of axes of the parameters."""
    return any(
        strategy.spec(classes, n)[entry.groups.index(group)]
        for n, entry in enumerate(classes.parameters)
        if group in entry.groups
    )


def explicit(jaxpr: Any, figures: Figures, mesh: MeshShape) -> Iterator[str]:
    """If the compiler does not find an efficient program, `shard_map` states the communication explicitly."""
    if names := foreign(jaxpr, mesh.names):
        yield f"sharding constraints over {', '.join(sorted(names))} are ignored, since the mesh has no such axis"
    for one in figures.rematerialised[:3]:
        yield (
            f"the compiler gathers {one} (involuntary rematerialization); a with_sharding_constraint there, or jax.shard_map "
            "with explicit collectives, avoids it"
        )
    for name in sorted(_explicit(jaxpr)):
        yield f"the step calls {name}, whose communication is explicit and not changed"


def avoided(before: Figures, after: Figures) -> Iterator[str]:
    """Arrays that the compiler no longer gathers with the found constraints on activations."""
    for one in before.rematerialised:
        if one not in after.rematerialised:
            yield f"without the sharding constraints on activations the compiler gathers {one} (involuntary rematerialization)"


def _explicit(jaxpr: Any) -> set[str]:
    found = set()
    for eqn in open_jaxpr(jaxpr).eqns:
        if eqn.primitive.name in ("shard_map", "xla_pmap"):
            found.add("shard_map" if eqn.primitive.name == "shard_map" else "pmap")
        for _, body in inner_jaxprs(eqn):
            found |= _explicit(body)
    return found


def pmaps(path: str, mesh: MeshShape, batch: tuple[str, ...]) -> Iterator[str]:
    """Uses of pmap in the file of the function."""
    tree = tree_of_file(path)
    if tree is None:
        return
    for node in ast.walk(tree):
        used = (isinstance(node, ast.Attribute) and node.attr == "pmap") or (
            isinstance(node, ast.Name) and node.id == "pmap"
        )
        if used and isinstance(node, ast.Attribute | ast.Name):
            yield (
                f"line {node.lineno}: replace pmap by jax.jit of the function without the device axis, the batch sharded as "
                f"{written((batch,))} and the state as found here; remove pmean and psum over the axis, since jax.jit computes over "
                "the whole batch"
            )
            return


def layout(mesh: MeshShape, devices: Sequence[Any], arranged: Any, figures: Figures) -> Iterator[str]:
    """The placement of the mesh axes on the torus, and the better order of the devices.

    `arranged` are the devices in the layout of `jax.make_mesh`. Wrap-around links are not counted on: a small slice
    has none.
    """
    if getattr(devices[0], "coords", None) is None:
        return
    import numpy as np

    plain = np.array(devices).reshape(mesh.sizes)
    far = {"make": 0.0, "plain": 0.0}
    for number, (name, count) in enumerate(zip(mesh.names, mesh.sizes, strict=True)):
        if count < 2:
            continue
        made, own = _ring(arranged, number), _ring(plain, number)
        sent = sum(n for axes, n in figures.by_axes.items() if name in axes.split("+"))
        far["make"], far["plain"] = far["make"] + made * sent, far["plain"] + own * sent
        yield (
            f"a ring over {name} takes {own} links in the order of jax.devices(), {made} in that of jax.make_mesh; it sends "
            f"{size(sent)}"
        )
    if far["plain"] < far["make"]:
        shape = f"np.array(jax.devices()).reshape{mesh.sizes!r}"
        yield f"jax.devices() has the shorter rings: Mesh({shape}, {mesh.names!r})"
    elif far["make"] < far["plain"]:
        yield "jax.make_mesh has the shorter rings: do not reshape jax.devices() by hand"


def _ring(arranged: Any, axis: int) -> int:
    """The links of the longest ring along an axis: from each device to the next, and from the last to the first."""
    import numpy as np

    moved = np.moveaxis(arranged, axis, -1)
    rings = []
    for row in moved.reshape(-1, moved.shape[-1]):
        pairs = zip(row, np.roll(row, -1), strict=True)
        rings.append(
            sum(abs(a - b) for one, two in pairs for a, b in zip(one.coords, two.coords, strict=True))
        )
    return int(max(rings, default=0))
