"""Whole buffers that are copied for each row written into them."""

from __future__ import annotations

import ast
import math
import re

from jaxlint.api import CallEvent, Frame, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import AtIndexer, ExternalMethod, shape_of
from jaxlint.finding import Severity
from jaxlint_rules._loops import host_loops
from jaxlint_rules._names import function_around, updated_at

_WRITING = re.compile(r"^_?(add|push|append|insert|store|put|record|observe|write|remember|extend|save)(_|$)")
_SMALL = 4096  # elements, 16 kB: a copy costs no more than the dispatch


class EagerBufferUpdate(Rule):
    """A whole buffer is copied for each row that is written into it.

    ## What it does
    Finds `self.buffer = self.buffer.at[i].set(row)` outside `jit`, in a loop or in a method whose
    name says that it adds a row (`add`, `push`, `append`, `store` ...).

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
    Keep it for buffers of a few kilobytes.

    ## References
    - [JAX: buffer donation](https://docs.jax.dev/en/latest/buffer_donation.html)
    """

    code = "JAX508"
    name = "eager-buffer-update"
    category = "transfer"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()  # functions: their buffers are corrected together

    @concerns(callees=("ExternalMethod",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame, node = event.callee, event.frame, event.node
        if not isinstance(callee, ExternalMethod) or not isinstance(callee.receiver, AtIndexer):
            return
        if frame.stage.staged or frame.is_in_test() or not isinstance(node, ast.Call):
            return
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


def _is_made_anew(target: str, frame: Frame, module: Module) -> bool:
    """Whether the method, or one that calls it, creates the buffer first: it is filled once, and not kept between calls."""
    for one in (frame, *frame.callers()):
        for statement in nodes_of(one.owner, ast.Assign) if one.module is module else ():
            if (
                any(dotted(part) == target for part in statement.targets)
                and updated_at(statement.value) is None
            ):
                return True
    return False
