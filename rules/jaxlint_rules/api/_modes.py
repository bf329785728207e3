"""The mode of nnx models: a new model trains, `eval` and `train` switch it, and what evaluates it runs in the mode that it has then."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from jaxlint.api import CallEvent, Module
from jaxlint.api.syntax import FunctionNode, cache, dotted, nodes_of
from jaxlint.api.values import (
    UNKNOWN,
    ExternalObject,
    Instance,
    ListValue,
    TupleValue,
    Value,
    constant,
)
from jaxlint_rules._callables import function_called_with, given_values
from jaxlint_rules._trained import Moment, Training, is_nnx, updates

_EVALUATES = re.compile(r"eval|valid|infer|predict|accuracy|(^|_)(test|acc|score)(_|$)")
_TRAINS = re.compile(r"train|update|fit|learn|step_fn$")
# Many runs in training mode are a way to measure what a model does not know.
ON_PURPOSE = re.compile(r"monte.?carlo|\bmc_|_mc\b|uncertain|stochastic_forward|epistemic", re.IGNORECASE)
_OPTIONS = frozenset({"deterministic", "use_running_average"})
_DEEPEST = 4  # modules in modules


@dataclass(slots=True)
class Evaluation:
    """A call on the host of a function that evaluates a model."""

    event: CallEvent
    model: Instance
    path: str  # its name there
    function: str
    moment: Moment


@dataclass(slots=True)
class Modes:
    """What the program does with the modes of its models, in the order of the analysis."""

    training: Training = field(default_factory=Training)
    switched: list[tuple[Value, str, Moment]] = field(default_factory=list)
    evaluations: dict[ast.AST, Evaluation] = field(default_factory=dict)
    understood: set[ast.AST] = field(default_factory=set)  # the calls that switch a known model

    def note(self, event: CallEvent) -> None:
        """Records a call."""
        frame, node = event.frame, event.node
        if frame.stage.staged or frame.is_in_test() or not isinstance(node, ast.Call):
            return
        self.training.note(event)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("train", "eval"):
            model = _at(dotted(node.func.value), event)
            if is_nnx(model) and model is not None and not node.args and not node.keywords:
                self.understood.add(node)
                self.switched.append((model, node.func.attr, self.training.moment(event)))
            return
        if node not in self.evaluations and (found := _evaluated(event)) is not None:
            model, path, name = found
            self.evaluations[node] = Evaluation(event, model, path, name, self.training.moment(event))

    def in_training_mode(
        self, imports: Callable[[Module], list[Module]]
    ) -> Iterator[tuple[Evaluation, str, Moment]]:
        """The calls that evaluate a model which certainly trains: the layer that shows it, and where the model was trained."""
        for one in self.evaluations.values():
            layer = _changing(one.model)
            if not layer or any(
                _on_purpose(module) or _switches(module) - self.understood
                for module in _files_of(one, imports)
            ):
                continue
            trained = next(
                (
                    moment
                    for model, moment in self.training.trained
                    if model is one.model and one.moment.may_follow(moment)
                ),
                None,
            )
            if trained is not None and not self.may_be_switched(one):
                yield one, layer, trained

    def may_be_switched(self, one: Evaluation) -> bool:
        """Whether the model may be in evaluation mode at a call: the last switch says so, or one in the same loop."""
        mine = [(mode, moment) for model, mode, moment in self.switched if model is one.model]
        before = [mode for mode, moment in mine if moment.time < one.moment.time]
        return before[-1:] == ["eval"] or any(
            mode == "eval" and moment.shares_loop(one.moment) for mode, moment in mine
        )


def _files_of(one: Evaluation, imports: Callable[[Module], list[Module]]) -> set[Module]:
    """The files that an evaluation runs through, that of the model, and what they import: any of them may set its mode."""
    frame = one.event.frame
    waiting = [frame.module, *(caller.module for caller in frame.callers())]
    waiting += [cls.module for cls in one.model.cls.mro()]
    found = set[Module]()
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imports(module)
    return found


def _evaluated(event: CallEvent) -> tuple[Instance, str, str] | None:
    """The model that a call evaluates, its name there and the function, if the name of the function says so."""
    node, called = event.node, function_called_with(event.callee)
    if called is None or not isinstance(node, ast.Call):
        return None
    function, names = called
    name = function.name.lower()
    if not _EVALUATES.search(name) or _TRAINS.search(name):
        return None
    for parameter, written, value in given_values(event, node, names):
        if isinstance(value, Instance) and value.cls.kind == "nnx" and dotted(written):
            if parameter in _run(function.node) and not updates(function, parameter):
                return value, dotted(written), function.name
    return None


@cache
def _run(function: FunctionNode) -> frozenset[str]:
    """The names that a function calls, or passes to another function."""
    calls = nodes_of(function, ast.Call)
    called = {dotted(call.func).partition(".")[0] for call in calls}
    return frozenset(called | {dotted(argument) for call in calls for argument in call.args})


def _at(path: str, event: CallEvent) -> Value | None:
    """The value of a name, or of an attribute of an object that it names."""
    root, *names = path.split(".")
    held = event.frame.value_of(root)
    for name in names:
        held = held.fields.get(name) if isinstance(held, Instance) else None
    return held


@cache
def _switches(module: Module) -> frozenset[ast.AST]:
    """What may switch the mode of a model, in a module."""
    found: set[ast.AST] = {
        call
        for call in nodes_of(module.tree, ast.Call)
        if isinstance(call.func, ast.Attribute)
        and (
            call.func.attr in ("eval", "set_attributes", "set_mode", "eval_mode")
            or dotted(call.func).endswith("nnx.view")
        )
    }
    found |= {part for part in nodes_of(module.tree, ast.keyword) if part.arg in _OPTIONS}
    found |= {part for part in nodes_of(module.tree, ast.Attribute) if part.attr in _OPTIONS}
    found |= {part for part in nodes_of(module.tree, ast.Constant) if part.value in _OPTIONS}
    return frozenset(found)


@cache
def _on_purpose(module: Module) -> bool:
    return ON_PURPOSE.search(module.source.text) is not None


def _changing(value: Value, depth: int = _DEEPEST) -> str:
    """The layer of a model that certainly computes something else while it trains: "" if none is seen."""
    if isinstance(value, ExternalObject):
        if value.name == "flax.nnx.BatchNorm":
            return "nnx.BatchNorm"
        rate = constant(value.args[0] if value.args else value.kwargs.get("rate", UNKNOWN))
        dropout = value.name == "flax.nnx.Dropout" and type(rate) is float and rate > 0
        return "nnx.Dropout" if dropout else ""
    parts: list[Value] = []
    if isinstance(value, Instance) and value.cls.kind == "nnx":
        parts = list(value.fields.values())
    elif isinstance(value, (ListValue, TupleValue)):
        parts = list(value.items or ())
    found = (_changing(part, depth - 1) for part in parts) if depth else ()
    return next(filter(None, found), "")
