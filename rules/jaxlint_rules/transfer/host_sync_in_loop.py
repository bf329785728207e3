"""Host syncs in every iteration of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxlint.api import ConvertEvent, Event, Frame, Loop, Module, Reporter, Rule, TestEvent, TransformEvent
from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import Array
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._cost import SYNC, level, runs
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import (
    frame_of_loop,
    is_brief,
    is_few,
    is_short,
    line_of_loop,
    place_of_loop,
)
from jaxlint_rules._main_loops import (
    called_between,
    calls_heavy,
    calls_many_steps,
    does_main_work,
    is_cheap,
    is_named_for_step,
    is_named_for_work,
    is_step_loop,
    runs_loop,
    runs_many_steps,
    steps_alike,
    waits_by_itself,
    waits_in_each,
)
from jaxlint_rules._names import last_name, names_in, passed, unpacked, variable_given
from jaxlint_rules._shown_results import lists_rows, shows_results
from jaxlint_rules._slices import calls_in
from jaxlint_rules.recompilation._repeated import carries
from jaxlint_rules.transfer._every_n import (
    ends_the_program,
    is_asked_for,
    is_asked_last,
    is_by_setting,
    is_now_and_then,
    is_skipped,
)
from jaxlint_rules.transfer._exits import exit_of, has_while_loop
from jaxlint_rules.transfer._host_needs import (
    begins_as_none,
    decides,
    ends_loop,
    feeds_back,
    is_explained,
    is_timed,
    reads_clock,
    searches,
)
from jaxlint_rules.transfer._stepping import (
    comes_from_the_step,
    goes_through_results,
    loop_of_callers,
    stepping_loop,
)
from jaxlint_rules.transfer._uses import must_wait

_WAITS = {
    "float": "`float()`",
    "int": "`int()`",
    "bool": "`bool()`",
    "item": "`.item()`",
    "tolist": "`.tolist()`",
    "device_get": "`jax.device_get`",
    "print": "`print`",
    "format": "formatting",
    "str": "formatting",
    "format_method": "formatting",
    "logging": "logging",
    "block_until_ready": "`block_until_ready`",
    "setitem": "storing it in a NumPy array",
    "index": "an index into a list or NumPy array",
}
_OF_ENVIRONMENTS = frozenset(
    {"step", "act", "send", "send_action", "apply_action", "async_step", "step_async"}
)
_TRAINS = re.compile(r"train|update|optimi|loss|fit|learn|grad")
_WORKS = re.compile(rf"{_TRAINS.pattern}|step|eval|sampl|predict|generat|infer|forward")
_SHOWN = frozenset({"bool", "float", "item", "print", "format", "format_method", "str", "logging"})
_IN_HELPERS = _SHOWN | {  # others, such as `np.asarray`, may be the purpose of a function
    *("block_until_ready", "setitem", "index"),
    *("numpy.isfinite", "numpy.isnan", "numpy.isinf"),
}
_FETCHES = frozenset({"float", "int", "bool", "item", "tolist", "device_get"})


@dataclass(slots=True)
class _Wait:
    """The first host sync of a loop on a jitted function, and the lines of all."""

    event: Event
    what: str
    loop: Loop
    jitted: str
    seldom: bool  # the loop is short, and another loop enters it occasionally
    hot: bool  # the program trains, samples or evaluates in the loop
    is_step: bool  # a function that the loop calls is named for one step: `agent.update(batch)`
    of_step: bool  # what it reads comes from the call by which an iteration goes on from the one before
    place: str  # of the loop, in words
    lines: dict[tuple[str, int], None] = field(default_factory=dict)


class HostSyncInLoop(Rule):
    """A loop forces a host sync in every iteration.

    ## What it does
    Finds conversions and uses that read a result of a jitted function, in the loop that calls it or
    in a function that the loop calls in every iteration: `float()`, `.item()`, `np.asarray()`,
    `jax.device_get`, `print`, formatting, logging, writes to a file or a NumPy array, indices of
    lists and NumPy arrays, `block_until_ready` and Python branches.

    ## Why is this bad?
    JAX dispatches asynchronously: while the device works on one step, Python prepares the next.
    Reading a value is a host sync: Python waits for the device, and the device then waits for
    Python, in every iteration.

    ## Example
    ```python
    for batch in batches:
        state, loss = step(state, batch)
        losses.append(float(loss))
    ```

    ## Use instead
    ```python
    for batch in batches:
        state, loss = step(state, batch)
        losses.append(loss)
    losses = jax.device_get(losses)
    ```
    Or log every N steps.

    ## Fix safety
    Safe: the fix only moves `losses.append(float(loss))`. The list must start empty right before
    the loop and be read only after it, and no other call in the loop may take the array, since it
    could donate it. The arrays are collected on the device and converted after the loop. Other
    cases have no automatic fix. `jaxlint verify` counts the host syncs per step and measures them.

    ## When not to fix
    Keep it if each iteration takes much longer than the transfer and Python has nothing to prepare.

    Not reported:

    - conversions under an `if` or behind a `continue` (every N steps), after the loop, or in tests;
      a setting that no iteration changes (`if cfg.use_wandb:`) does not count;
    - values that a host object needs to produce the next inputs, such as an environment, a replay
      buffer or an evolution strategy (what else waits in that loop is advice: it waits anyway);
    - the last value of an inner loop;
    - loops that compile in each iteration, and searches that end with the first value that fits.

    A finding is a warning in a loop that the program enters for each batch, token or training step,
    or whose jitted function is visibly a few operations. Elsewhere it is advice:

    - loops over settings, files or epochs, and around a model or solver that may take any time;
    - in a file of a project, what does not come from the call that takes an iteration to the next, as
      the results of an evaluation or of a diagnosis beside the step;
    - calls that run many steps on the device (`lax.scan`), beside which a host sync is short;
    - host syncs under an option of the caller (`if verbose:`), in an `assert`, or by
      `block_until_ready` below a comment;
    - tests that end a loop which passes its results to other code, as tokens to a queue;
    - results that are copied to a NumPy array in chunks, and arrays that another library, a file or
      a Python loop reads in the same iteration;
    - loops that wait explicitly before they read, plot what they compute, print a row of a table for
      independent inputs, or read a clock before and after the host sync;
    - loops that an outer loop enters every N-th time, or now and then for a few iterations, such as
      an evaluation, and loops that the program enters once, for at most 32 iterations or to evaluate
      what the loop before it has trained;
    - notebook cells that train nothing;
    - values by which Python decides in the same iteration, as to keep the best, or when the loop ends.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    """

    code = "JAX501"
    name = "host-sync-in-loop"
    category = "transfer"
    severity = Severity.WARNING
    fixable = "safe"
    cure = ("compile the step", 1)

    def __init__(self) -> None:
        self.waits: dict[ast.AST, _Wait] = {}  # by loop
        self.needed: set[ast.AST] = set()  # loops that have to wait in each iteration
        self.light: set[str] = set()  # jitted functions of a few operations
        self.long: set[str] = set()  # jitted functions that run many steps on the device
        self.looping: set[str] = set()  # those that run some loop there, and are not named for a step

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if "jit" not in transformed.kind:
            return
        named = is_named_for_work(transformed.label)
        if is_cheap(transformed.target):
            self.light.add(transformed.label)
        if runs_many_steps(transformed.target):
            self.long.add(transformed.label)
        elif runs_loop(transformed.target) and not named:
            self.looping.add(transformed.label)

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        if event.how.startswith("numpy."):
            what = f"`{event.how.replace('numpy.', 'np.')}`"
        elif event.how in _WAITS:
            what = _WAITS[event.how]
        elif "." in event.how:
            what = f"`{event.how}`"  # a library function that writes or sends it
        else:
            return
        if event.how == "block_until_ready" and not (_holds_up_a_step(event) or _holds_up_callers(event)):
            return
        if event.how.startswith("numpy.") and _acts_on_the_world(event, report):
            self.waits_anyway(event.frame)
            return
        if event.how in ("str", "format") and not _is_output(event, report):
            return
        stepping = [loop for loop in event.frame.loops if loop.calls_jitted]
        if (
            event.frame.loops
            and all(loop.is_later_iteration() for loop in stepping)
            and (stepping or not _collects(event))
        ):
            return  # a result of the previous iteration: the device already works on the next
        self.check(event, event.value, what, report)

    def on_test(self, event: TestEvent, report: Reporter) -> None:
        if event.how in ("if", "while", "not", "and", "or", "conditional expression", "max", "min"):
            if isinstance(event.value, Array) and event.value.tree and begins_as_none(event):
                return  # tests whether there are results yet
            self.check(event, event.value, f"`{event.how}`", report)

    def check(self, event: Event, value: object, what: str, report: Reporter) -> None:
        frame = event.frame
        if not isinstance(value, Array) or value.staged or not value.jitted:
            return
        if frame.stage.staged or frame.is_in_test():
            return
        loop = stepping_loop(frame)
        how = event.how if isinstance(event, ConvertEvent) else ""
        if loop is None and (how in _IN_HELPERS or isinstance(event, TestEvent)):
            loop = loop_of_callers(event)
        if loop is None or (loop in frame.loops and not is_by_setting(frame, loop)):
            return
        if loop in frame.loops and is_skipped(event.node, loop.node, frame.module):
            return
        if how == "setitem" and _steps_the_world(loop.node):
            return
        if is_asked_last(event.node, frame.module):
            return  # only if the rest of the condition holds, as in every N-th step
        if loop in frame.loops and must_wait(event.node, loop.node, how):
            self.needed.add(loop.node)
        if exit_of(event) and not has_while_loop(frame):
            return  # `convergence-loop` reports it
        if is_few(loop, frame) or is_short(loop) or _compiles(loop.node) or _waits_once(event, loop, value):
            return
        fetched = how in _FETCHES or how.startswith("numpy.")
        if how.startswith("numpy.") and _is_for_the_world(event.node, loop.node, frame.module):
            self.needed.add(loop.node)
            return
        if fetched and loop in frame.loops and feeds_back(event.node, loop.node, frame):
            self.needed.add(loop.node)
            return
        if loop in frame.loops and searches(event.node, loop.node):
            return
        wait = self.waits.get(loop.node)
        if wait is None:
            wait = self.waits[loop.node] = _Wait(
                event,
                what,
                loop,
                value.jitted,
                seldom=is_now_and_then(loop, frame)
                or is_brief(loop, frame)
                or ends_the_program(loop, frame)
                or is_asked_for(event.node, loop.node, frame.module)
                or is_explained(event)
                or (_is_cell(frame) and steps_alike(loop, frame, value.jitted))
                or calls_many_steps(loop.node, frame_of_loop(loop, frame)),
                hot=does_main_work(loop, frame, value.jitted)
                and level(runs(frame, loop) * SYNC) is None
                and (
                    how == "setitem"
                    or value.jitted in self.light
                    or (is_step_loop(loop, frame, value.jitted) and not decides(event.node, loop.node))
                ),
                is_step=any(map(is_named_for_step, called_between(loop, frame))),
                of_step=comes_from_the_step(event, loop),
                place=place_of_loop(loop, frame),
            )
        else:
            wait.of_step = wait.of_step or comes_from_the_step(event, loop)
            if loop in frame.loops and value.jitted not in self.light and decides(event.node, loop.node):
                self.needed.add(loop.node)  # without the other host syncs this one remains
        if waits_by_itself(loop.node, frame_of_loop(loop, frame)) or (
            how != "int"  # a token that ends the text can be found on the device, or once in a while
            and ends_loop(event.node, loop.node, frame)
            and (value.jitted not in self.light or calls_heavy(loop.node, frame_of_loop(loop, frame)))
        ):
            self.needed.add(loop.node)
        wait.lines.setdefault((frame.module.display, getattr(event.node, "lineno", 0)))

    def waits_anyway(self, frame: Frame) -> None:
        """Notes that the loop around a place waits in each iteration, whatever else it leaves out."""
        loop = stepping_loop(frame)
        if loop is not None and loop in frame.loops and not frame.is_conditional_in(loop):
            self.needed.add(loop.node)

    def is_advice(self, wait: _Wait) -> bool:
        """Whether the host sync costs little, or cannot be left out."""
        is_long = wait.jitted in self.long or (wait.jitted in self.looping and not wait.is_step)
        waits_on_purpose = len(wait.lines) > 1 and waits_in_each(wait.loop.node)
        return not wait.hot or is_long or waits_on_purpose or wait.loop.node in self.needed or _is_meant(wait)

    def finish(self, report: Reporter) -> None:
        """One finding for each loop: it is fixed as a whole."""
        for wait in self.waits.values():
            event, loop = wait.event, wait.loop.node
            report.event = event
            here = [str(number) for path, number in list(wait.lines)[1:] if path == report.path]
            too = (
                f"; line{'s' * (len(here) > 1)} {', '.join(here)} wait{'s' * (len(here) == 1)} too"
                if here
                else ""
            )
            fix = _collected(event, report) if len(wait.lines) == 1 else None
            report(
                event.node,
                f"{wait.what} forces a host sync each iteration; keep the value on the device",
                reason=f"the value comes from the jitted `{wait.jitted}`, called in {wait.place}{too}",
                severity=Severity.INFO if self.is_advice(wait) else None,
                loop=loop if fix is None else None,  # with a fix of its own it is told beside the step
                data={"loop_line": line_of_loop(loop)},
                fix=fix,
                shown=wait.of_step,
            )


@cache
def _compiles(loop: ast.AST) -> bool:
    """Whether each iteration must compile a separate program; compared with that, a wait costs nothing.

    A program that depends on no value of the iteration can be jitted before the loop, as `jit-in-loop` says.
    Then the wait remains.
    """
    own = names_stored(loop) | {one.name for one in nodes_of(loop, ast.FunctionDef)}
    return any(
        last_name(call.func) in ("jit", "filter_jit", "pmap")
        and not own.isdisjoint(set[str]().union(*map(names_in, call.args)))
        for call in calls_in(loop)
    )


def _waits_once(event: Event, loop: Loop, value: Array) -> bool:
    """Whether the value is the last of many steps that an inner loop made, as at the end of an epoch."""
    function = value.jitted.rpartition(".")[2]
    return any(
        any(
            isinstance(call, ast.Call) and last_name(call.func) == function
            for part in _runs_within(inner)
            for call in walk(part)
        )
        for statement in getattr(loop.node, "body", [])
        for inner in walk(statement)
        if not any(part is event.node for part in walk(inner))
    )


def _runs_within(node: ast.AST) -> list[ast.AST]:
    """The code that a loop, or a comprehension, runs for each of its elements."""
    if isinstance(node, (ast.For, ast.While)):
        return list(node.body)
    return [node.elt] if isinstance(node, (ast.ListComp, ast.GeneratorExp)) else []


def _is_meant(wait: _Wait) -> bool:
    """Whether the loop plots or times the awaited value, or a notebook displays it: the author knows about the host
    sync."""
    loop = wait.loop.node
    return (
        wait.seldom
        or shows_results(loop)
        or is_timed(wait.event.node, loop)
        or _is_looked_at(wait)
        or _lists_results(wait)
    )


def _lists_results(wait: _Wait) -> bool:
    """Whether each iteration computes a separate result and prints it, as a row of a table: nothing is
    trained, sampled or evaluated, and no iteration waits for another.
    """
    loop = wait.loop.node
    return (
        isinstance(loop, ast.For)
        and lists_rows(loop)
        and not carries(loop)
        and not _WORKS.search(wait.jitted.lower())
        and not any(isinstance(node.ctx, ast.Store) for node in nodes_of(loop, ast.Attribute))
    )


def _is_looked_at(wait: _Wait) -> bool:
    """Whether a notebook cell steps something that it does not train, so that its author can inspect it."""
    return _is_cell(wait.event.frame) and not _TRAINS.search(wait.jitted.lower())


def _is_cell(frame: Frame) -> bool:
    return frame.function is None and frame.module.source.path.suffix == ".ipynb"


def _is_for_the_world(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    """`action = np.asarray(action)`, where the loop passes `action` to an environment, which needs it on the host."""
    name = variable_given(module.parents.get(node))
    return bool(name) and any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _OF_ENVIRONMENTS
        and any(isinstance(argument, ast.Name) and argument.id == name for argument in call.args)
        for call in calls_in(loop)
    )


def _collected(event: Event, report: Reporter) -> FixRequest | None:
    """The number is appended to a list, so it may be fetched later."""
    parent = report.module.parents.get(event.node)
    if (
        not isinstance(event, ConvertEvent)
        or not isinstance(event.node, ast.Call)
        or not isinstance(parent, ast.Call)
    ):
        return None
    if not isinstance(parent.func, ast.Attribute) or parent.func.attr != "append":
        return None
    return propose(report, event.node, "convert-after-loop", "Convert after the loop", safe=True)


def _acts_on_the_world(event: ConvertEvent, report: Reporter) -> bool:
    """`env.step(np.asarray(action))`: an environment on the host needs the action."""
    parent = report.module.parents.get(event.node)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in _OF_ENVIRONMENTS
    )


@cache
def _steps_the_world(loop: ast.AST) -> bool:
    """Whether a loop steps an environment, which needs the action and everything computed with it."""
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ENVIRONMENTS for call in calls_in(loop)
    )


def _collects(event: Event) -> bool:
    """Whether no loop with several iterations is around a place in its function."""
    return all(map(goes_through_results, event.frame.loops))


def _holds_up_a_step(event: Event) -> bool:
    """Whether the awaited value is an input of the next iteration, in a loop without a clock."""
    loop = stepping_loop(event.frame)
    node = event.node
    if loop is None or not isinstance(loop.node, ast.For) or not isinstance(node, ast.Call):
        return False
    if node.args:
        waited = node.args[0]
    elif isinstance(node.func, ast.Attribute):
        waited = node.func.value
    else:
        return False  # `wait(x=...)`
    return dotted(waited) in _carried(loop.node)


def _holds_up_callers(event: Event) -> bool:
    """Whether a method waits for a value that it has just updated in its object, in a loop without a clock."""
    function, caller, node = event.frame.function, event.frame.caller, event.node
    if function is None or caller is None or event.frame.loops or not isinstance(node, ast.Call):
        return False
    waited = dotted(node.func.value) if isinstance(node.func, ast.Attribute) and not node.args else ""
    loop = stepping_loop(caller)
    if loop is None or not isinstance(loop.node, ast.For) or _is_measured(loop.node):
        return False
    return waited.startswith("self.") and waited in _rebound_by_calls(nodes_of(function.node, ast.Assign))


@cache
def _is_measured(loop: ast.For) -> bool:
    """Whether the body of a loop, or the context that it enters, measures time."""
    return any(
        isinstance(node, (ast.With, ast.AsyncWith)) or reads_clock(node)
        for statement in loop.body
        for node in walk(statement)
    )


def _rebound_by_calls(assignments: Iterable[ast.Assign]) -> frozenset[str]:
    """Variables and attributes that are both argument and result of a call."""
    found: set[str] = set()
    for statement in assignments:
        if isinstance(statement.value, ast.Call):
            given = {dotted(argument) for argument in statement.value.args}
            made = {dotted(part) for target in statement.targets for part in unpacked(target)}
            found |= given & made
    return frozenset(found - {""})


@cache
def _carried(loop: ast.For) -> frozenset[str]:
    """Variables carried between iterations; empty if time is measured."""
    return frozenset() if _is_measured(loop) else _rebound_by_calls(nodes_of(loop, ast.Assign))


def _is_output(event: Event, report: Reporter) -> bool:
    """Whether a formatted value is an argument of a call, as in `print(f"...")` or `log.info(f"...")`, or is given a name
    that is one: `shown = {"loss": f"..."}` and `bar.set_postfix(shown)`."""
    for ancestor in report.module.ancestors(event.node):
        if isinstance(ancestor, ast.Call):
            return True
        if isinstance(ancestor, ast.Assign):
            names = {one.id for one in ancestor.targets if isinstance(one, ast.Name)}
            return any(
                names & names_in(each) for call in calls_in(event.frame.owner) for each in passed(call)
            )
        if isinstance(ancestor, ast.stmt):
            return isinstance(ancestor, ast.Expr)
    return False
