"""removed-api: names and parameters that the targeted JAX no longer has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint.jaxapi.history import ApiChange, Target, keyword_changes, lookup, lookup_module
from jaxlint.jaxapi.rewrites import call_parameters
from jaxlint.rule import Example, Rule
from jaxlint_rules.migration.changed_names import ImportedNames, SpelledNames, advice, target_text

if TYPE_CHECKING:
    from jaxlint.staging.events import CallEvent, NameEvent


class RemovedApi(Rule):
    """A name or parameter of JAX is used that the targeted version no longer has.

    ## What it does
    Resolves every name through the file's imports and looks it up in the history of JAX: names, modules and keyword
    parameters that were removed or moved in or before the targeted version (`target-jax` in the configuration, else
    the newest release that jaxlint knows).

    ## Why is this bad?
    The program stops with an ImportError, an AttributeError or a TypeError, often only when that line is reached.

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
    Safe where the replacement is the same thing under another name, or takes the same arguments in another form, and
    exists in every targeted version. Where there is no such replacement the message says what to do by hand.

    ## When not to fix
    When the program guards the use, with `try` and `except ImportError` or with a test of the version: such places are
    not reported. A project that has to support old releases says so with `target-jax`.

    ## References
    - [JAX: API compatibility](https://docs.jax.dev/en/latest/api_compatibility.html)
    - [JAX: change log](https://docs.jax.dev/en/latest/changelog.html)
    """

    code = "JAX901"
    name = "removed-api"
    category = "migration"
    severity = Severity.ERROR
    fixable = "safe"
    examples = (
        Example(
            "a function moved to a module of its own",
            """\
import jax


def scale(grads, n):
    return jax.tree_map(lambda g: g / n, grads)  # finding
""",
            """\
import jax


def scale(grads, n):
    return jax.tree.map(lambda g: g / n, grads)
""",
        ),
        Example(
            "an import is reported once, and its uses follow",
            """\
from jax import tree_leaves, vmap  # finding


def count(tree):
    return sum(leaf.size for leaf in tree_leaves(tree))


counts = vmap(count)
""",
            """\
from jax import vmap
from jax.tree_util import tree_leaves


def count(tree):
    return sum(leaf.size for leaf in tree_leaves(tree))


counts = vmap(count)
""",
        ),
        Example(
            "a keyword that was renamed",
            """\
import jax.numpy as jnp


def relu6(x):
    return jnp.clip(x, a_min=0.0, a_max=6.0)  # finding
""",
            """\
import jax.numpy as jnp


def relu6(x):
    return jnp.clip(x, min=0.0, max=6.0)
""",
        ),
        Example(
            "a guarded import is left alone",
            """\
try:
    from jax import tree_map
except ImportError:
    from jax.tree_util import tree_map

doubled = tree_map(lambda x: 2 * x, {"a": 1})
""",
        ),
        Example(
            "a name of one's own is not JAX's",
            """\
import jax


class Model:
    def tree_map(self, f):
        return f(self)


def double(model):
    return model.tree_map(lambda m: m)
""",
        ),
    )

    def __init__(self) -> None:
        self._imports = ImportedNames()
        self._spelled = SpelledNames()
        self._callees: dict[ast.AST, str] = {}

    def on_name(self, event: NameEvent, report: Any) -> None:
        qualified, node = event.qualified, event.node
        if not qualified.startswith("jax."):
            return
        if not event.is_import and keyword_changes(qualified):
            self._callees[node] = qualified
        change = self._removed(qualified, report, is_import=event.is_import)
        if change is None or not self._spelled.is_written(event):
            return
        target = Target.of(report.target_jax)
        due, fix = self._imports.claim(event, report, change, target)
        if not due:
            return
        report(
            node,
            f"`{qualified}` was {change.kind} in jax {change.removed_in}: {advice(change, fix)}",
            reason=_reason(change, qualified, report.target_jax),
            fix=fix,
        )

    @staticmethod
    def _removed(qualified: str, report: Any, *, is_import: bool) -> ApiChange | None:
        """The row that makes `qualified` a mistake on the target."""
        change = lookup(qualified)
        if change is not None and change.form == "module" and not is_import:
            return None  # reported where something of the module is used, which may have a row of its own
        if change is None:
            change = lookup_module(qualified)
        if change is None or change.kind not in ("removed", "moved"):
            return None
        return change if Target.of(report.target_jax).lacks(change) else None

    def on_call(self, event: CallEvent, report: Any) -> None:
        node = event.node
        if not isinstance(node, ast.Call) or not node.keywords:
            return
        callee = self._callees.get(node.func)
        if callee is None:
            return
        target = Target.of(report.target_jax)
        given = [keyword.arg for keyword in node.keywords]
        changes = [one for one in keyword_changes(callee) if one.param in given and target.lacks(one)]
        changes.sort(key=lambda change: given.index(change.param))
        if not changes:
            return
        parameters = call_parameters(callee, changes, target)
        fix = None
        if parameters is not None:
            step = Step("change-call", report.path, report.span(node), parameters)
            fix = FixRequest(Safety.SAFE, f"Change the arguments of {callee}", (step,))
        names = ", ".join(f"`{change.param}`" for change in changes)
        since = max((change.removed_in or "" for change in changes), key=len)
        report(
            node,
            f"`{callee}` no longer takes {names} since jax {since}: {_keyword_advice(changes)}",
            reason=f"the call passes {names} by keyword; {target_text(report.target_jax)}",
            fix=fix,
        )


def _reason(change: ApiChange, qualified: str, specifier: str | None) -> str:
    parts = []
    if qualified != change.name:
        parts.append(f"it lies in `{change.name}`")
    if change.deprecated_in:
        parts.append(f"deprecated since jax {change.deprecated_in}")
    return "; ".join([*parts, target_text(specifier)])


def _keyword_advice(changes: list[ApiChange]) -> str:
    advice = []
    for change in changes:
        new = change.param_replacement
        if new in ("<positional>", "<first positional>"):
            advice.append(f"pass `{change.param}` by position")
        elif new and new.isidentifier():
            advice.append(f"use `{new}`")
        else:
            advice.append(change.note)
    return ", ".join(dict.fromkeys(part for part in advice if part))
