"""Whole buffers that are copied for each row written into them."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field

from jaxlint.api import CallEvent, Frame, Loop, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, dotted, nodes_of
from jaxlint.api.values import AtIndexer, ExternalMethod, shape_of
from jaxlint.finding import Severity
from jaxlint_rules._cost import level, runs
from jaxlint_rules._loops import host_loops
from jaxlint_rules._main_loops import carries_state
from jaxlint_rules._names import function_around, updated_at
from jaxlint_rules._slices import stepped_on

_WRITING = re.compile(r"^_?(add|push|append|insert|store|put|record|observe|write|remember|extend|save)(_|$)")
_SMALL = 4096  # elements, 16 kB: a copy costs no more than the dispatch
_WIDTH = 4  # bytes of an element
_COPIED = 2e9  # bytes that a second copies into new memory, on a CPU
_LEAST = 0.1  # seconds of copies that are worth a word


@dataclass(slots=True, eq=False)
class _Copies:
    """The buffers that one function copies in each iteration of a loop."""

    event: CallEvent
    buffer: ast.expr
    nodes: set[ast.AST] = field(default_factory=set)
    seconds: float = 0.0


class EagerBufferUpdate(Rule):
    """A whole buffer is copied for each row that is written into it.

    ## What it does
    Finds `self.buffer = self.buffer.at[i].set(row)` outside `jit`, in a loop or in a method whose
    name says that it adds a row (`add`, `push`, `append`, `store` ...). Also finds arrays of known
    size, in a variable or a tuple of them, that each iteration of a host loop updates so.

    ## Why is this bad?
    Outside `jit` nothing is updated in place: each call allocates a new buffer and copies all rows.
    Adding a row to a buffer of a million rows of 17 numbers moves 136 MB, so the time to fill a
    buffer grows with the square of its size.

    ## Example
    ```python
    class ReplayBuffer:
        def add(self, obs):
            self.obs = self.obs.at[self.position].set(obs)
    ```

    ## Use instead
    ```python
    class ReplayBuffer:
        def add(self, obs):
            self.obs[self.position] = obs  # a NumPy array; copy each batch to the device
    ```
    Or jit the update and donate the buffer:
    `write = jax.jit(lambda b, i, row: b.at[i].set(row), donate_argnums=0)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it for buffers of a few kilobytes. A known size is advice where all copies, at 2 GB/s, take
    less than a second, and not reported below a tenth.

    ## References
    - [JAX: buffer donation](https://docs.jax.dev/en/latest/buffer_donation.html)
    """

    code = "JAX508"
    name = "eager-buffer-update"
    category = "transfer"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()  # functions: their buffers are corrected together
        # By function and loop: the first update that each iteration of the loop makes, and the seconds that all of them copy.
        self.copied: dict[tuple[ast.AST, ast.AST], _Copies] = {}

    @concerns(callees=("ExternalMethod",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame, node = event.callee, event.frame, event.node
        if not isinstance(callee, ExternalMethod) or not isinstance(callee.receiver, AtIndexer):
            return
        if frame.stage.staged or frame.is_in_test() or not isinstance(node, ast.Call):
            return
        self.note_copy(event, callee.receiver, node)
        statement = report.module.parents.get(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return
        target = dotted(statement.targets[0])
        updated = updated_at(node)
        if not target.startswith("self.") or updated is None or dotted(updated[0]) != target:
            return
        method = function_around(node, report.module)
        if method is None or method in self.told:
            return
        if not (host_loops(frame) or _WRITING.search(method.name)) or method.name == "__init__":
            return
        shape = shape_of(callee.receiver.array)
        if shape is not None and math.prod(shape) <= _SMALL:
            return
        self.told.add(method)
        report(
            node,
            f"this copies all of `{target}` to write a part of it; keep it in NumPy, or donate it to a jitted update",
            reason=f"`{method.name}` runs outside jit, where an update allocates a new array",
            severity=Severity.INFO if _is_made_anew(target, frame, report.module) else None,
        )

    def note_copy(self, event: CallEvent, updated: AtIndexer, node: ast.Call) -> None:
        """Counts the copy of an array of known size in a loop that takes it from iteration to iteration."""
        frame, place = event.frame, updated_at(node)
        shape = shape_of(updated.array)
        if shape is None or math.prod(shape) <= _SMALL or place is None:
            return
        around = next(((one, one.loops[-1]) for one in (frame, *frame.callers()) if one.loops), None)
        if around is None or around[0].stage.staged or not _is_kept(place[0], frame, *around):
            return
        seconds = math.prod(shape) * _WIDTH / _COPIED
        copies = self.copied.setdefault((frame.owner, around[1].node), _Copies(event, place[0]))
        if node not in copies.nodes:
            copies.nodes.add(node)
            copies.seconds += seconds * runs(frame)

    def finish(self, report: Reporter) -> None:
        for (function, _), copies in self.copied.items():
            frame = copies.event.frame
            if function in self.told or not frame.module.reported or copies.seconds < _LEAST:
                continue
            self.told.add(function)
            report.event = copies.event
            others = f" and {len(copies.nodes) - 1} more" if len(copies.nodes) > 1 else ""
            report(
                copies.event.node,
                f"this copies all of `{ast.unparse(copies.buffer)}`{others} in each iteration; donate it to a jitted update",
                reason="outside jit an update allocates a new array, and copies what it does not change",
                severity=level(copies.seconds),
            )


def _is_kept(buffer: ast.expr, frame: Frame, running: Frame, loop: Loop) -> bool:
    """Whether an iteration of a loop, which `running` runs, updates what the one before has left."""
    root = next((part.id for part in ast.walk(buffer) if isinstance(part, ast.Name)), "")
    if frame is running:
        return root in stepped_on(loop.node)
    given = all_parameters(frame.function.node) if frame.function is not None else []
    return root in {one.arg for one in given} and carries_state(loop.node)


def _is_made_anew(target: str, frame: Frame, module: Module) -> bool:
    """Whether the method, or one that calls it, creates the buffer first: it is filled once, and not kept between calls."""
    for one in (frame, *frame.callers()):
        if one.function is None or one.module is not module:
            continue  # the body of a module holds the methods of all classes
        for statement in nodes_of(one.owner, ast.Assign):
            if (
                any(dotted(part) == target for part in statement.targets)
                and updated_at(statement.value) is None
            ):
                return True
    return False
