"""Collectives over an axis that no enclosing transformation binds."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Frame, Reporter, Rule, Stage, concerns
from jaxlint.api.tables import COLLECTIVES
from jaxlint.api.values import ExternalObject, constant, strings
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, passed
from jaxlint_rules._reasons import path_to

_SHARD_MAP = re.compile(r"\bshard_map\(")
_QUERIES = ("jax.lax.axis_index", "jax.lax.axis_size")


class UnboundAxis(Rule):
    """A collective names an axis that no enclosing transformation binds.

    ## What it does
    Finds `lax.psum`, `pmean`, `axis_index` and other collectives with a constant axis name that no
    enclosing `vmap`, `pmap` or `shard_map` binds: another name than that of the `pmap`, or a plain
    `jit` in a program that never binds the name.
    `eqx.nn.BatchNorm` computes over such an axis in training.

    ## Why is this bad?
    Tracing raises `NameError: unbound axis name`.

    ## Example
    ```python
    @functools.partial(jax.pmap, axis_name="batch")
    def step(params, grads):
        return params - jax.lax.pmean(grads, "devices")
    ```

    ## Use instead
    ```python
    @functools.partial(jax.pmap, axis_name="batch")
    def step(params, grads):
        return params - jax.lax.pmean(grads, "batch")
    ```
    Under `jit` with sharded arrays no explicit collective is needed: the compiler inserts it.

    ## Fix safety
    There is no automatic fix: only you know which axis is meant.

    ## When not to fix
    Keep it if another program calls the function under a transformation that binds the axis.

    ## References
    - [jax.lax.psum](https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html)
    """

    code = "JAX1202"
    name = "unbound-axis"
    category = "sharding"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(*_QUERIES, *COLLECTIVES, callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        names = _axes_named(event)
        if not names or not event.frame.stage.staged:
            return
        bound: list[str] = []
        mapped = ""
        stage = event.frame.stage
        while stage.parent is not None or stage.staged:
            if stage.axes is None or stage.kind in ("convention", "nn.lift") or not stage.certain:
                return
            bound.extend(stage.axes)
            if stage.kind in ("pmap", "shard_map") or stage.axes:
                mapped = stage.kind if mapped != "pmap" else mapped
            if stage.parent is None:
                break
            stage = stage.parent
        missing = next((name for name in names if name not in bound), None)
        if missing is None or event.is_caught() or report.module.is_test:
            return
        # A function that is only transformed here may be called under further transformations.
        outermost = mapped == "pmap" and _is_outermost(event.frame)
        if not outermost and not _is_run_as_it_is(event.frame):
            if _is_named_elsewhere(missing, report) or _is_bound_by_attribute(event, report):
                return
        if bound:
            have = ", ".join(f"`{name}`" for name in bound)
            reason = f"the transformations around it bind {have}{path_to(event.frame)}"
        else:
            reason = f"no transformation around it binds an axis name{path_to(event.frame)}"
        report(
            event.node,
            f"unbound axis name `{missing}` raises NameError; bind it in a `pmap`, `vmap` or `shard_map` around this",
            reason=reason,
            severity=Severity.ERROR
            if bound
            else Severity.WARNING
            if _is_run_as_it_is(event.frame) and not event.frame.is_conditional()
            else Severity.INFO,
            slip=(missing, _outermost(event.frame.stage)),
        )


def _axes_named(event: CallEvent) -> tuple[str, ...] | list[str] | None:
    """The axes over which a collective, or a layer that contains one, computes."""
    if event.name in _QUERIES or event.name in COLLECTIVES:
        position = 0 if event.name in _QUERIES else 1
        given = event.kwargs.get("axis_name")
        if given is None and position < len(event.args):
            given = event.args[position]
        return strings(given)
    layer = event.callee
    if not isinstance(layer, ExternalObject) or layer.name != "equinox.nn.BatchNorm":
        return None
    for options in (event.kwargs, layer.kwargs):  # in inference it reads its statistics
        if "inference" in options and constant(options["inference"]) is not False:
            return None
    return strings(layer.kwargs.get("axis_name") or (layer.args[1] if len(layer.args) > 1 else None))


def _outermost(stage: Stage) -> object:
    """The place of the transformation around all others, which binds no such axis."""
    while stage.parent is not None and stage.parent.staged:
        stage = stage.parent
    return stage.why.node if stage.why is not None else None


def _is_outermost(frame: Frame) -> bool:
    """Whether no trace creates or calls the pmap."""
    stage = frame.stage
    while stage.kind != "pmap" and stage.parent is not None:
        stage = stage.parent
    return stage.parent is None or not stage.parent.staged


def _is_run_as_it_is(frame: Frame) -> bool:
    """Whether the file itself calls the compiled function at import: no other transformation is around this call."""
    *calls, body = [frame, *frame.callers()]
    return all(call.is_called() for call in calls) and body.is_program()


def _is_bound_by_attribute(event: CallEvent, report: Reporter) -> bool:
    """Whether a transformation of the project binds the axis by the attribute that holds its name: `axis_name=self.axis`."""
    given = passed(event.node) if isinstance(event.node, ast.Call) else []
    names = {one.attr for one in given if isinstance(one, ast.Attribute)}
    return any(
        report.project.mentions(
            re.compile(rf"[vp]map\s*[(,](?:[^()]|\([^()]*\))*\baxis_name\s*=\s*[\w.]+\.{re.escape(name)}\b"),
            report.module,
        )
        for name in names
    )


def _is_named_elsewhere(axis: str, report: Reporter) -> bool:
    """Whether the file mentions the axis outside collectives, as its binding would, or another file binds it."""
    if report.project.mentions(
        re.compile(
            rf"[vp]map\s*[(,](?:[^()]|\([^()]*\))*\baxis_name\s*=\s*[\"']{re.escape(axis)}[\"']|\bxmap\((?s:.*)[\"']{re.escape(axis)}[\"']"
        ),
        report.module,
    ):
        return True
    mesh = re.compile(rf"\b(make_m|M)esh\((?:[^()]|\([^()]*\))*\(?[^()]*[\"']{re.escape(axis)}[\"']")
    if report.project.mentions(_SHARD_MAP, report.module) and report.project.mentions(mesh, report.module):
        return True
    parents = report.module.parents
    for node in ast.walk(report.module.tree):
        if isinstance(node, ast.Constant) and node.value == axis:
            parent = parents.get(node)
            if isinstance(parent, ast.arguments):
                continue  # the default of a parameter, which binds nothing
            while isinstance(parent, (ast.keyword, ast.Tuple, ast.List, ast.Dict)):
                parent = parents.get(parent)
            short = last_name(parent.func) if isinstance(parent, ast.Call) else ""
            if f"jax.lax.{short}" not in COLLECTIVES and f"jax.lax.{short}" not in _QUERIES:
                return True
    return False
