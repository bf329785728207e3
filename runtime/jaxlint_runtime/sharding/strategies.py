"""Placements of a step's inputs on a mesh: a spec for each class of parameters, and the named strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jaxlint_runtime.sharding.activation_constraints import choices
from jaxlint_runtime.sharding.axis_groups import Node
from jaxlint_runtime.sharding.input_classes import Classes, ParameterClass
from jaxlint_runtime.sharding.mesh import DATA, EXPERT, MODEL, MeshShape

Spec = tuple[tuple[str, ...], ...]  # for each axis of an array the mesh axes that split it
_SMALL = 256  # elements below which splitting over the data axis is not worth a collective
_INSIDE = ("heads", "hidden")  # groups between two products of a block
_VOCABULARY = ("vocab", "outputs")


@dataclass(frozen=True)
class Strategy:
    """Specs for the classes of parameters by number and for the state that follows them, and the axes that split the
    batch.

    `state` holds specs of followers that differ from their parameters'. `used` holds specs to which parameters that
    are stored in smaller parts are gathered at the start of the step, as in fully sharded data parallel. `held` has
    the specs of activations inside the step, by number.
    """

    name: str
    batch: tuple[str, ...]
    specs: Mapping[int, Spec] = field(default_factory=dict)
    state: Mapping[int, Spec] = field(default_factory=dict)
    used: Mapping[int, Spec] = field(default_factory=dict)
    held: Mapping[int, Spec] = field(default_factory=dict)

    def spec(self, classes: Classes, number: int) -> Spec:
        """The spec of a class of parameters."""
        return self.specs.get(number) or ((),) * len(classes.parameters[number].shape)

    def followers(self, classes: Classes, number: int) -> Spec:
        """The spec of the state that follows a class of parameters."""
        return self.state.get(number) or self.spec(classes, number)

    def with_spec(self, number: int, spec: Spec) -> Strategy:
        """The same, with another spec for one class and the state that follows it."""
        state = {n: one for n, one in self.state.items() if n != number}
        used = {n: one for n, one in self.used.items() if n != number}
        return replace(self, specs={**self.specs, number: spec}, state=state, used=used)

    def gathered(self, classes: Classes) -> dict[int, Spec]:
        """By input: the specs to which parameters are gathered at the start of the step."""
        return {
            one.number: spec
            for number, spec in self.used.items()
            if spec != self.spec(classes, number)
            for one in classes.parameters[number].members
        }

    def split(self, classes: Classes) -> dict[Node, tuple[str, ...]]:
        """The mesh axes that split each group of axes where parameters are used."""
        found: dict[Node, tuple[str, ...]] = {}
        for number, entry in enumerate(classes.parameters):
            spec = self.used.get(number) or self.spec(classes, number)
            found.update((group, axes) for group, axes in zip(entry.groups, spec, strict=True) if axes)
        return found

    def holding(self, number: int, spec: Spec) -> Strategy:
        """The same, with one activation constrained to `spec`."""
        return replace(self, held={**self.held, number: spec})

    def leaves(self, classes: Classes, mesh: MeshShape) -> tuple[Spec, ...]:
        """One spec for each input."""
        found: dict[int, Spec] = {}
        for number, entry in enumerate(classes.parameters):
            found.update((one.number, self.spec(classes, number)) for one in entry.members)
            found.update((one.number, self.followers(classes, number)) for one in entry.followers)
        for one in classes.data:
            # a batch that the mesh does not divide stays whole
            splits = bool(one.shape) and one.shape[0] % mesh.size(self.batch) == 0
            found[one.number] = ((self.batch if splits else ()), *((),) * (len(one.shape) - 1))
        return tuple(found.get(one.number, ((),) * len(one.shape)) for one in classes.inputs)


Assignment = dict[Node, tuple[str, ...]]


def fully_sharded(
    name: str,
    classes: Classes,
    mesh: MeshShape,
    batch: tuple[str, ...],
    specs: Mapping[int, Spec],
    axes: tuple[str, ...],
) -> Strategy:
    """Computes as with `specs`, with everything stored split over `axes` as well."""
    kept = spread(classes, mesh, specs, axes)
    used = {n: specs.get(n, ((),) * len(classes.parameters[n].shape)) for n in kept}
    return Strategy(name, batch, kept, {}, used)


def by_groups(classes: Classes, mesh: MeshShape, assignment: Assignment) -> dict[int, Spec]:
    """Specs that split each axis like its group. Each mesh axis is used at most once in an array, where it divides."""
    found = {}
    for number, entry in enumerate(classes.parameters):
        used: set[str] = set()
        spec = []
        for group, size in zip(entry.groups, entry.shape, strict=True):
            axes = tuple(name for name in assignment.get(group, ()) if name not in used)
            if not axes or size % mesh.size(axes):
                axes = ()
            used.update(axes)
            spec.append(axes)
        if any(spec):
            found[number] = tuple(spec)
    return found


def spread(
    classes: Classes, mesh: MeshShape, specs: Mapping[int, Spec], axes: tuple[str, ...]
) -> dict[int, Spec]:
    """Each array additionally split over `axes`, along its largest divisible axis: ZeRO-3, fully sharded data
    parallel."""
    found = dict(specs)
    for number, entry in enumerate(classes.parameters):
        spec = list(found.get(number, ((),) * len(entry.shape)))
        size = entry.nbytes // max(1, len(entry.members))
        if size < 4 * _SMALL:
            continue
        stacked = 1 if classes.roles.get(entry.groups[0]) == "layers" else 0  # a loop needs whole layers
        order = sorted(range(stacked, len(spec)), key=lambda n: (bool(spec[n]), -entry.shape[n]))
        for n in order:
            together = (*spec[n], *(name for name in axes if name not in spec[n]))
            taken = {name for m, one in enumerate(spec) for name in one if m != n}
            if taken.isdisjoint(axes) and entry.shape[n] % mesh.size(together) == 0:
                spec[n] = together
                found[number] = tuple(spec)
                break
    return found


def data_axes(mesh: MeshShape) -> tuple[str, ...]:
    """The axes that split the batch in plain data parallel training."""
    return mesh.of_kind(DATA) or mesh.split[:1]


def named(classes: Classes, mesh: MeshShape) -> Iterator[Strategy]:
    """The customary strategies that are possible with this mesh and these parameters; plain data parallel first."""
    data = data_axes(mesh)
    model = tuple(name for name in mesh.split if name not in data)
    everywhere = mesh.split
    yield Strategy("data parallel", data)
    if len(everywhere) > len(data):
        yield Strategy("data parallel over all axes", everywhere)
    if classes.trains and any(entry.followers for entry in classes.parameters):
        yield Strategy("ZeRO-1", everywhere, {}, spread(classes, mesh, {}, everywhere))
    if classes.trains:
        yield fully_sharded("FSDP", classes, mesh, data, {}, data)
        if len(everywhere) > len(data):
            yield fully_sharded("FSDP over all axes", classes, mesh, everywhere, {}, everywhere)
    tensor = mesh.of_kind(MODEL) or model
    inside = _inside(classes, mesh, tensor) if tensor else {}
    yield from _expert_parallel(classes, mesh, data, model, inside)
    name = "tensor parallel"
    specs = by_groups(classes, mesh, inside)
    if specs:
        yield Strategy(name, data, specs)
    vocabulary = (
        {group: tensor for group, role in classes.roles.items() if role in _VOCABULARY} if tensor else {}
    )
    wider = by_groups(classes, mesh, {**inside, **vocabulary})
    if wider and wider != specs:
        name, specs = f"{name}, vocabulary too", wider
        yield Strategy(name, data, specs)
    if specs and classes.trains:
        if any(entry.followers for entry in classes.parameters):
            yield Strategy(f"{name}, with ZeRO-1", data, specs, spread(classes, mesh, specs, data))
        yield fully_sharded(f"{name}, with FSDP", classes, mesh, data, specs, data)


def _expert_parallel(
    classes: Classes, mesh: MeshShape, data: tuple[str, ...], model: tuple[str, ...], inside: Assignment
) -> Iterator[Strategy]:
    """Experts over the expert axis or the model axis, and over the data axis, which needs an all-to-all."""
    groups = [group for group, role in classes.roles.items() if role == "experts"]
    if not groups:
        return
    own = mesh.of_kind(EXPERT)
    for axes in (own,) if own else (model, data):
        specs = by_groups(classes, mesh, dict.fromkeys(groups, axes)) if axes else {}
        if not specs:
            continue
        name = "expert parallel" if axes != data else "expert parallel over the data axis"
        first = Strategy(name, data, specs)
        yield _tokens_follow(first, classes, mesh)
        if classes.trains and axes != data:
            yield fully_sharded(f"{name} with FSDP", classes, mesh, data, specs, data)
        within = {group: one for group, one in inside.items() if not set(one) & set(axes)}
        both = by_groups(classes, mesh, {**within, **dict.fromkeys(groups, axes)})
        if both != specs:
            name = f"{name}, tensor parallel"
            yield _tokens_follow(Strategy(name, data, both), classes, mesh)
            if classes.trains and any(entry.followers for entry in classes.parameters):
                more = Strategy(f"{name}, with ZeRO-1", data, both, spread(classes, mesh, both, data))
                yield _tokens_follow(more, classes, mesh)


def _tokens_follow(strategy: Strategy, classes: Classes, mesh: MeshShape) -> Strategy:
    """For experts on devices with other parts of the batch: tokens by batch outside and by expert inside.

    Between the two the compiler sends tokens (an all-to-all). With only one of them it may gather the tokens or the
    experts.
    """
    split = strategy.split(classes)
    over = {name for group, axes in split.items() if classes.roles.get(group) == "experts" for name in axes}
    if not over & set(strategy.batch):
        return strategy
    for number, one in enumerate(classes.activations):
        inside = any(classes.roles.get(group) == "hidden" for group in one.groups)
        ways = list(choices(one, mesh, classes.roles, strategy.batch, split)) if one.dispatched else []
        for spec in ways:
            by_expert = any(
                axes and classes.roles.get(group) == "experts"
                for group, axes in zip(one.groups, spec, strict=True)
            )
            if by_expert == inside:
                strategy = strategy.holding(number, spec)
                break
    return strategy


def activation_moves(
    classes: Classes, mesh: MeshShape, strategy: Strategy
) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
    """Constraints on one activation, largest bytes first, that follow from the placement of the parameters."""
    split = strategy.split(classes)
    heavy = sorted(range(len(classes.activations)), key=lambda n: -classes.activations[n].nbytes)
    for number in heavy:
        one = classes.activations[number]
        for spec in choices(one, mesh, classes.roles, strategy.batch, split):
            if strategy.held.get(number) != spec:
                yield f"activation {number + 1}", _holding_move(number, spec)


def _holding_move(number: int, spec: Spec) -> Callable[[Strategy], Strategy]:
    return lambda strategy: strategy.holding(number, spec)


def _inside(classes: Classes, mesh: MeshShape, axes: tuple[str, ...]) -> Assignment:
    """Every other group between two products: the columns of the first matrix and the rows of the second."""
    found: Assignment = {}
    beside: set[Node] = set()  # in one array with an axis that is split already
    for entry in classes.parameters:
        for group in entry.groups:
            if classes.roles.get(group) in _INSIDE and group not in beside:
                found[group] = axes
                for other in classes.parameters:
                    if group in other.groups:
                        beside.update(other.groups)
    return found


def group_moves(classes: Classes, mesh: MeshShape) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
    """Changes of all classes with a group of axes together, largest bytes first."""
    weight: dict[Node, int] = {}
    for entry in classes.parameters:
        for group in set(entry.groups):
            weight[group] = weight.get(group, 0) + entry.nbytes
    for group in sorted(weight, key=lambda one: -weight[one]):
        if classes.roles.get(group) in ("batch", "layers"):
            continue
        for axes in _choices(mesh):
            yield _group_move(classes, mesh, group, axes)


def _group_move(
    classes: Classes, mesh: MeshShape, group: Node, axes: tuple[str, ...]
) -> tuple[str, Callable[[Strategy], Strategy]]:
    def move(strategy: Strategy) -> Strategy:
        for number, entry in enumerate(classes.parameters):
            if group in entry.groups:
                spec = _set(entry, strategy.spec(classes, number), entry.groups.index(group), axes, mesh)
                if spec is not None:
                    strategy = strategy.with_spec(number, spec)
        return strategy

    role = classes.roles.get(group, "axis")
    return f"{role} over {'+'.join(axes) or 'no axis'}", move


def class_moves(classes: Classes, mesh: MeshShape) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
    """Changes of one class, largest bytes first; classes below a hundredth of all bytes are left out."""
    order = sorted(range(len(classes.parameters)), key=lambda n: -classes.parameters[n].nbytes)
    for number in order:
        entry = classes.parameters[number]
        if entry.nbytes * 100 < classes.parameter_bytes:
            continue
        for spec in _specs(entry, classes, mesh):
            shown = ", ".join("+".join(axes) or "-" for axes in spec)
            yield f"{entry.name} as ({shown})", _class_move(number, spec)


def _class_move(number: int, spec: Spec) -> Callable[[Strategy], Strategy]:
    return lambda strategy: strategy.with_spec(number, spec)


def _specs(entry: ParameterClass, classes: Classes, mesh: MeshShape) -> Iterator[Spec]:
    empty: Spec = ((),) * len(entry.shape)
    yield empty
    for n in range(len(entry.shape)):
        if classes.roles.get(entry.groups[n]) == "layers":
            continue
        for axes in _choices(mesh):
            spec = _set(entry, empty, n, axes, mesh) if axes else None
            if spec is not None:
                yield spec


def _choices(mesh: MeshShape) -> Sequence[tuple[str, ...]]:
    single = [(name,) for name in mesh.split]
    return [*reversed(single), *([mesh.split] if len(mesh.split) > 1 else []), ()]


def _set(
    entry: ParameterClass, spec: Spec, position: int, axes: tuple[str, ...], mesh: MeshShape
) -> Spec | None:
    """The spec with one axis split over `axes`, which the other axes lose; None if it does not divide."""
    if axes and entry.shape[position] % mesh.size(axes):
        return None
    return tuple(
        axes if n == position else tuple(name for name in one if name not in axes)
        for n, one in enumerate(spec)
    )


def batch_moves(mesh: MeshShape) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
    """The batch over other axes."""
    for axes in _choices(mesh):
        if axes:
            yield f"batch over {'+'.join(axes)}", _batch_move(axes)


def _batch_move(axes: tuple[str, ...]) -> Callable[[Strategy], Strategy]:
    return lambda strategy: replace(strategy, batch=axes)


def state_moves(classes: Classes, mesh: MeshShape) -> Iterator[tuple[str, Callable[[Strategy], Strategy]]]:
    """The optimiser state split further than its parameters: ZeRO-1 on top of the rest."""
    if any(entry.followers for entry in classes.parameters):

        def move(strategy: Strategy) -> Strategy:
            specs = {n: strategy.spec(classes, n) for n in range(len(classes.parameters))}
            return replace(strategy, state=spread(classes, mesh, specs, data_axes(mesh)))

        yield "optimizer state over the data axis (ZeRO-1)", move
