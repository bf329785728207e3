"""removed-api: names and options that the target JAX no longer has."""

from __future__ import annotations

import ast

from jaxlint.api import AttributeEvent, CallEvent, NameEvent, Reporter, Rule, concerns
from jaxlint.api.releases import (
    PACKAGES,
    ApiChange,
    Target,
    describe_option,
    gone_options,
    known_names,
    lookup,
    lookup_module,
    package_of,
)
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules.migration._changed_attributes import Attributes, aim_at, attribute_advice, attribute_fix
from jaxlint_rules.migration._changed_names import (
    ImportedNames,
    SpelledNames,
    advice,
    severity_of_name,
    target_text,
)


def _has_row(qualified: str) -> bool:
    return qualified == "jax.config" or lookup(qualified) is not None or _row_around(qualified) is not None


def _row_around(qualified: str) -> ApiChange | None:
    """The row of the enclosing module, or a row from the table of names if it has none."""
    return lookup_module(qualified) or _unreviewed(qualified)


class RemovedApi(Rule):
    """A name or option is used that the targeted JAX no longer has.

    ## What it does
    Resolves every name through the file's imports and looks it up in the history of JAX. Finds
    names, modules and `jax.config` options that were removed or moved in or before a targeted
    version. The target is `target-jax` in the configuration, otherwise the version that the project
    requires, otherwise the newest release that jaxlint knows. Methods and attributes of arrays and
    of lowered and exported programs are checked too, if the analysis or an annotation shows the
    type of the object.

    ## Why is this bad?
    The line raises `ImportError` or `AttributeError`, often only when it is reached.

    ## Example
    ```python
    import jax

    grads = jax.tree_map(lambda g: g / n, grads)
    ```

    ## Use instead
    ```python
    import jax

    grads = jax.tree.map(lambda g: g / n, grads)
    ```

    ## Fix safety
    Safe if the replacement is the same object under another name, or takes the same arguments in
    another form, and exists in every targeted version. Otherwise the message says what to change by
    hand.

    ## When not to fix
    Uses guarded by `try` and `except ImportError`, or by a test of the version, are not reported.
    If the project must support old releases, set `target-jax`.

    ## References
    - [JAX: API compatibility](https://docs.jax.dev/en/latest/api_compatibility.html)
    - [JAX: change log](https://docs.jax.dev/en/latest/changelog.html)
    """

    code = "JAX901"
    name = "removed-api"
    category = "migration"
    severity = Severity.ERROR
    fixable = "safe"

    def __init__(self) -> None:
        self._imports = ImportedNames()
        self._spelled = SpelledNames()
        self._attributes = Attributes(self._spelled)

    @concerns(where=_has_row)
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        qualified, node = event.qualified, event.node
        package = package_of(qualified)
        if package is None:
            return
        target, specifier = aim_at(package, report)
        if qualified == "jax.config" and event.is_import:
            self._config_module(event, target, report)
            return
        change = self._removed(qualified, target, is_import=event.is_import)
        if change is None or not self._spelled.is_written(event):
            return
        due, fix = self._imports.claim(event, report, change, target)
        if not due:
            return
        report(
            node,
            f"`{qualified}` was {change.kind} in {PACKAGES[package][0]} {change.removed_in}; {advice(change, fix)}",
            reason=_reason(change, qualified, specifier, package),
            fix=fix,
            severity=severity_of_name(event),
        )

    @staticmethod
    def _config_module(event: NameEvent, target: Target, report: Reporter) -> None:
        """`import jax.config`: an object of that name has replaced the module."""
        node, row = event.node, lookup("jax.config.config")
        statement = event.frame.module.parents.get(node)
        if (
            row is None
            or event.is_optional()
            or not target.lacks(row)
            or not isinstance(statement, ast.Import)
        ):
            return
        step = Step("rename-api", report.path, report.span(node), {"old": "jax.config", "is_attribute": True})
        report(
            node,
            f"`jax.config` is not a module since jax {row.removed_in}; import `jax`",
            reason=target_text(report.target_jax),
            fix=FixRequest(Safety.SAFE, "Import `jax`, which has `config` as an attribute", (step,)),
        )

    @staticmethod
    def _removed(qualified: str, target: Target, *, is_import: bool) -> ApiChange | None:
        """The row that makes `qualified` an error on the target."""
        change = lookup(qualified)
        if change is not None and change.form == "module" and not is_import:
            return None  # reported where a member of the module is used, which may have its own row
        if change is None:
            change = _row_around(qualified)
        if change is None or change.kind not in ("removed", "moved"):
            return None
        return change if target.lacks(change) else None

    def on_attribute(self, event: AttributeEvent, report: Reporter) -> None:
        """Methods and attributes: `x.device_buffer` of an array."""
        change = self._attributes.change(event)
        if change is None:
            return
        package = package_of(change.name) or "jax"
        target, specifier = aim_at(package, report)
        if not target.lacks(change):
            return
        report(
            event.node,
            f"`{change.name}` was removed in {PACKAGES[package][0]} {change.removed_in}; {attribute_advice(change, target)}",
            reason=target_text(specifier, package),
            fix=attribute_fix(change, target, event, report),
        )

    @concerns("jax.config.update")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """Options: `jax.config.update("jax_array", True)`."""
        node = event.node
        if event.name != "jax.config.update" or not isinstance(node, ast.Call) or not node.args:
            return
        option = node.args[0]
        if event.is_optional() or not isinstance(option, ast.Constant):
            return
        name = option.value
        if not isinstance(name, str):
            return
        change = gone_options().get(name)
        if change is None or not Target.of(report.target_jax).lacks(change):
            return
        fix = None
        if "delete" in change.note:
            step = Step("remove-statement", report.path, report.span(node), {})
            fix = FixRequest(Safety.SAFE, f"Remove the option `{name}`, which has no effect", (step,))
        report(
            option,
            f"`jax.config` has no option `{name}` since jax {change.removed_in}; {describe_option(change)}",
            reason=target_text(report.target_jax),
            fix=fix,
        )


def _reason(change: ApiChange, qualified: str, specifier: str | None, package: str) -> str:
    parts = []
    if qualified != change.name:
        parts.append(f"it is part of `{change.name}`")
    if change.deprecated_in:
        parts.append(f"deprecated since {PACKAGES[package][0]} {change.deprecated_in}")
    return "; ".join([*parts, target_text(specifier, package)])


def _unreviewed(qualified: str) -> ApiChange | None:
    """A row for a name that was removed without any note, from the table of names."""
    place = known_names.split(qualified)
    if place is None or place[1].startswith("_"):
        return None
    gone = known_names(place[0]).gone.get(place[1])
    if gone is None or not known_names(place[0]).there or known_names(place[0]).is_open_now:
        return None
    note = "it was never documented and has no public replacement"
    return ApiChange(f"{place[0]}.{place[1]}", "removed", "name", "semi", "manual", note, removed_in=gone)
