"""Static and donated arguments that the function does not have."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jaxlint.finding import FixRequest, Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import TransformEvent
from jaxlint.staging.values import (
    BoundMethod,
    Function,
    Instance,
    Partial,
    Transformed,
    Value,
    constant,
)
from jaxlint_rules._fixes import propose

_JITS = frozenset({"jit", "nnx.jit"})
# Transformations that keep the signature of their function.
_KEEPING = frozenset({"jit", "vmap", "grad", "value_and_grad", "jacobian", "checkpoint", "custom"})


class StaticArgumentMismatch(Rule):
    """A static or donated argument does not exist.

    ## What it does
    Compares `static_argnums`, `static_argnames`, `donate_argnums` and `donate_argnames` of `jax.jit` with the function's
    signature: names that are no parameter, positions beyond the last positional parameter, and parameters that are
    both static and donated.

    ## Why is this bad?
    `jax.jit` raises `ValueError`; older releases only warned, and traced what was meant to be static.

    ## Example
    ```python
    @partial(jax.jit, static_argnames="dept")
    def refine(x, depth): ...
    ```

    ## Use instead
    ```python
    @partial(jax.jit, static_argnames="depth")
    def refine(x, depth): ...
    ```
    Name keyword-only parameters in `static_argnames`. Positions of a bound method do not count `self`, those of a
    decorated method do. `partial(f, x)` no longer has the parameters that it fills by position.

    ## Fix safety
    A misspelt name that resembles one parameter alone becomes that parameter's. That is unsafe, since another may have been
    meant. Positions, and what is static and donated at once, have no automatic fix: what is meant is for the author to say.

    ## When not to fix
    Functions whose signature is not known, or takes `*args` or `**kwargs`, are not reported for what those may hold.

    ## References
    - [jax.jit](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX110"
    name = "static-argument-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "unsafe"
    examples = (
        Example(
            "names and positions that do not exist",
            """
from functools import partial
import jax

@partial(jax.jit, static_argnames=("dept",))  # finding
def refine(x, depth):
    return x * depth

def scale(x, factor, *, mode):
    return x * factor

first = jax.jit(scale, static_argnums=(1, 2))  # finding
second = jax.jit(partial(scale, 2.0), static_argnums=1)  # finding

class Model:
    def __init__(self):
        self.run = jax.jit(self._run, static_argnums=2)  # finding

    def _run(self, x, steps):
        return x * steps

    @partial(jax.jit, static_argnums=(0, 3))  # finding
    def call(self, x, train):
        return x
""",
        ),
        Example(
            "a misspelt name",
            """
from functools import partial
import jax

@partial(jax.jit, static_argnames=("dept", "mode"))  # finding
def refine(x, depth, mode):
    return x * depth
""",
            """
from functools import partial
import jax

@partial(jax.jit, static_argnames=("depth", "mode"))  # finding
def refine(x, depth, mode):
    return x * depth
""",
        ),
        Example(
            "static and donated at once",
            """
import jax

def update(state, batch, config):
    return state

step = jax.jit(update, static_argnums=(2,), donate_argnums=(0, 2))  # finding
other = jax.jit(update, static_argnames="state", donate_argnames=("state",))  # finding
""",
        ),
        Example(
            "parameters that exist, and signatures that are open",
            """
import functools
from functools import partial
import jax

@partial(jax.jit, static_argnums=-1, static_argnames="mode")
def scale(x, factor, mode="a"):
    return x

@partial(jax.jit, static_argnames="train")
def forward(x, **options):
    return x

@partial(jax.jit, static_argnums=4)
def many(*arrays):
    return arrays

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner

@partial(jax.jit, static_argnames="depth")
@logged
def refine(x, depth):
    return x

class Model:
    def __init__(self):
        self.run = jax.jit(self._run, static_argnums=1, donate_argnums=0)

    def _run(self, x, steps):
        return x * steps

    @partial(jax.jit, static_argnums=(0, 2))
    def call(self, x, train):
        return x

fixed = jax.jit(partial(scale, mode="b"), static_argnames="mode")
gradient = jax.jit(jax.grad(scale), static_argnums=(2,), donate_argnums=(0,))

def build(function, names):
    return jax.jit(function, static_argnames="anything"), jax.jit(scale, static_argnames=names)
""",
        ),
    )

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind not in _JITS or event.frame.catching:
            return
        options = {name: t.options[name] for name in _OPTIONS if name in t.options}
        if not options:
            return
        signature = signature_of(t.target, _decorators_below(event))
        if signature is None:
            return
        for name, value in options.items():
            entries = list(_entries(value))
            wrong = [text for entry in entries if (text := signature.objection(entry, t.label))]
            if wrong:
                place = _place(event, name)
                report(
                    place,
                    f"`{name}`: {'; '.join(wrong)}",
                    reason=f"{t.why.explain(report.module)}; its signature is `({signature})`",
                    fix=_corrected(place, entries, signature, report),
                )
                return
        self.check_overlap(event, options, signature, report)

    def check_overlap(
        self, event: TransformEvent, options: dict[str, Value], signature: Signature, report: Reporter
    ) -> None:
        """Parameters that are declared static and donated."""
        static: set[str] = set()
        donated: set[str] = set()
        for name, value in options.items():
            named = {signature.name_of(entry) for entry in _entries(value)}
            (static if name.startswith("static") else donated).update(named)
        both = sorted((static & donated) - {""})
        if both:
            label = event.transformed.label
            report(
                _place(event, next(name for name in options if name.startswith("donate"))),
                f"`{both[0]}` of `{label}` is declared static and donated, and cannot be both",
                reason=event.transformed.why.explain(report.module),
            )


_OPTIONS = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")


@dataclass(slots=True)
class Signature:
    """What `inspect.signature` would say of a jitted function."""

    positional: list[str]
    only_positional: set[str] = field(default_factory=set)
    keyword: list[str] = field(default_factory=list)  # keyword-only
    more: bool = False  # *args
    options: bool = False  # **kwargs

    def __str__(self) -> str:
        parts = [*self.positional]
        if self.more:
            parts.append("*args")
        elif self.keyword:
            parts.append("*")
        parts += self.keyword
        return ", ".join([*parts, *(["**kwargs"] if self.options else [])])

    def name_of(self, entry: int | str) -> str:
        if isinstance(entry, str):
            return entry
        return self.positional[entry] if -len(self.positional) <= entry < len(self.positional) else ""

    def objection(self, entry: int | str, label: str) -> str:
        """What is wrong with a position or a name, or ""."""
        if isinstance(entry, str):
            return self.objection_to_name(entry, label)
        count = len(self.positional)
        if self.more or -count <= entry < count:
            return ""
        text = f"`{label}` has no positional parameter {entry}; it has {count}, counted from 0"
        if self.keyword:
            text += f", and `{self.keyword[0]}` is keyword-only, which `static_argnames` can name"
        return text

    def close_to(self, name: str) -> str:
        """The parameter that a wrong name is likely to mean, else ""."""
        close = difflib.get_close_matches(name, [*self.positional, *self.keyword], 1, 0.7)
        return close[0] if close else ""

    def objection_to_name(self, name: str, label: str) -> str:
        if self.options or name in self.keyword:
            return ""
        if name in self.positional:
            return f"`{name}` of `{label}` is positional-only" if name in self.only_positional else ""
        close = self.close_to(name)
        hint = f"; did you mean `{close}`?" if close else ""
        return f"`{label}` has no parameter `{name}`{hint}"


def _corrected(
    place: ast.AST, entries: list[int | str], signature: Signature, report: Reporter
) -> FixRequest | None:
    """One misspelt name gets that of the parameter which it resembles."""
    wrong = [entry for entry in entries if signature.objection(entry, "")]
    if len(wrong) != 1 or not isinstance(wrong[0], str) or signature.options:
        return None
    close = signature.close_to(wrong[0])
    if not close or close in entries or close in signature.only_positional:
        return None
    message = f"Name the parameter `{close}`"
    return propose(report, place, "replace-string", message, safe=False, old=wrong[0], new=close)


def signature_of(target: Value, decorators: int = 0) -> Signature | None:
    """The signature that JAX sees; None when it is not known. `decorators`: how many of the function's are not ours."""
    if isinstance(target, Function):
        if target.wraps is not None:
            if "__signature__" in target.module.source.text:
                return None  # the decorator may say what its signature is
            return signature_of(target.wraps)
        if decorators > 0:
            return None  # a decorator that the analysis does not know may have changed it
        arguments = target.node.args
        return Signature(
            [a.arg for a in [*arguments.posonlyargs, *arguments.args]],
            {a.arg for a in arguments.posonlyargs},
            [a.arg for a in arguments.kwonlyargs],
            arguments.vararg is not None,
            arguments.kwarg is not None,
        )
    if isinstance(target, BoundMethod):
        return _without_first(signature_of(target.function, decorators), 1)
    if isinstance(target, Partial):
        inner = _without_first(signature_of(target.function, decorators), len(target.args))
        return inner if inner is None or "**" in target.kwargs else _filled(inner, target.kwargs)
    if isinstance(target, Transformed) and target.kind in _KEEPING:
        return signature_of(target.target, decorators - 1)
    if isinstance(target, Instance):
        call = target.cls.lookup("__call__")
        return _without_first(signature_of(call), 1) if isinstance(call, Function) else None
    return None


def _without_first(signature: Signature | None, count: int) -> Signature | None:
    if signature is not None:
        if count > len(signature.positional):
            return None
        signature.positional = signature.positional[count:]
    return signature


def _filled(signature: Signature, names: Iterable[str]) -> Signature:
    """`partial(f, b=2)`: from `b` on, parameters are keyword-only."""
    for name in names:
        if name in signature.positional:
            cut = signature.positional.index(name)
            signature.keyword = [*signature.positional[cut:], *signature.keyword]
            signature.positional = signature.positional[:cut]
    return signature


def _decorators_below(event: TransformEvent) -> int:
    """How many decorators stand between the function and what is jitted."""
    target: Value = event.transformed.target
    while isinstance(target, (Transformed, Partial, BoundMethod)):
        target = target.function if isinstance(target, (Partial, BoundMethod)) else target.target
    if not isinstance(target, Function) or isinstance(target.node, ast.Lambda):
        return 0
    decorators = target.node.decorator_list
    if event.decorator is not None and event.decorator in decorators:
        decorators = decorators[decorators.index(event.decorator) + 1 :]
    return len([d for d in decorators if ast.unparse(d) not in ("staticmethod", "classmethod")])


def _entries(value: Value) -> Iterator[int | str]:
    const = constant(value)
    for entry in const if isinstance(const, tuple) else (const,):
        if isinstance(entry, str) or (isinstance(entry, int) and not isinstance(entry, bool)):
            yield entry


def _place(event: TransformEvent, option: str) -> ast.AST:
    """Where the option is written, if it is written at this very place."""
    call = event.decorator if event.decorator is not None else event.node
    if isinstance(call, ast.Call):
        for keyword in call.keywords:
            if keyword.arg == option:
                return keyword.value
    return call
