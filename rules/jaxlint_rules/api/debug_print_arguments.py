"""`jax.debug.print` whose format string and arguments do not match."""

from __future__ import annotations

import ast
import string

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, External, constant, short_source
from jaxlint.finding import Severity

_OPTIONS = frozenset({"ordered", "partitioned", "skip_format_check", "_use_logging"})


class DebugPrintArguments(Rule):
    """The arguments of `jax.debug.print` do not match its format string.

    ## What it does
    Finds `jax.debug.print("loss", loss)`, whose format string has no `{}` for the value, format
    strings with places but no value, and a value in place of the format string.

    ## Why is this bad?
    `jax.debug.print` takes a format string, unlike `print`. It raises `ValueError` for an unused
    argument, `KeyError` or `IndexError` for a missing one, and `TypeError` if the first argument is
    an array.

    ## Example
    ```python
    jax.debug.print("loss", loss)
    ```

    ## Use instead
    ```python
    jax.debug.print("loss {}", loss)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises. Format strings built elsewhere are not reported.

    ## References
    - [jax.debug.print](https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html)
    """

    code = "JAX811"
    name = "debug-print-arguments"
    category = "api"
    severity = Severity.ERROR

    @concerns("jax.debug.print")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        call = event.node
        if event.name != "jax.debug.print" or not isinstance(event.callee, External) or event.is_caught():
            return
        if not isinstance(call, ast.Call) or not call.args or any(k.arg is None for k in call.keywords):
            return
        if any(isinstance(a, ast.Starred) for a in call.args) or "skip_format_check" in event.kwargs:
            return
        if isinstance(event.args[0], Array) and event.args[0].certain and not event.args[0].mixed:
            report(
                call,
                "`jax.debug.print` of a value raises TypeError; pass a format string first",
                reason='use `jax.debug.print("{}", value)`',
            )
            return
        text = constant(event.args[0])
        if not isinstance(text, str):
            return
        used = _places(text)
        if used is None:
            return
        positions, names = used
        given = len(call.args) - 1
        keywords = {k.arg for k in call.keywords if k.arg} - _OPTIONS
        missing = [f"{{{name}}}" for name in sorted(names - keywords)]
        missing += ["{}"] * (given < len(positions) and max(positions) >= given)
        unused = [(short_source(call.args[1 + i]), "{}") for i in range(given) if i not in positions]
        unused += [(name, f"{{{name}}}") for name in sorted(keywords - names)]
        if missing:
            error = "IndexError" if missing[0] == "{}" else "KeyError"
            report(
                call,
                f"`jax.debug.print` raises {error}: no argument for `{missing[0]}`; pass it",
                reason="the string is formatted with `str.format`",
            )
        elif unused:
            value, place = unused[0]
            report(
                call,
                f"`jax.debug.print` raises ValueError: its string does not use `{value}`; add `{place}`",
                reason="the first argument is a format string, and every other argument must be used",
            )


def _places(text: str) -> tuple[set[int], set[str]] | None:
    """The positions and names in a format string; None if it is not one."""
    positions: set[int] = set()
    names: set[str] = set()
    waiting = [text]
    counter = 0
    try:
        while waiting:
            for _, field, spec, _ in string.Formatter().parse(waiting.pop(0)):
                if field is None:
                    continue
                first = field.partition(".")[0].partition("[")[0]
                if not first:
                    positions.add(counter)
                    counter += 1
                elif first.isdigit():
                    positions.add(int(first))
                else:
                    names.add(first)
                if spec:
                    waiting.append(spec)
    except ValueError:
        return None
    return positions, names
