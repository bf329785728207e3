"""deprecated-api: names that the target JAX still has, with a warning."""

from __future__ import annotations

import ast
import re

from jaxlint.api import AttributeEvent, NameEvent, Reporter, Rule, WithEvent, concerns
from jaxlint.api.releases import PACKAGES, ApiChange, Target, lookup, package_of
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules.migration._changed_attributes import Attributes, aim_at, attribute_advice, attribute_fix
from jaxlint_rules.migration._changed_names import ImportedNames, SpelledNames, advice, target_text

_MESHES = {"jax.sharding.Mesh", "jax.make_mesh"}
_USES_PJIT = re.compile(r"\bpjit\b")
_ASKS_FOR_THE_MESH = re.compile(r"thread_resources|get_physical_mesh")
# Its row covers all arguments: once a mesh is set, jax.jit also accepts bare PartitionSpecs.
_PJIT = {
    "old": "jax.experimental.pjit.pjit",
    "new": "jax.jit",
    "call": {
        "parameters": ("fun", "in_shardings", "out_shardings", "static_argnums", "static_argnames"),
        "keep": 1,
        "rename": {"in_axis_resources": "in_shardings", "out_axis_resources": "out_shardings"},
    },
}
# They warn at the call, which the history does not contain.
_WARN_WHEN_CALLED = {"jax.host_count", "jax.host_id", "jax.host_ids"}


class DeprecatedApi(Rule):
    """A deprecated JAX name is used.

    ## What it does
    Resolves every name through the file's imports and looks it up in the history of JAX. Finds
    names that the targeted version still has but warns about, if every targeted version has the
    replacement or none ever will.

    ## Why is this bad?
    Each use emits a `DeprecationWarning` now and raises in a later release, usually after three
    months.

    ## Example
    ```python
    from jax.experimental.shard_map import shard_map

    f = shard_map(g, mesh, P("x"), P("x"), check_rep=False)
    ```

    ## Use instead
    ```python
    from jax import shard_map

    f = shard_map(g, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    ```

    ## Fix safety
    Safe: the replacement does the same. Arguments with other names or positions are changed too.
    Calls that pass an argument without a counterpart are not rewritten. `with mesh:` becomes
    `with jax.set_mesh(mesh):` as an unsafe fix. A mesh from `jax.make_mesh`, whose axes are
    explicit since 0.9, gets automatic axes.

    ## When not to fix
    If the program must run on releases without the replacement, set `target-jax`; the name is then
    not reported.

    ## References
    - [JAX: API compatibility](https://docs.jax.dev/en/latest/api_compatibility.html)
    - [JAX: change log](https://docs.jax.dev/en/latest/changelog.html)
    """

    code = "JAX902"
    name = "deprecated-api"
    category = "migration"
    severity = Severity.WARNING
    fixable = "safe"

    def __init__(self) -> None:
        self._imports = ImportedNames()
        self._spelled = SpelledNames()
        self._attributes = Attributes(self._spelled)

    @concerns(where=lambda name: lookup(name) is not None)
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        qualified, node = event.qualified, event.node
        package = package_of(qualified)
        if package is None:
            return
        target, specifier = aim_at(package, report)
        change = _deprecated(qualified, target)
        if change is None or not self._spelled.is_written(event):
            return
        due, fix = self._imports.claim(event, report, change, target)
        if not due:
            return
        report(
            node,
            f"`{qualified}` is deprecated since {PACKAGES[package][0]} {change.deprecated_in}; {advice(change, fix)}",
            reason=target_text(specifier, package),
            fix=fix,
        )

    def on_attribute(self, event: AttributeEvent, report: Reporter) -> None:
        """Methods and attributes that the target has, with a warning."""
        change = self._attributes.change(event)
        if change is None:
            return
        package = package_of(change.name) or "jax"
        target, specifier = aim_at(package, report)
        if not target.deprecates(change):
            return
        fix = attribute_fix(change, target, event, report)
        if fix is not None:
            report(
                event.node,
                f"`{change.name}` is deprecated since {PACKAGES[package][0]} {change.deprecated_in}; {attribute_advice(change, target)}",
                reason=target_text(specifier, package),
                fix=fix,
            )

    def on_with(self, event: WithEvent, report: Reporter) -> None:
        """`with mesh:`"""
        mesh = event.value
        change, target = lookup("jax.sharding.Mesh.__enter__"), Target.of(report.target_jax)
        name = getattr(mesh, "name", "")
        if name not in _MESHES or event.is_optional() or change is None:
            return
        if not target.deprecates(change) or not target.has_since(change.since):
            return
        if event.frame.stage.staged:
            return  # jax.set_mesh cannot be entered there, and there is no replacement
        steps = [Step("wrap-expression", report.path, report.span(event.node), {"function": "jax.set_mesh"})]
        pjits = self._pjits(event, report)
        for call in pjits or ():
            steps.append(Step("rename-api", report.path, report.span(call), _PJIT))
        maker = getattr(mesh, "node", None)
        if name == "jax.make_mesh" and isinstance(maker, ast.Call) and report.module.parents.get(maker):
            if (parameters := _automatic_axes(maker)) is not None:
                steps.append(Step("change-call", report.path, report.span(maker), parameters))
        report(
            event.node,
            f"the `with mesh:` context manager is deprecated since jax {change.deprecated_in}; use `jax.set_mesh`",
            reason=f"the mesh comes from `{name}`; {target_text(report.target_jax)}",
            fix=None
            if pjits is None
            else FixRequest(
                Safety.UNSAFE,
                "Use `jax.set_mesh`; code that reads the old context mesh no longer finds it"
                + ("; None in `jax.jit` leaves the placement to the compiler" if pjits else ""),
                tuple(steps),
            ),
        )

    def _pjits(self, event: WithEvent, report: Reporter) -> list[ast.expr] | None:
        """The uses of `pjit` in this file: `pjit` finds an entered mesh, `jax.jit` a set one.

        None if other code may look for the entered mesh.
        """
        module = event.frame.module
        using = report.project.matching(_USES_PJIT)
        if report.project.matching(_ASKS_FOR_THE_MESH) or any(one is not module for one in using):
            return None
        if not using:
            return []
        return self._spelled.uses(module.tree, "jax.experimental.pjit.pjit")


def _automatic_axes(node: ast.Call) -> dict[str, object] | None:
    """Axes of `jax.make_mesh` were automatic by default before 0.9, and are explicit since."""
    if any(keyword.arg in ("axis_types", None) for keyword in node.keywords) or len(node.args) > 2:
        return None
    named = [keyword.value for keyword in node.keywords if keyword.arg == "axis_names"] or node.args[1:]
    if not named or not isinstance(named[0], (ast.Tuple, ast.List)):
        return None
    count = len(named[0].elts)
    types = "({=jax.sharding.AxisType.Auto},)" + (f" * {count}" if count > 1 else "")
    return {"callee": "jax.make_mesh", "call": {"add": {"axis_types": types}}}


def _deprecated(qualified: str, target: Target) -> ApiChange | None:
    """The row for a warning about `qualified`: there is a remedy, and JAX itself warns."""
    change = lookup(qualified)
    if change is None or change.kind not in ("deprecated", "removed", "moved"):
        return None
    warns = change.kind != "deprecated" or change.warns or qualified in _WARN_WHEN_CALLED
    if not warns or not target.deprecates(change):
        return None
    has_replacement = target.has_since(change.since)
    older = (change.alternative or "").startswith("jax.tree_util.")
    return change if has_replacement or older else None
