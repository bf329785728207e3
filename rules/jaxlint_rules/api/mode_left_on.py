"""Models that are trained in evaluation mode, or evaluated in training mode."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from jaxlint.api import CallEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, cache, dotted, names_stored, nodes_of
from jaxlint.api.values import BoundMethod, Function
from jaxlint.finding import Severity
from jaxlint_rules._callables import function_in
from jaxlint_rules._names import last_name, passed
from jaxlint_rules._slices import calls_in
from jaxlint_rules.api._modes import ON_PURPOSE, Modes

_TRAINING = re.compile(r"train|update|fit|optimi[sz]e|learn|backward|step$|^step")
_EVALUATING = re.compile(r"eval|test|valid|infer|predict|sample|acc")


_JUDGES = re.compile(r"eval|valid|infer|predict|(^|_)test")


def _says_training(keyword: ast.keyword) -> bool:
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if keyword.arg in ("is_training", "training"):
        return value is True
    return keyword.arg == "deterministic" and value is False


@cache
def _reads(node: ast.AST) -> frozenset[str]:
    return frozenset(
        one.id for call in nodes_of(node, ast.Call) for one in passed(call) if isinstance(one, ast.Name)
    )


def _hands_on(function: Function, parameter: str) -> bool:
    """Whether a function passes one of its parameters to what it calls."""
    own = {one.arg for one in all_parameters(function.node)}
    return parameter in own and parameter in _reads(function.node)


class ModeLeftOn(Rule):
    """A model is trained in evaluation mode, or evaluated in training mode.

    ## What it does
    Finds `model.eval()` of an nnx module in a loop that also trains the model and never calls
    `model.train()`. Either may be in a function that the loop calls.

    Also finds calls of functions such as `evaluate`, `predict` and `accuracy` with a model that the
    program trains and that is still in training mode, if it holds `nnx.Dropout` or `nnx.BatchNorm`,
    and calls of such functions of the program with `is_training=True` or `deterministic=False`, which
    reaches the model.

    ## Why is this bad?
    `eval` sets `deterministic` of dropout and `use_running_average` of batch normalization in the
    module itself. From the second iteration on, the model trains without dropout, and its
    statistics no longer change.

    A new model is in training mode. Evaluated in it, dropout discards activations at random, and
    batch normalization uses the statistics of the evaluated batch and changes its own.

    ## Example
    ```python
    for epoch in range(epochs):
        for batch in train_set:
            train_step(model, optimizer, batch)
        model.eval()
        evaluate(model, test_set)
    ```

    ## Use instead
    ```python
    for epoch in range(epochs):
        model.train()
        for batch in train_set:
            train_step(model, optimizer, batch)
        model.eval()
        evaluate(model, test_set)
    ```
    Or evaluate a view of the model:
    `nnx.view(model, deterministic=True, use_running_average=True)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it. Loops whose training step sets the mode itself are not reported. Evaluations are
    not reported where a file that they use switches modes in another way (`nnx.view`,
    `deterministic=True`), nor where it speaks of Monte Carlo dropout.

    ## References
    - [nnx.Module.eval](https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/module.html)
    """

    code = "JAX820"
    name = "mode-left-on"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.evals: list[tuple[CallEvent, _Left]] = []
        self.calls: dict[ast.Call, tuple[Function, _Left]] = {}  # of functions of the program, on the host
        self.restoring: dict[ast.AST, str] = {}  # functions in which some model goes back to training mode
        self.restored: set[ast.AST] = set()  # loops in which one does
        self.modes = Modes()

    @concerns("flax.", callees=("Function", "BoundMethod", "Transformed", "Unknown", "ExternalMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node, frame = event.node, event.frame
        if not isinstance(node, ast.Call):
            return
        self.check_told(event, node, report)
        if not _has_nnx(frame.module):
            return
        self.modes.note(event)
        function = event.callee.function if isinstance(event.callee, BoundMethod) else event.callee
        if isinstance(function, Function):
            if not frame.stage.staged:
                self.calls[node] = function, _Left.of(event, "")
            return
        if not isinstance(node.func, ast.Attribute) or node.args:
            return
        if node.func.attr == "train":
            for one in (frame, *frame.callers()):
                self.restored.update(loop.node for loop in one.loops)
                if one.function is not None:
                    self.restoring[one.function.node] = one.function.name
            return
        model = dotted(node.func.value)
        if node.func.attr != "eval" or not model or frame.stage.staged or frame.is_in_test():
            return
        if not _says_train(frame.module):
            self.evals.append((event, _Left.of(event, model)))

    def check_told(self, event: CallEvent, call: ast.Call, report: Reporter) -> None:
        """`eval_loss(model, x, is_training=True)`, which hands the mode on to the model."""
        name = last_name(call.func)
        if not _JUDGES.search(name.lower()) or _TRAINING.search(name.lower()) or event.frame.is_in_test():
            return
        mode = next((keyword for keyword in call.keywords if _says_training(keyword)), None)
        function = function_in(event.callee)
        if mode is None or function is None or not _hands_on(function, mode.arg or ""):
            return
        if ON_PURPOSE.search(name) or ON_PURPOSE.search(event.frame.module.source.text):
            return
        report(
            mode.value,
            f"`{name}` evaluates in training mode: `{mode.arg}={ast.unparse(mode.value)}` keeps dropout on; pass the other",
            reason=f"`{name}` hands `{mode.arg}` on, and is named for an evaluation",
        )

    def finish(self, report: Reporter) -> None:
        """Runs when all calls were seen: a loop may call the function with `eval`, and one that sets the mode back."""
        told: set[ast.AST] = set()
        for one, layer, trained in self.modes.in_training_mode(report.project.imports):
            report.event = one.event
            report(
                one.event.node,
                f"`{one.path}` is in training mode when `{one.function}` evaluates it; call `{one.path}.eval()` before",
                reason=f"its `{layer}` is in training mode until `eval()`; "
                f"line {getattr(trained.node, 'lineno', '?')} trains the model",
            )
        for event, left in self.evals:
            found = self.trained_next(left, 0)
            if found is None or event.node in told:
                continue
            told.add(event.node)
            loop, step = found
            report.event = event
            report(
                event.node,
                f"`{left.model}` is still in evaluation mode when `{last_name(step.func)}` trains it next; call `{left.model}.train()` before",
                reason=f"the loop at line {getattr(loop, 'lineno', '?')} never switches back to training mode",
            )

    def trained_next(self, left: _Left, depth: int) -> tuple[ast.AST, ast.Call] | None:
        """The loop that repeats a call which leaves a model in evaluation mode, and what trains the model in it."""
        for loop in left.loops:
            trained = _trains(loop, left.model)
            if trained is not None and not _ends_after(loop, left.node, left.module):
                if loop not in self.restored and not any(map(self.restores, calls_in(loop))):
                    return loop, trained
        if left.function is None or depth == _DEEPEST:
            return None
        root, dot, below = left.model.partition(".")
        if root in names_stored(left.function.node):
            return None  # not the object that the caller gave
        for call, (function, around) in self.calls.items():
            given = _given(function, call, root) if function.node is left.function.node else ""
            if given:
                found = self.trained_next(replace(around, model=given + dot + below), depth + 1)
                if found is not None:
                    return found
        return None

    def restores(self, call: ast.Call) -> bool:
        """Whether a call may set a model back to training mode."""
        if call in self.calls:
            return self.calls[call][0].node in self.restoring
        return last_name(call.func) in self.restoring.values()


_DEEPEST = 3  # calls between the loop and `eval`


@dataclass(frozen=True, slots=True)
class _Left:
    """A call that leaves a model in evaluation mode, and what is around it."""

    node: ast.AST
    model: str  # its name there
    function: Function | None
    loops: tuple[ast.AST, ...]
    module: Module

    @staticmethod
    def of(event: CallEvent, model: str) -> _Left:
        frame = event.frame
        loops = tuple(loop.node for loop in frame.loops)
        return _Left(event.node, model, frame.function, loops, frame.module)


def _given(function: Function, call: ast.Call, parameter: str) -> str:
    """The place that a call gives for a parameter, the object of a method included; "" if it is none."""
    names = [p.arg for p in all_parameters(function.node)]
    if parameter not in names:
        return parameter if function.cls is None else ""  # of an enclosing scope
    if function.cls is not None and not function.kind and isinstance(call.func, ast.Attribute):
        if parameter == names[0]:
            return dotted(call.func.value)
        names = names[1:]
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return dotted(keyword.value)
    position = names.index(parameter)
    if position >= len(call.args) or any(isinstance(part, ast.Starred) for part in call.args[: position + 1]):
        return ""  # arguments that are unpacked after it change nothing
    return dotted(call.args[position])


@cache
def _has_nnx(module: Module) -> bool:
    imports = [*nodes_of(module.tree, ast.Import), *nodes_of(module.tree, ast.ImportFrom)]
    return any("nnx" in ast.unparse(statement) for statement in imports)


def _says_train(module: Module) -> bool:
    """Whether a program sets the mode of training anywhere in a loop or a function that a loop may call."""
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "train"
        and not call.args
        and any(map(_may_repeat, module.ancestors(call)))
        for call in nodes_of(module.tree, ast.Call)
    )


def _may_repeat(around: ast.AST) -> bool:
    """A loop, or a function that trains; one that has loops may be called once, before which it sets the mode."""
    if not isinstance(around, ast.FunctionDef):
        return isinstance(around, (ast.For, ast.While))
    named = _TRAINING.search(around.name.lower()) and "main" not in around.name
    return bool(named) and not nodes_of(around, ast.For) and not nodes_of(around, ast.While)


def _trains(loop: ast.AST, model: str) -> ast.Call | None:
    """The call in a loop that trains the model."""
    for call in calls_in(loop):
        name = last_name(call.func).lower()
        if _TRAINING.search(name) and not _EVALUATING.search(name):
            given = [dotted(argument) for argument in passed(call)]
            if isinstance(call.func, ast.Attribute):
                given.append(dotted(call.func.value))
            if any(place and f"{model}.".startswith(f"{place}.") for place in given):
                return call
    return None


def _ends_after(loop: ast.AST, node: ast.AST, module: Module) -> bool:
    """Whether the loop is left where the mode is set: the statements after it end in `break` or `return`."""
    inner = node
    for above in module.ancestors(node):
        if above is loop:
            return False
        for block in (getattr(above, "body", None), getattr(above, "orelse", None)):
            if isinstance(block, list) and inner in block:
                if isinstance(block[-1], (ast.Break, ast.Return, ast.Raise)):
                    return True
        inner = above
    return False
