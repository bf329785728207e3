"""Placements in the form of the parameters' framework: reading its annotations, and writing the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxlint_runtime import compat
from jaxlint_runtime.sharding.input_classes import Classes, ParameterClass
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.strategies import Spec, Strategy

Names = tuple[Any, ...]  # for each axis None, a name, or several: the arguments of `with_partitioning`

_INITIALIZERS = {
    "kernel": "kernel_init",
    "embedding": "embedding_init",
    "bias": "bias_init",
    "scale": "scale_init",
}


def framework(classes: Classes, nnx: bool) -> str | None:
    """ "nnx" or "linen", from the function's kind and the paths of its parameters; None for plain trees."""
    if nnx:
        return "nnx"
    members = [one for entry in classes.parameters for one in entry.members]
    keys = {key for one in members for key in one.keys}
    numbered = any(re.fullmatch(r"[A-Z]\w*_\d+", key) for key in keys)
    if keys & {"kernel", "embedding", "scale"} and ("params" in keys or numbered):
        return "linen"
    return "nnx" if members and all(one.path.endswith("value") for one in members) else None


def stated(structure: Any, count: int) -> dict[int, Names]:
    """By input: the axis names from `with_partitioning` (linen, nnx) or `with_logical_partitioning`."""
    found: dict[int, Names] = {}
    numbered = jax.tree.unflatten(structure, range(count))
    for box in jax.tree.leaves(compat.with_modules(numbered), is_leaf=lambda value: bool(_names(value))):
        names, inside = _names(box), jax.tree.leaves(box)
        if names and len(inside) == 1:
            found[inside[0]] = names
    return found


def _names(box: Any) -> Names:
    """The axis names in a linen box or an nnx variable."""
    module = type(box).__module__
    if module.startswith(("flax.core", "flax.linen")):
        return tuple(getattr(box, "names", None) or ())
    if module.startswith("flax.nnx") and hasattr(box, "get_metadata"):
        metadata = box.get_metadata()
        return tuple(
            metadata.get("out_sharding") or metadata.get("sharding_names") or metadata.get("sharding") or ()
        )
    return ()


def logical(names: Mapping[int, Names], mesh: MeshShape) -> bool:
    """Whether annotations use logical axis names, which rules map to mesh axes."""
    return any(name not in mesh.names for one in names.values() for part in one for name in _parts(part))


def as_spec(names: Names, shape: Sequence[int], mesh: MeshShape) -> Spec:
    """The spec in annotations with mesh axis names; axes that the mesh does not divide stay whole."""
    parts = [tuple(name for name in _parts(part) if name in mesh.split) for part in names[: len(shape)]]
    whole = [*parts, *[()] * (len(shape) - len(parts))]
    return tuple(() if size % mesh.size(part) else part for part, size in zip(whole, shape, strict=True))


def _parts(part: Any) -> tuple[str, ...]:
    return part if isinstance(part, tuple) else () if part is None else (part,)


def lines(
    strategy: Strategy,
    classes: Classes,
    mesh: MeshShape,
    which: str,
    names: Mapping[int, Names] | None = None,
) -> Iterator[str]:
    """The lines for the placement in the program: rules if its annotations are logical, otherwise one line for each
    changed class.

    `names` are the program's annotations.
    """
    names = names or {}
    if logical(names, mesh):
        yield from _rules(strategy, classes, mesh, which, names)
        return
    module = "nnx" if which == "nnx" else "nn"
    said = False
    for number, entry in enumerate(classes.parameters):
        spec = strategy.used.get(number) or strategy.spec(classes, number)
        own = _own(entry, names)
        before = as_spec(own, entry.shape, mesh) if own else ((),) * len(entry.shape)
        if spec == before or not entry.members:
            continue
        leaf = entry.members[0].keys[-1]
        initializer = _INITIALIZERS.get(leaf, f"{re.sub(chr(92) + 'W', '_', leaf)}_init")
        was = f" (now {own!r})" if own else ""
        said = True
        yield f"{entry.name}: {initializer}={module}.with_partitioning(init, {_written(spec)}){was}"
    if not said:
        if names:
            yield "its annotations already are the best placement"
        return
    if which == "nnx":
        yield (
            "build the model and its optimizer inside `with jax.set_mesh(mesh):`, which places parameters and moments as annotated"
        )
    else:
        yield "place the state as annotated: `nn.get_sharding(jax.eval_shape(create_state), mesh)` as `out_shardings` of the jitted `create_state`"


def _own(entry: ParameterClass, names: Mapping[int, Names]) -> Names:
    return next((names[one.number] for one in entry.members if one.number in names), ())


def _written(spec: Spec) -> str:
    return repr(tuple(axes[0] if len(axes) == 1 else (axes or None) for axes in spec))


def _rules(
    strategy: Strategy, classes: Classes, mesh: MeshShape, which: str, names: Mapping[int, Names]
) -> Iterator[str]:
    """Rules from logical axes to mesh axes; names that need different rules for different parameters are
    distinguished."""
    wanted: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for number, entry in enumerate(classes.parameters):
        spec = strategy.used.get(number) or strategy.spec(classes, number)
        for part, axes in zip(_own(entry, names), spec, strict=False):
            for name in _parts(part):
                wanted.setdefault(name, {}).setdefault(axes, []).append(entry.name)
    rules = []
    if classes.data:
        rules.append(("batch", strategy.batch[0] if len(strategy.batch) == 1 else strategy.batch or None))
    for name, choices in wanted.items():
        axes = max(choices, key=lambda one: len(choices[one]))
        rules.append((name, axes[0] if len(axes) == 1 else axes or None))
    context = "nn.logical_axis_rules" if which == "linen" else "nnx.logical_axis_rules"
    yield f"{context}({tuple(rules)!r})"
    for name, choices in wanted.items():
        most = max(choices, key=lambda one: len(choices[one]))
        for axes, where in choices.items():
            if axes != most:
                over = "+".join(axes) or "no axis"
                yield f"{', '.join(where)}: {name} over {over}; use another name there"
    for number, entry in enumerate(classes.parameters):
        if any(strategy.spec(classes, number)) and not _own(entry, names):
            yield f"{entry.name}: no axis names; best placement {_written(strategy.spec(classes, number))}"
