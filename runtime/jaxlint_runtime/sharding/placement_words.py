"""The name and the description of a placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxlint_runtime.sharding.activation_constraints import constraint_in_words
from jaxlint_runtime.sharding.input_classes import Classes, ParameterClass
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.placed_program import Figures
from jaxlint_runtime.sharding.strategies import Spec, Strategy

_INSIDE = ("heads", "hidden")


def title(strategy: Strategy, classes: Classes, mesh: MeshShape) -> str:
    """The customary names for the parts of a placement, as one phrase."""
    used = [_used(strategy, classes, n) for n in range(len(classes.parameters))]
    parts = []
    tensor = _tensor(classes, used)
    if tensor == "paired":
        parts.append("Megatron tensor parallelism")
    elif tensor:
        parts.append("tensor parallelism")
    vocabulary = [name for name in ("embedding", "output layer") if _vocabulary(classes, used, name)]
    if vocabulary:
        parts.append("a vocabulary-parallel " + " and ".join(vocabulary))
    if _split_of(classes, used, "experts"):
        parts.insert(0, "expert parallelism")
    kept = _kept(strategy, classes)
    if kept == "parameters":
        parts.append("fully sharded data parallelism (ZeRO-3)")
    elif kept == "state":
        parts.append("optimizer-state sharding (ZeRO-1)")
    elif not parts:
        parts.append("data parallelism")
    name = " with ".join([parts[0], " and ".join(parts[1:])]) if len(parts) > 1 else parts[0]
    over = "+".join(strategy.batch)
    return f"{name}, the batch over {over}" if classes.data and over else name


def sentences(
    strategy: Strategy, classes: Classes, mesh: MeshShape, figures: Figures | None
) -> Iterator[str]:
    """How each class of parameters is split and why that fits together, then what is sent."""
    used = [_used(strategy, classes, n) for n in range(len(classes.parameters))]
    by_group: dict[tuple[int, tuple[str, ...]], list[tuple[ParameterClass, int]]] = {}
    for entry, spec in zip(classes.parameters, used, strict=True):
        for position, axes in enumerate(spec):
            if axes:
                by_group.setdefault((entry.groups[position], axes), []).append((entry, position))
    for (group, axes), entries in by_group.items():
        role = classes.roles.get(group, "axis")
        yield from _split_over(axes, role, entries)
        if role == "experts":
            yield _experts(axes, entries, strategy, figures)
    kept = _kept(strategy, classes)
    if kept == "parameters":
        yield "parameters and optimizer state are sharded; the step gathers the parameters and scatters the gradients"
    elif kept == "state":
        yield "the optimizer state is sharded; parameters are replicated and gathered after the update"
    for number, held in strategy.held.items():
        yield f"{constraint_in_words(classes.activations[number], classes.roles)} is sharded: {_why(strategy, classes, number, held)}"
    whole = [
        entry.name
        for n, entry in enumerate(classes.parameters)
        if not any(strategy.spec(classes, n)) and entry.shape
    ]
    if whole and len(whole) < len(classes.parameters):
        yield f"{_list(whole)}: replicated"
    if figures is not None and (sent := _sent(figures)):
        yield sent


def _split_over(
    axes: tuple[str, ...], role: str, entries: Sequence[tuple[ParameterClass, int]]
) -> Iterator[str]:
    """How the parameters with one index are split over mesh axes."""
    columns = [e.name for e, p in entries if _part(e, p) == "free"]
    rows = [e.name for e, p in entries if _part(e, p) == "contracted"]
    looked = [e.name for e, p in entries if _part(e, p) == "looked_up"]
    over = "+".join(axes)
    if looked:
        yield (
            f"{_list(looked)}: the rows of the table are split over {over} (a vocabulary-parallel embedding); each device looks "
            "up its own rows, and one all-reduce of activations adds them"
        )
    if columns and rows:
        yield (
            f"{_list(columns)} by columns, then {_list(rows)} by rows, over {over} (the {role} axis): activations between them stay "
            "on their device, and one all-reduce of activations follows the rows"
        )
    elif columns and role in ("outputs", "vocab"):
        yield (
            f"{_list(columns)} by columns over {over} (the {role} axis): each device has the scores of its columns, and "
            "the softmax reduces over the devices"
        )
    elif columns:
        yield f"{_list(columns)} by columns over {over} (the {role} axis)"
    elif rows:
        yield f"{_list(rows)} by rows over {over} (the {role} axis): one all-reduce of activations follows"


def _experts(
    axes: tuple[str, ...],
    entries: Sequence[tuple[ParameterClass, int]],
    strategy: Strategy,
    figures: Figures | None,
) -> str:
    over = "+".join(axes)
    exchanged = figures.by_kind.get("all-to-all", 0.0) if figures else 0.0
    if set(axes) & set(strategy.batch):
        how = "the tokens routed to them come from the whole batch and go back"
        how += f" ({_size(exchanged)} by all-to-all)" if exchanged else ""
    else:
        how = "it computes them for its part of the batch, and one all-reduce of activations adds the results"
    return f"{_list([e.name for e, _ in entries])}: the experts are split over {over}; {how}"


def _sent(figures: Figures) -> str:
    """The communication of a device in a call; empty if there is none."""
    sent = ", ".join(
        f"{_size(nbytes)} over {axes}" for axes, nbytes in sorted(figures.by_axes.items()) if nbytes
    )
    kinds = ", ".join(
        f"{kind} {_size(nbytes)}"
        for kind, nbytes in sorted(figures.by_kind.items(), key=lambda item: -item[1])
        if nbytes
    )
    return f"each device sends {sent} a call ({kinds})" if sent else ""


def _why(strategy: Strategy, classes: Classes, number: int, held: Spec) -> str:
    """The effect of a constraint on an activation."""
    one = classes.activations[number]
    shown = [
        f"{classes.roles.get(group, 'other')} over {'+'.join(axes)}"
        for (group, _), axes in zip(one.axes, held, strict=True)
        if axes
    ]
    said = ", ".join(shown) or "whole"
    experts = {
        name
        for (group, _), axes in zip(one.axes, held, strict=True)
        for name in axes
        if classes.roles.get(group) == "experts"
    }
    if one.dispatched and not experts and _split_over_batch(strategy, classes):
        return f"{said}, outside of the experts"
    if one.dispatched and experts & set(strategy.batch):
        return f"{said}, so that tokens move to their experts and experts stay"
    if any(axes for (group, _), axes in zip(one.axes, held, strict=True) if group not in classes.roles):
        return f"{said}, so that the sequence is split between the products (sequence parallelism)"
    return f"{said}, where the compiler alone communicates more"


def _split_over_batch(strategy: Strategy, classes: Classes) -> bool:
    """Whether experts are on devices with other parts of the batch."""
    split = strategy.split(classes)
    return any(
        classes.roles.get(group) == "experts" and set(axes) & set(strategy.batch)
        for group, axes in split.items()
    )


def _used(strategy: Strategy, classes: Classes, number: int) -> Spec:
    return strategy.used.get(number) or strategy.spec(classes, number)


def _part(entry: ParameterClass, position: int) -> str:
    """The role of a parameter axis in its first product or look-up."""
    node_of = dict(enumerate(entry.nodes))
    for use in entry.uses:
        for name in ("looked_up", "contracted", "free", "batched"):
            if node_of.get(position) in getattr(use, name):
                return name
    return ""


def _tensor(classes: Classes, used: list[Spec]) -> str:
    """ "paired" if the columns of one matrix and the rows of the next are split in the same way, "some" if only one
    is."""
    found = ""
    for group, role in classes.roles.items():
        if role not in _INSIDE:
            continue
        sides = {
            _part(entry, position): axes
            for entry, spec in zip(classes.parameters, used, strict=True)
            for position, axes in enumerate(spec)
            if axes and entry.groups[position] == group
        }
        if "free" in sides and "contracted" in sides:
            return "paired"
        if sides:
            found = "some"
    return found


def _vocabulary(classes: Classes, used: list[Spec], which: str) -> bool:
    part = "looked_up" if which == "embedding" else "free"
    roles = ("vocab",) if which == "embedding" else ("outputs", "vocab")
    return any(
        axes and classes.roles.get(entry.groups[position]) in roles and _part(entry, position) == part
        for entry, spec in zip(classes.parameters, used, strict=True)
        for position, axes in enumerate(spec)
        if len(entry.shape) > 1
    )


def _split_of(classes: Classes, used: list[Spec], role: str) -> bool:
    return any(
        axes and classes.roles.get(entry.groups[position]) == role
        for entry, spec in zip(classes.parameters, used, strict=True)
        for position, axes in enumerate(spec)
    )


def _kept(strategy: Strategy, classes: Classes) -> str:
    """Whether "parameters" or "state" are stored in parts other than those in use."""
    own = state = 0
    for number, entry in enumerate(classes.parameters):
        spec, behind = strategy.spec(classes, number), strategy.followers(classes, number)
        if strategy.used.get(number, spec) != spec or _spread(entry, spec, strategy, classes):
            own += entry.nbytes
        elif any(behind) and behind != spec:
            state += entry.nbytes
    if own * 2 > classes.parameter_bytes:
        return "parameters"
    return "state" if (state + own) * 2 > classes.parameter_bytes else ""


def _spread(entry: ParameterClass, spec: Spec, strategy: Strategy, classes: Classes) -> bool:
    """Whether it is split over batch axes, along an axis that no product uses in parts."""
    return any(
        set(axes) & set(strategy.batch)
        and classes.roles.get(group) not in (*_INSIDE, "vocab", "outputs", "experts")
        for group, axes in zip(entry.groups, spec, strict=True)
    )


def _list(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return " and ".join(distinct) if len(distinct) < 3 else ", ".join(distinct[:-1]) + " and " + distinct[-1]


def _size(number: float) -> str:
    from jaxlint_runtime.wording.units import size

    return size(number)
