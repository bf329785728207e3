"""PRNG keys as parameter defaults."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.tables import KEY_MAKERS
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name


class KeyAsDefault(Rule):
    """A PRNG key is the default of a parameter.

    ## What it does
    Finds `def sample(n, key=jax.random.key(0))`. Only the first one in a file is reported.

    ## Why is this bad?
    Python evaluates the default once, when it defines the function, so every call without a key
    draws the same random numbers. It also initializes the JAX backend when the module is imported.

    ## Example
    ```python
    def sample(n, key=jax.random.key(0)):
        return jax.random.normal(key, (n,))
    ```

    ## Use instead
    ```python
    def sample(n, key):
        return jax.random.normal(key, (n,))
    ```

    ## Fix safety
    There is no automatic fix: every call must pass a key.

    ## When not to fix
    If all calls should draw the same numbers, as in examples, use `None` as the default and create
    the key inside. That is explicit, and does not initialize the backend at import.

    Reported as advice: functions that create, load or convert the initial state (`initialize`,
    `make_params`), demonstrations, functions whose key no call in the file leaves out, and
    all in a file of a project, where a sample with a fixed seed may be meant.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX306"
    name = "key-as-default"
    category = "random"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.told: dict[str, ast.AST] = {}  # by file: all of them are corrected in the same way

    @concerns(*KEY_MAKERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.frame.is_in_test():
            return
        inner: ast.AST = event.node
        for above in report.module.ancestors(event.node):
            if isinstance(above, ast.arguments):
                if not _is_advanced(inner, above, report.module.parents.get(above)):
                    if self.told.setdefault(report.path, event.node) is not event.node:
                        return
                    report(
                        event.node,
                        "a default PRNG key is created once, so calls without a key draw the same numbers; require one",
                        reason="Python evaluates defaults once, when it defines the function",
                        severity=None
                        if _is_called_without(report.module.parents.get(above), report.module)
                        else Severity.INFO,
                        shown=False,  # a sample drawn with a fixed seed may be meant
                    )
                return
            if isinstance(above, (ast.stmt, ast.Lambda)):
                return
            inner = above


_BEGINS = re.compile(
    r"^_*(init|make|build|create|setup|random_|download|load|convert|from_pretrained|demo|example|summar|tabulate|count_)|^_*reset"
)


def _begins(function: ast.AST | None) -> bool:
    """Whether a function creates the initial state of a program, which should be the same without a key:
    `initialize`, `make_params`.
    """
    return _BEGINS.search(getattr(function, "name", "")) is not None


def _is_called_without(function: ast.AST | None, module: Module) -> bool:
    """Whether a visible call draws without a key. If all callers pass one, or are unknown, the default may be intended."""
    name = getattr(function, "name", "")
    if function is None or not name or _begins(function):
        return False
    method = isinstance(module.parents.get(function), ast.ClassDef)  # other objects have methods of this name
    return any(
        (dotted(call.func) == f"self.{name}" if method else last_name(call.func) == name)
        and not any(_KEYS.search(word) for word in _words(call))
        for call in nodes_of(module.tree, ast.Call)
    )


def _words(call: ast.Call) -> list[str]:
    """The names in a call that may be its key."""
    return [
        *(keyword.arg or "**" for keyword in call.keywords),
        *(ast.unparse(argument).lower() for argument in call.args),
    ]


_KEYS = re.compile(r"(^|[_.])(rngs?|keys?|prng\w*|seeds?)\d*([_(\[]|$)|^\*\*")


def _is_advanced(default: ast.AST, arguments: ast.arguments, function: ast.AST | None) -> bool:
    """Whether a nested function splits the key at each call, so that it is the seed of a stream."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    names = {parameter.arg for parameter, value in pairs if value is default}
    return function is not None and any(
        not names.isdisjoint(part.names) for part in nodes_of(function, ast.Nonlocal)
    )
