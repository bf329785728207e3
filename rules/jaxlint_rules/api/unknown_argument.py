"""Calls of JAX's functions that their parameters do not fit."""

from __future__ import annotations

import ast
import difflib
import textwrap
from collections.abc import Sequence

from jaxlint.api import CallEvent, NameEvent, Reporter, Rule, concerns
from jaxlint.api.releases import call_change, keyword_changes, takes_by_keyword
from jaxlint.api.syntax import dotted
from jaxlint.api.tables import accepts, canonical
from jaxlint.api.values import Array, ExternalMethod
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose

# What other libraries call a parameter.
_ELSEWHERE = {
    "dim": "axis",
    "dims": "axis",
    "keepdim": "keepdims",
    "steps": "num",
    "size": "shape",
    "beta1": "b1",
    "beta2": "b2",
    "beta_1": "b1",
    "beta_2": "b2",
    "lr": "learning_rate",
}


# `sharding-argument` says how to pass what these no longer take by position.
_TOLD_ELSEWHERE = frozenset({"jax.shard_map"})


class UnknownArgument(Rule):
    """A function gets an argument it does not have, or lacks one that it requires.

    ## What it does
    Finds keywords that no release of JAX from 0.4.30 on accepts in that function, more positional
    arguments than it takes, and missing arguments that all these releases require. Functions and
    classes of optax, flax, equinox and haiku, methods of arrays and `partial(jax.jit, ...)` are
    checked too. What an earlier release accepted is reported by `changed-signature`.

    ## Why is this bad?
    The call raises `TypeError`, often only when the line is reached. Most are names of PyTorch or
    NumPy, or typing errors.

    ## Example
    ```python
    total = jnp.sum(x, dim=1, keepdim=True)
    ```

    ## Use instead
    ```python
    total = jnp.sum(x, axis=1, keepdims=True)
    ```

    ## Fix safety
    Safe for names that mean the same elsewhere: `dim`, `keepdim`, `steps`, `size`, `beta1`, `lr`.
    Unsafe for the most similar name. Missing arguments have no automatic fix.

    ## When not to fix
    Not needed if the program replaces the function.

    ## References
    - [jax.numpy](https://docs.jax.dev/en/latest/jax.numpy.html)
    """

    code = "JAX826"
    name = "unknown-argument"
    category = "api"
    severity = Severity.ERROR
    fixable = "partly safe"

    def __init__(self) -> None:
        self._callees: dict[ast.AST, str] = {}

    @concerns(where=lambda name: accepts(_own(name)) is not None)
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        """The name as the file spells it: `jax.experimental.shard_map.shard_map` took other arguments than `jax.shard_map`."""
        if not event.is_import and not event.is_optional():
            self._callees[event.node] = event.qualified

    @concerns(
        where=lambda name: name == "functools.partial" or accepts(name) is not None,
        callees=("ExternalMethod",),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node, given = event.node, event.args
        if not isinstance(node, ast.Call) or event.is_caught() or event.is_optional():
            return
        name = self._callees.get(node.func, "")
        if event.name == "functools.partial" and node.args:
            name, given = self._callees.get(node.args[0], ""), given[1:]
        elif isinstance(event.callee, ExternalMethod) and _is_array(event.callee):
            name = f"jax.Array.{event.callee.name}"
        taken = accepts(_own(name))
        if taken is None:
            return
        earlier = {change.param for change in keyword_changes(name)}
        wrong = [
            word.arg
            for word in node.keywords
            if word.arg and word.arg not in taken.names and word.arg not in earlier
        ]
        shown = name if event.name == "functools.partial" else dotted(node.func) or name.rpartition(".")[2]
        names = textwrap.shorten(", ".join(taken.names), 140, placeholder=" and others")
        parameters = f"its parameters are {names}" if names else "it takes no keywords"
        if wrong:
            meant = [_meant(word, taken.names[len(given) :], node) for word in wrong]
            known = all(meant) and len(set(meant)) == len(meant)
            advice = f"; use {_listed(meant, 'and')}" if known else ", so the call raises TypeError"
            report(
                node,
                f"`{shown}` takes no {_listed(wrong, 'or')}{advice}",
                reason=parameters,
                fix=_renamed(node, name, dict(zip(wrong, meant, strict=True)), report) if known else None,
            )
        elif len(given) > taken.count and name in _TOLD_ELSEWHERE:
            return
        elif len(given) > taken.count and not takes_by_keyword(name) and not _unpacks(node):
            report(
                node,
                f"`{shown}` takes at most {taken.count} arguments by position, and gets {len(given)}",
                reason=parameters,
            )
        elif (
            event.name != "functools.partial"
            and not _unpacks(node)
            and all(word.arg for word in node.keywords)
        ):
            absent = taken.missing(len(given), {word.arg or "" for word in node.keywords})
            if absent and call_change(name) is None:  # otherwise `changed-signature` knows the release
                report(
                    node,
                    f"`{shown}` lacks {_listed(absent, 'and')}, so the call raises TypeError",
                    reason=f"no supported release has a default for {'it' if len(absent) == 1 else 'them'}",
                )


def _listed(names: list[str], word: str) -> str:
    *most, last = [f"`{name}`" for name in names]
    return f"{', '.join(most)} {word} {last}" if most else last


def _own(name: str) -> str:
    """`jax.nn.softmax` for `flax.linen.softmax`; otherwise the name itself."""
    return canonical(name) if name.startswith("flax.") else name


def _is_array(method: ExternalMethod) -> bool:
    """Whether the receiver is the result of an array operation: an argument may be any object, and so may what it computes with one."""
    receiver = method.receiver
    return isinstance(receiver, Array) and receiver.made is not None and receiver.certain


def _meant(word: str, names: Sequence[str], node: ast.Call) -> str:
    """The one of `names` that a keyword stands for, and that the call does not pass; "" if none is similar."""
    free = [name for name in names if all(name != one.arg for one in node.keywords)]
    if _ELSEWHERE.get(word) in free:
        return _ELSEWHERE[word]
    return next(iter(difflib.get_close_matches(word, free, 1, 0.65)), "")


def _renamed(node: ast.Call, name: str, meant: dict[str, str], report: Reporter) -> FixRequest:
    safe = all(_ELSEWHERE.get(word) == new for word, new in meant.items())
    message = f"Use {_listed([*meant.values()], 'and')}"
    return propose(report, node, "change-call", message, safe=safe, callee=name, call={"rename": meant})


def _unpacks(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args)
