"""Results of `jax.random.split` and `fold_in` that are discarded."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, dotted, name_loads
from jaxlint.finding import Severity
from jaxlint_rules._names import unpacked

_MAKERS = ("jax.random.split", "jax.random.fold_in")


class DiscardedSplit(Rule):
    """The new keys of `jax.random.split` or `fold_in` are discarded.

    ## What it does
    Finds `jax.random.split(key)` and `jax.random.fold_in(key, i)` as statements, and assignments of
    their result to names that nothing reads while the old key is used again.

    ## Why is this bad?
    PRNG keys are immutable values. `split` and `fold_in` return new keys and do not change their
    argument, so the next draw from the old key repeats its random numbers.

    ## Example
    ```python
    for i in range(10):
        jax.random.fold_in(key, i)
        x = x + jax.random.normal(key, x.shape)
    ```

    ## Use instead
    ```python
    for i in range(10):
        x = x + jax.random.normal(jax.random.fold_in(key, i), x.shape)
    ```

    ## Fix safety
    There is no automatic fix: it changes the random numbers that the program draws.

    ## When not to fix
    Keep a call that is only timed, or that is expected to fail.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX303"
    name = "discarded-split"
    category = "random"
    severity = Severity.WARNING

    @concerns(*_MAKERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in _MAKERS or not isinstance(event.node, ast.Call) or event.frame.module.is_test:
            return
        short = event.name.rpartition(".")[2]
        new = "a new key" if short == "fold_in" else "new keys"
        parent = report.module.parents.get(event.node)
        if isinstance(parent, ast.Expr):
            if isinstance(report.module.parents.get(parent), ast.Try) and event.is_caught():
                return  # asks whether the argument is a key
            report(
                event.node,
                f"the result of `jax.random.{short}` is discarded, so the PRNG key does not change; "
                f"use the {new.removeprefix('a ')}",
                reason=f"`jax.random.{short}` returns {new} and leaves its argument unchanged",
            )
            return
        function = event.frame.function
        if not isinstance(parent, ast.Assign) or function is None or len(parent.targets) != 1:
            return
        names = _names(parent.targets[0])
        key = event.node.args[0] if event.node.args else None
        if (
            not names
            or not isinstance(key, ast.Name)
            or key.id in names
            or isinstance(function.node, ast.Lambda)
        ):
            return
        reads = _last_reads(function.node)
        if "locals" in reads or any(name in reads for name in names):
            return
        if reads.get(key.id, 0) <= event.node.lineno:
            return
        reading = (part for part in name_loads(function.node) if part is not key)
        if any(part.id == key.id and part.lineno > event.node.lineno for part in reading):
            what = " and ".join(f"`{name}`" for name in names)
            report(
                event.node,
                f"{what} {'are' if len(names) > 1 else 'is'} never used, and PRNG key `{key.id}` is used again; "
                f"use the new key{'s' * (len(names) > 1)}",
                reason=f"`jax.random.{short}` returns {new} and leaves `{key.id}` unchanged",
            )


@cache
def _last_reads(function: ast.AST) -> dict[str, int]:
    """The names that a function reads, with the last line of each."""
    lines: dict[str, int] = {}
    for part in name_loads(function):
        lines[part.id] = max(part.lineno, lines.get(part.id, 0))
    return lines


def _names(target: ast.expr) -> list[str]:
    """The names of an assignment to plain names; empty for any other, or for `_`."""
    parts = unpacked(target)
    names = [dotted(part) for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) and any(name.strip("_") for name in names) else []
