"""changed-signature: arguments that a JAX function no longer accepts, or accepts differently."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jaxlint.api import AttributeEvent, CallEvent, NameEvent, Reporter, Rule, concerns
from jaxlint.api.releases import (
    PACKAGES,
    ApiChange,
    Target,
    by_keyword,
    call_change,
    call_parameters,
    keyword_changes,
    keyword_risk,
    package_of,
    parse_version,
    takes_by_keyword,
)
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._names import unpacked
from jaxlint_rules.migration._changed_attributes import Attributes, aim_at
from jaxlint_rules.migration._changed_names import SpelledNames, target_text


def _has_changed(name: str) -> bool:
    return package_of(name) is not None and bool(
        keyword_changes(name) or takes_by_keyword(name) or (call_change(name) and not name.startswith("jax."))
    )


# They warn if they are passed, and the function does not move.
_WARNS = {("jax.jit", "backend"), ("jax.jit", "device")}


class ChangedSignature(Rule):
    """A call passes arguments that the targeted JAX does not accept.

    ## What it does
    Compares the keywords of each call, and the number of its positional arguments, with the history
    of the function's signature. Finds parameters that were removed or renamed, and parameters that
    are now keyword-only or positional-only. An argument that so far only warns is reported as a
    warning. The same holds for functions of flax, optax, chex and haiku.

    ## Why is this bad?
    The call raises `TypeError`. A function that forwards any keywords may instead do something
    else.

    ## Example
    ```python
    y = jnp.clip(x, a_min=0.0, a_max=6.0)
    ```

    ## Use instead
    ```python
    y = jnp.clip(x, min=0.0, max=6.0)
    ```

    ## Fix safety
    Safe if the argument means the same under its new name. Unsafe if it usually but not always
    does; the message says why. Calls that unpack their arguments are not rewritten.

    ## When not to fix
    If the program must run on releases without the new parameter, set `target-jax`.

    ## References
    - [JAX: change log](https://docs.jax.dev/en/latest/changelog.html)
    """

    code = "JAX904"
    name = "changed-signature"
    category = "migration"
    severity = Severity.ERROR
    fixable = "safe"

    def __init__(self) -> None:
        self._callees: dict[ast.AST, str] = {}
        self._attributes = Attributes(SpelledNames())

    @concerns(where=lambda name: _has_changed(name))
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        if not event.is_import and not event.is_optional() and _has_changed(event.qualified):
            self._callees[event.node] = event.qualified

    def on_attribute(self, event: AttributeEvent, report: Reporter) -> None:
        """Methods of arrays."""
        name = f"jax.Array.{event.name}"
        if keyword_changes(name) and not event.is_optional() and self._attributes.owner(event) == "jax.Array":
            self._callees[event.node] = name

    @concerns(
        where=lambda name: name == "functools.partial" or _has_changed(name),
        callees=("ExternalMethod", "Unknown", "Array", "Choice"),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(node, ast.Call):
            return
        caught = event.is_caught()
        if not caught:
            self._update(event, node, report)
        callee, bound = self._callees.get(node.func), 0
        if callee is None and event.name == "functools.partial" and node.args:
            callee, bound = self._callees.get(node.args[0]), 1
        if callee is None:
            return
        package = package_of(callee) or "jax"
        target, _ = aim_at(package, report)
        self._keywords(node, callee, target, report, caught=caught)
        if not caught and not any(isinstance(arg, ast.Starred) for arg in node.args):
            self._positional(node, callee, len(node.args) - bound, target, report)
            if not bound:
                self._required(node, callee, target, report)

    @staticmethod
    def _update(event: CallEvent, node: ast.Call, report: Reporter) -> None:
        """`optimizer.update(grads)` of nnx, which takes the model as well now; optax takes its state."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "update":
            return
        if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Name):
            return
        target, _ = aim_at("flax", report)
        change = call_change("flax.nnx.Optimizer")
        if change is None or not target.lacks(change):
            return
        if node.args[0].id not in _gradients(event.frame.owner):
            return
        owner = ast.unparse(node.func.value)
        report(
            node,
            f"`{owner}.update` takes the model and the gradients since {PACKAGES['flax'][0]} {change.removed_in}; pass both",
            reason=target_text(report.version_of(PACKAGES["flax"][0]), "flax"),
        )

    @staticmethod
    def _required(node: ast.Call, callee: str, target: Target, report: Reporter) -> None:
        """An argument that is now required."""
        change, package = call_change(callee), package_of(callee) or "jax"
        if change is None or not change.param or not change.param.isidentifier() or package == "jax":
            return
        by_position = change.param_replacement != "<keyword>" and bool(node.args)
        if (
            by_position
            or any(keyword.arg in (change.param, None) for keyword in node.keywords)
            or not target.lacks(change)
        ):
            return
        report(
            node,
            f"`{callee}` requires `{change.param}` since {PACKAGES[package][0]} {change.removed_in}; {change.note.replace('; ', ', ')}",
            reason=target_text(report.version_of(PACKAGES[package][0]), package),
        )

    def _keywords(
        self, node: ast.Call, callee: str, target: Target, report: Reporter, *, caught: bool
    ) -> None:
        package = package_of(callee) or "jax"
        given = [
            keyword.arg for keyword in node.keywords if not _is_none(keyword.value) or keyword.arg != "kind"
        ]
        changes = [one for one in keyword_changes(callee) if one.param in given and target.lacks(one)]
        changes.sort(key=lambda change: given.index(change.param))
        if not changes:
            self._warnings(node, callee, target, report)
            return
        if caught:
            return
        parameters = call_parameters(callee, changes, target)
        values = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg}
        names = ", ".join(f"`{change.param}`" for change in changes)
        since = max((change.removed_in for change in changes if change.removed_in), key=parse_version)
        report(
            node,
            f"`{callee}` raises TypeError for {names} since {PACKAGES[package][0]} {since}; {_keyword_advice(changes)}",
            reason=f"the call passes {names} by keyword; {target_text(report.version_of(PACKAGES[package][0]), package)}",
            fix=_fix(node, callee, parameters, keyword_risk(callee, changes, values), report),
        )

    def _warnings(self, node: ast.Call, callee: str, target: Target, report: Reporter) -> None:
        for keyword in node.keywords:
            if (callee, keyword.arg) not in _WARNS or _is_none(keyword.value):
                continue
            change = next((one for one in keyword_changes(callee) if one.param == keyword.arg), None)
            if change is not None and target.deprecates(change):
                report(
                    node,
                    f"`{keyword.arg}` of `{callee}` is deprecated since jax {change.deprecated_in}; "
                    "use `jax.device_put` or `jax.default_device`",
                    reason=f"each such call warns; {target_text(report.target_jax)}",
                    severity=Severity.WARNING,
                )
                return

    def _positional(self, node: ast.Call, callee: str, count: int, target: Target, report: Reporter) -> None:
        found = by_keyword(callee, target)
        if found is None:
            return
        change, parameters = found
        if count <= parameters["call"]["keep"]:
            return
        first = parameters["call"]["parameters"][parameters["call"]["keep"]]
        report(
            node,
            f"`{callee}` takes `{first}` by keyword only since jax {change.removed_in}; positional raises TypeError",
            reason=f"the call passes {count} argument{'s' * (count != 1)} by position; {target_text(report.target_jax)}",
            fix=_fix(node, callee, parameters, "", report),
        )


