"""nonexistent-api: names under `jax` that no release ever had."""

from __future__ import annotations

import ast
import difflib
from importlib.metadata import PackageNotFoundError, version

from jaxlint.api import NameEvent, Reporter, Rule, concerns
from jaxlint.api.releases import NEWEST, VersionError, has_row, known_names, parse_range, parse_version
from jaxlint.api.tables import TRANSFORMS
from jaxlint.finding import Severity
from jaxlint_rules.migration._changed_names import SpelledNames, severity_of_name

# Modules in which people look for each other's functions.
_HOMES = (
    "jax",
    "jax.numpy",
    "jax.lax",
    "jax.nn",
    "jax.nn.initializers",
    "jax.random",
    "jax.tree",
    "jax.tree_util",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.stats",
    "jax.scipy.stats.norm",
    "jax.scipy.signal",
    "jax.scipy.optimize",
    "jax.sharding",
    "jax.debug",
    "jax.dtypes",
    "jax.experimental",
    "jax.experimental.pallas",
    "jax.flatten_util",
    "jax.profiler",
    "jax.ops",
)


def _is_unheard_of(qualified: str) -> bool:
    place = known_names.split(qualified) if qualified.startswith("jax.") else None
    if place is None:
        return False
    module, name, rest = place
    if name.startswith("_") or name == "*":
        return False
    if rest and f"{module}.{name}" in TRANSFORMS:
        return True  # possibly imported from a function
    names = known_names(module)
    if names.is_open or not names.there or name in names.there or name in names.gone:
        return False
    return not has_row(f"{module}.{name}")


class NonexistentApi(Rule):
    """A name is used that no JAX release has.

    ## What it does
    Resolves every name through the file's imports and looks it up among all public names of JAX
    since 0.2, by module. The names were read from the releases. Modules that create names at run
    time are not checked. Nothing is reported if the installed JAX or `target-jax` is newer than the
    releases that jaxlint knows.

    ## Why is this bad?
    The line raises `AttributeError` or `ImportError` when it runs. Such names come from NumPy or
    SciPy functions that JAX does not have, from misspellings, and from generated code.

    ## Example
    ```python
    import jax.numpy as jnp

    p = jnp.softmax(x)
    ```

    ## Use instead
    ```python
    import jax

    p = jax.nn.softmax(x)
    ```

    ## Fix safety
    There is no automatic fix: the suggested name is a guess.

    ## When not to fix
    Keep it if the program itself adds the name to the JAX module.

    ## References
    - [JAX: public API](https://docs.jax.dev/en/latest/jax.html)
    """

    code = "JAX903"
    name = "nonexistent-api"
    category = "migration"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._spelled = SpelledNames()
        self._own: dict[ast.AST, set[str]] = {}
        self._reported: set[ast.AST] = set()
        self._newer: bool | None = None

    @concerns(where=_is_unheard_of)
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        qualified, node = event.qualified, event.node
        place = known_names.split(qualified)
        if event.is_optional() or place is None or not self._spelled.is_written(event):
            return
        module, name, rest = place
        if f"{module}.{name}" in TRANSFORMS:
            self._imported_from_function(event, f"{module}.{name}", report)
            return
        if self._is_newer(report.target_jax) or name in self._assigned(event):
            return
        wrong = node
        for _ in range(rest.count(".") + bool(rest)):
            if isinstance(wrong, ast.Attribute):  # part of the rest may have been reported at the import
                wrong = wrong.value
        if isinstance(wrong, ast.Name) or wrong in self._reported:  # a bare name is reported at its import
            return
        self._reported.add(wrong)
        close = did_you_mean(module, name)
        report(
            wrong,
            f"`{module}.{name}` exists in no release of JAX"
            + (f"; did you mean `{close}`?" if close else ""),
            reason=f"the releases from {known_names.versions()[0]} to {NEWEST} were searched",
            severity=severity_of_name(event),
        )

    def _imported_from_function(self, event: NameEvent, function: str, report: Reporter) -> None:
        node = event.node
        if not event.is_import or not isinstance(node, ast.alias) or node in self._reported:
            return
        statement = event.frame.module.parents.get(node)
        if isinstance(statement, ast.ImportFrom) and f"{statement.module}.".startswith(f"{function}."):
            self._reported.add(node)
            report(
                node,
                f"`{function}` is a function, not a module; nothing can be imported from it",
                reason=f"it is a function in every release of jax from {known_names.versions()[0]} to {NEWEST}",
            )

    def _is_newer(self, specifier: str | None) -> bool:
        """Whether the program may run on a release newer than the table."""
        if self._newer is None:
            newest = parse_version(NEWEST)
            try:
                self._newer = parse_version(version("jax")) > newest
            except (PackageNotFoundError, VersionError):
                self._newer = False
            low = parse_range(specifier).low if specifier else None
            self._newer |= low is not None and low > newest
        return self._newer

    def _assigned(self, event: NameEvent) -> set[str]:
        """Attributes that the file sets on any object."""
        tree = event.frame.module.tree
        if tree not in self._own:
            own = self._own[tree] = set()
            for part in ast.walk(tree):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    own.add(part.attr)
                elif isinstance(part, ast.Call) and getattr(part.func, "id", "") == "setattr":
                    own.update(
                        a.value for a in part.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
                    )
        return self._own[tree]


def did_you_mean(module: str, name: str) -> str | None:
    """A public name similar to `module.name`: the same name in another module, or a similar spelling."""
    for home in _HOMES:
        if home != module and home in known_names and name in known_names(home).there:
            return f"{home}.{name}"
    best, score = None, 0.0
    for home in dict.fromkeys((module, *_HOMES)):
        if home not in known_names:
            continue
        own = home == module
        there = sorted(one for one in known_names(home).there if not one.startswith("_"))
        for close in difflib.get_close_matches(name, there, n=1, cutoff=0.75 if own else 0.85):
            likeness = difflib.SequenceMatcher(None, name, close).ratio() + 0.03 * own
            if likeness > score:
                best, score = f"{home}.{close}", likeness
    return best
