"""deprecated-api: names that the targeted JAX still has, and warns of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlint.finding import Severity
from jaxlint.jaxapi.history import ApiChange, Target, lookup
from jaxlint.rule import Example, Rule
from jaxlint_rules.migration.changed_names import ImportedNames, SpelledNames, advice, target_text

if TYPE_CHECKING:
    from jaxlint.staging.events import NameEvent

# They warn when they are called, which the history does not see.
_WARN_WHEN_CALLED = {"jax.host_count", "jax.host_id", "jax.host_ids"}


class DeprecatedApi(Rule):
    """A name of JAX is used that still works on the targeted version, but will go.

    ## What it does
    Resolves every name through the file's imports and looks it up in the history of JAX: names that the targeted
    version still has and warns of, and for which every targeted version has a replacement, or none ever will.

    ## Why is this bad?
    Each use prints a DeprecationWarning now and becomes an error in a later release, as a rule after three months.

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
    Safe: the replacement does the same. Where arguments have other names or positions, they are changed along, and
    the fix is refused at calls that pass something without a counterpart.

    ## When not to fix
    When the program has to run on releases that do not have the replacement: say so with `target-jax`, and the name is
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
    examples = (
        Example(
            "shard_map left jax.experimental",
            """\
from jax.experimental.shard_map import shard_map  # finding


def spread(f, mesh, specs):
    return shard_map(f, mesh, specs, specs, check_rep=False)
""",
            """\
from jax import shard_map


def spread(f, mesh, specs):
    return shard_map(f, mesh=mesh, in_specs=specs, out_specs=specs, check_vma=False)
""",
        ),
        Example(
            "the replacement is fine",
            """\
import jax


def spread(f, mesh, specs):
    return jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=specs)
""",
        ),
        Example(
            "recommended elsewhere, but not deprecated",
            """\
import jax

key = jax.random.PRNGKey(0)
""",
        ),
    )

    def __init__(self) -> None:
        self._imports = ImportedNames()
        self._spelled = SpelledNames()

    def on_name(self, event: NameEvent, report: Any) -> None:
        qualified, node = event.qualified, event.node
        if not qualified.startswith("jax."):
            return
        target = Target.of(report.target_jax)
        change = _deprecated(qualified, target)
        if change is None or not self._spelled.is_written(event):
            return
        due, fix = self._imports.claim(event, report, change, target)
        if not due:
            return
        report(
            node,
            f"`{qualified}` is deprecated since jax {change.deprecated_in}: {advice(change, fix)}",
            reason=target_text(report.target_jax),
            fix=fix,
        )


def _deprecated(qualified: str, target: Target) -> ApiChange | None:
    """The row that makes `qualified` worth a warning: one can act on it, and JAX itself warns."""
    change = lookup(qualified)
    if change is None or change.kind not in ("deprecated", "removed", "moved"):
        return None
    warns = change.kind != "deprecated" or change.warns or qualified in _WARN_WHEN_CALLED
    if not warns or not target.deprecates(change):
        return None
    has_replacement = target.has_since(change.since)
    older = (change.alternative or "").startswith("jax.tree_util.")
    return change if has_replacement or older else None