def _fix(
    node: ast.Call, callee: str, parameters: Mapping[str, object] | None, danger: str, report: Reporter
) -> FixRequest | None:
    if parameters is None:
        return None
    step = Step("change-call", report.path, report.span(node), parameters)
    message = f"Change the arguments of `{callee}`" + (f"; {danger}" if danger else "")
    return FixRequest(Safety.UNSAFE if danger else Safety.SAFE, message, (step,))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


# What notes of the table say about an argument, as orders.
_KEYWORD_ADVICE = {
    "": "remove it",
    "SparseCore kernels use pl.kernel": "use `pl.kernel` for SparseCore kernels",
    "drop": "remove it",
    "drop the argument": "remove it",
    "drop; TypeError in 0.12.0.1": "remove it",
    "drop; also make_async_remote_copy, remote_ref": "remove it",
    "drop; changelog says removed 0.4.8, parameter present to 0.9.2": "remove it",
    "drop; warns": "remove it",
    "dynamic shapes removed": "remove it: JAX has no dynamic shapes any more",
    "kind had no effect; drop it (stable=True is the default)": "remove it: `stable=True` is the default",
    "no longer accepted": "remove it",
    "pl.Element(size) per dimension": "use `pl.Element(size)` for each dimension",
}


def _keyword_advice(changes: list[ApiChange]) -> str:
    named = [one.param_replacement for one in changes]
    if all(new and new.isidentifier() for new in named):
        return f"use {' and '.join(dict.fromkeys(f'`{new}`' for new in named))}"
    advice = []
    for change in changes:
        new = change.param_replacement
        if new in ("<positional>", "<first positional>"):
            advice.append(f"pass `{change.param}` by position")
        elif new and new.isidentifier():
            advice.append(f"use `{new}`")
        else:
            advice.append(_KEYWORD_ADVICE.get(change.note, change.note.replace("; ", ", ")))
    return ", ".join(dict.fromkeys(part for part in advice if part))


@cache
def _gradients(owner: ast.AST) -> frozenset[str]:
    """The variables that a body binds to gradients of nnx: `grads = nnx.grad(f)(model)`, or the second of a pair."""
    found: set[str] = set()
    for statement in nodes_of(owner, ast.Assign):
        call = statement.value.func if isinstance(statement.value, ast.Call) else None
        name = dotted(call.func) if isinstance(call, ast.Call) else ""
        if name in ("nnx.grad", "nnx.value_and_grad", "flax.nnx.grad", "flax.nnx.value_and_grad"):
            parts = [part for target in statement.targets for part in unpacked(target)]
            last = parts[-1]
            found |= {last.id} if isinstance(last, ast.Name) else set()
    return frozenset(found)
