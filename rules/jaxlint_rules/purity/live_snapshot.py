"""States of flax.nnx models that are kept while the model is trained on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jaxlint.api import CallEvent, Frame, Loop, Reporter, Rule, concerns
from jaxlint.api.releases import PACKAGES, parse_version
from jaxlint.api.syntax import dotted, name_loads, names_stored, nodes_of, place_of, walk
from jaxlint.api.values import ExternalObject, Value
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._trained import Moment, Training, is_nnx, model_of
from jaxlint_rules.migration._changed_attributes import aim_at
from jaxlint_rules.migration._changed_names import target_text

_SINCE = "0.11.0"
_STATES = frozenset({"flax.nnx.state", "flax.nnx.split"})
_KEEPING = frozenset({"append", "appendleft", "add", "insert"})
_STEPS = re.compile(r"(?:^|_)(?:step|update|train|fit|learn|optimi[sz]e)")
_CHECKS = re.compile(r"eval|valid|test|loss|metric|predict|infer|sample")
_LAGGING = re.compile(
    r"(?:^|_)(?:target|ema|teacher|old|previous|prev|initial|init|frozen|anchor|snapshot|best)(?:_|$)"
)


@dataclass(slots=True)
class _Snapshot:
    """A call that returns the live state of `model`, kept at `place`, or in the container `place`."""

    event: CallEvent
    place: str
    model: Value | None
    text: str  # of the model
    made: Moment
    loop: ast.AST | None = None  # the innermost loop around the call
    chosen: ast.If | None = None  # the test that decides which iterations keep a state
    contained: bool = False


class LiveSnapshot(Rule):
    """A kept state of a flax.nnx model changes with the model.

    ## What it does
    Finds results of `nnx.state(model)` and `nnx.split(model)` that are kept while the model is
    trained on: the best state so far, a list of states, the state to which `nnx.update` resets the
    model. Also finds a target network that `nnx.merge` makes of the parts of the trained model.

    ## Why is this bad?
    Since flax 0.11.0 these functions return the variables of the model, not copies of them. An
    optimizer that updates the model changes them too: the best state is the last one, all states of
    the list are equal, `nnx.update(model, state)` changes nothing, and the target network is the
    model. Nothing raises an error.

    ## Example
    ```python
    for epoch in range(epochs):
        train_step(model, optimizer, batch)
        loss = validate(model)
        if loss < best_loss:
            best_loss, best_state = loss, nnx.state(model)
    nnx.update(model, best_state)
    ```

    ## Use instead
    ```python
    for epoch in range(epochs):
        train_step(model, optimizer, batch)
        loss = validate(model)
        if loss < best_loss:
            best_loss = loss
            best_state = jax.tree.map(jnp.copy, nnx.state(model))
    nnx.update(model, best_state)
    ```
    `nnx.clone(model)`, `nnx.to_pure_dict(state)` and `copy.deepcopy` separate them as well. With a
    step that donates the model only `jax.tree.map(jnp.copy, ...)` and `copy.deepcopy` keep the numbers.

    ## Fix safety
    The fix is unsafe: it changes the results, to those that the program asks for.

    ## When not to fix
    Not reported: a state that is read in the same branch, or that each iteration keeps of a model of
    its own. Before flax 0.11 the functions return copies.

    ## References
    - [flax: `nnx.state`](https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html)
    """

    code = "JAX208"
    name = "live-snapshot"
    category = "purity"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.training = Training()
        self.snapshots: dict[ast.AST, _Snapshot] = {}

    @concerns("flax.", callees=("Function", "BoundMethod", "Transformed", "ExternalMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.training.note(event)
        node = event.node
        if (
            event.frame.stage.staged
            or event.frame.is_in_test()
            or not isinstance(node, ast.Call)
            or not node.args
        ):
            return
        if event.name in _STATES and node not in self.snapshots:
            self.note_state(event, node)
        elif event.name == "flax.nnx.merge" and node not in self.snapshots:
            self.note_merged(event, node)

    def note_state(self, event: CallEvent, node: ast.Call) -> None:
        kept = _kept_at(node, event)
        if kept is not None and dotted(node.args[0]):
            place, contained = kept
            loop = event.frame.in_loop()
            self.snapshots[node] = _Snapshot(
                event,
                place,
                model_of(event.args[0]),
                dotted(node.args[0]),
                self.training.moment(event),
                loop.node if loop is not None else None,
                _choice(event.frame, loop) if loop is not None else None,
                contained,
            )

    def note_merged(self, event: CallEvent, node: ast.Call) -> None:
        """`self.target = nnx.merge(graphdef, state)`, with both parts from a split of the model."""
        statement = event.frame.module.parents.get(node)
        definition = event.args[0] if event.args else None
        target = (
            statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is node else None
        )
        split = _split_merged(node, event.frame)
        if target is None or split is None or not _LAGGING.search(last_name(target)):
            return
        model = definition.args[0] if isinstance(definition, ExternalObject) and definition.args else None
        if model is not None and is_nnx(model) and dotted(split.args[0]) != dotted(target):
            made = self.training.moment(event)
            self.snapshots[node] = _Snapshot(event, place_of(target), model, dotted(split.args[0]), made)

    def finish(self, report: Reporter) -> None:
        """Once all calls that train models are known."""
        for node, one in self.snapshots.items():
            assert isinstance(node, ast.Call)
            trained = self.trained_after(one)
            merged = one.event.name == "flax.nnx.merge"
            if not merged and (trained is None or not _is_read_later(one)) and not _changes_nothing(one):
                continue
            if merged and trained is None:
                continue
            report.event = one.event
            target, specifier = aim_at("flax", report)
            if not target.range.reaches(parse_version(_SINCE)):
                continue
            called = last_name(node.func)
            kept = f"`{one.place}`"
            line = getattr(trained, "lineno", 0)
            then = (
                f"line {line} then updates `{one.text}` in place"
                if line
                else f"`nnx.update` gets the variables of `{one.text}`"
            )
            report(
                node,
                f"{kept} follows `{one.text}`: since {PACKAGES['flax'][0]} {_SINCE} `nnx.{called}` shares its variables; keep a copy",
                reason=f"{then}; {target_text(specifier, 'flax')}",
                fix=_fix(one, node, report),
            )

    def trained_after(self, one: _Snapshot) -> ast.AST | None:
        """A call that updates the model in place after the state was taken, or in the next iteration."""
        loop = one.loop
        if one.event.name == "flax.nnx.merge" or loop is None:
            for model, moment in self.training.trained:
                if model is one.model and moment.time > one.made.time:
                    return moment.node
            return None
        for model, moment in self.training.trained:
            if model is one.model and model is not None and loop in moment.loops:
                return moment.node
        return _step_in(loop, one.text) if one.model is None else None


def _kept_at(node: ast.Call, event: CallEvent) -> tuple[str, bool] | None:
    """The place where a statement keeps a state: a name or an attribute, or a list or dict, which holds one for each iteration."""
    parents = event.frame.module.parents
    split = last_name(node.func) == "split"
    value: ast.AST = node
    above = parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node:
        if not split or ast.unparse(above.slice) == "0":
            return None
        value, above, split = above, parents.get(above), False
    if isinstance(above, ast.Call) and value in above.args and isinstance(above.func, ast.Attribute):
        container = place_of(above.func.value)
        return (container, True) if above.func.attr in _KEEPING and container and not split else None
    if isinstance(above, ast.Tuple) and isinstance(parents.get(above), ast.Assign) and not split:
        assignment = parents.get(above)
        target = assignment.targets[0] if isinstance(assignment, ast.Assign) else None
        if isinstance(target, ast.Tuple) and len(target.elts) == len(above.elts):
            place = place_of(target.elts[above.elts.index(value)])  # type: ignore[arg-type]
            return (place, False) if place else None
        return None
    if not isinstance(above, ast.Assign) or above.value is not value or len(above.targets) != 1:
        return None
    target = above.targets[0]
    if split:
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return None
        target = target.elts[1]
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
        return (place_of(target.value), True) if place_of(target.value) else None
    return (place_of(target), False) if place_of(target) else None


def _is_read_later(one: _Snapshot) -> bool:
    """Whether a loop trains on before the kept state is read."""
    frame, loop = one.event.frame, one.loop
    if loop is None or _stores(one.text, loop, one.place):
        return False  # each iteration makes a model of its own
    if one.contained:
        return "." in one.place or not _stores(one.place, loop)
    if one.chosen is None or len(_stores(one.place, loop)) > 1:
        return False
    if "." not in one.place:
        reads: Iterable[ast.AST] = (name for name in name_loads(frame.owner) if name.id == one.place)
    else:
        attribute = one.place.rpartition(".")[2]
        reads = (
            part
            for part in ast.walk(frame.module.tree)
            if isinstance(part, ast.Attribute) and part.attr == attribute and isinstance(part.ctx, ast.Load)
        )
    return any(not _is_inside(part, one.chosen) and not _asks_for_none(part, frame) for part in reads)


def _asks_for_none(node: ast.AST, frame: Frame) -> bool:
    return isinstance(frame.module.parents.get(node), ast.Compare)


def _stores(path: str, loop: ast.AST, apart_from: str = "") -> list[ast.AST]:
    """Where a loop binds a path, or what is before its first dot; not to what it makes of `apart_from`."""
    paths = {path, path.partition(".")[0]}
    again = {
        target
        for statement in nodes_of(loop, ast.Assign)
        if apart_from and any(dotted(part) == apart_from for part in walk(statement.value))
        for target in statement.targets
    }
    return [
        node
        for node in walk(loop)
        if isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Store)
        and dotted(node) in paths
        and node not in again
    ]


def _choice(frame: Frame, loop: Loop) -> ast.If | None:
    """The innermost test that decides which iterations keep their state, unless it counts them: of `if epoch % 10 == 0` the
    last is as good as the end."""
    tests = [guard for guard in frame.conditions(loop) if isinstance(guard, ast.If)]
    if not tests or any(isinstance(part, ast.Mod) for part in walk(tests[-1].test)):
        return None
    return tests[-1]


def _is_inside(node: ast.AST, around: ast.AST) -> bool:
    first, last = getattr(around, "lineno", 0), getattr(around, "end_lineno", 0) or 0
    return first <= getattr(node, "lineno", 0) <= last


def _changes_nothing(one: _Snapshot) -> bool:
    """Whether the function passes the state to `nnx.update` of the same model, and binds the name to nothing else."""
    if "." in one.place or one.contained or last_name(one.event.node.func) == "merge":  # type: ignore[attr-defined]
        return False
    owner = one.event.frame.owner
    bound = [
        statement
        for statement in nodes_of(owner, ast.Assign)
        if any(one.place in names_in(target) for target in statement.targets)
    ]
    if (
        len(
            [
                name
                for name in walk(owner)
                if isinstance(name, ast.Name) and name.id == one.place and isinstance(name.ctx, ast.Store)
            ]
        )
        != 1
    ):
        return False
    if not bound or not _is_inside(one.event.node, bound[0]):
        return False
    written = any(
        isinstance(part, (ast.Subscript, ast.Attribute))
        and isinstance(part.ctx, ast.Store)
        and place_of(part).startswith(one.place)
        for part in walk(owner)
    )
    calls = nodes_of(owner, ast.Call)
    asked = any(
        isinstance(call.func, ast.Attribute) and dotted(call.func.value) == one.place for call in calls
    )
    passed = [call for call in calls if one.place in [dotted(argument) for argument in call.args]]
    updates = [
        call
        for call in passed
        if dotted(call.func) in ("nnx.update", "flax.nnx.update")
        and [dotted(argument) for argument in call.args] == [one.text, one.place]
    ]
    return (
        bool(updates)
        and len(passed) == len(updates)
        and not written
        and not asked
        and one.text not in names_stored(owner)
    )


def _step_in(loop: ast.AST, model: str) -> ast.AST | None:
    """A call in a loop that by its name trains an unknown `model`, and does not return it."""
    for call in nodes_of(loop, ast.Call):
        name = last_name(call.func).lower()
        given = [dotted(argument) for argument in call.args]
        if (
            model in given
            and _STEPS.search(name)
            and not _CHECKS.search(name)
            and dotted(call.func) != "nnx.update"
        ):
            return call
    return None


def _split_merged(merge: ast.Call, frame: Frame) -> ast.Call | None:
    """The `nnx.split` whose parts a merge gets as they are."""
    if len(merge.args) == 1 and isinstance(merge.args[0], ast.Starred):
        inner = merge.args[0].value
        return (
            inner if isinstance(inner, ast.Call) and last_name(inner.func) == "split" and inner.args else None
        )
    names = [dotted(argument) for argument in merge.args]
    found = [
        statement
        for statement in nodes_of(frame.owner, ast.Assign)
        if isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) == "split"
        and statement.value.args
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Tuple)
        and [dotted(part) for part in statement.targets[0].elts] == names
    ]
    stored = [
        name.id
        for name in walk(frame.owner)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id in names
    ]
    return found[0].value if len(found) == 1 and sorted(stored) == sorted(names) else None  # type: ignore[return-value]


def _fix(one: _Snapshot, node: ast.Call, report: Reporter) -> FixRequest | None:
    if last_name(node.func) == "state":
        return propose(
            report,
            node,
            "wrap-expression",
            "Copy the state with `jax.tree.map(jnp.copy, ...)`",
            safe=False,
            function="jax.tree.map",
            before=["jax.numpy.copy"],
        )
    return None
