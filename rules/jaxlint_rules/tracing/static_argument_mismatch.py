"""Static, donated and mapped arguments that the function or call does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, WrongStatic, concerns
from jaxlint.api.tables import STATIC_JIT_KINDS
from jaxlint.api.values import (
    UNKNOWN,
    DictValue,
    Instance,
    ListValue,
    Transformed,
    TupleValue,
    Value,
    constant,
    is_none,
)
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._callables import vmap_called
from jaxlint_rules._fixes import propose
from jaxlint_rules._signatures import Signature, decorators_below, signature_of


class StaticArgumentMismatch(Rule):
    """A static or donated argument does not exist.

    ## What it does
    Compares `static_argnums`, `static_argnames`, `donate_argnums` and `donate_argnames` of
    `jax.jit` with the function's signature. It finds names that are not parameters, positions
    beyond the last positional parameter, and parameters that are both static and donated. It checks
    `nondiff_argnums` of `jax.custom_vjp` and `jax.custom_jvp` in the same way. It also compares
    `argnums` of `jax.grad`, `in_axes` of `jax.vmap`, `static_argnums` of `jax.checkpoint` and
    `nn.remat`, and `donate_argnums` of `jax.pmap` with the arguments that a call passes. An
    `in_axes` that is a dict is found as well: it has to be a number, or a tuple.

    ## Why is this bad?
    `jax.jit` raises `ValueError`. Older releases of JAX only warned, and traced the argument that
    was meant to be static.

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
    Use `static_argnames` for keyword-only parameters. Positions of a bound method do not count
    `self`; positions of a decorated method do. `partial(f, x)` no longer has the parameters that it
    fills by position.

    ## Fix safety
    Unsafe: a misspelt name that resembles exactly one parameter becomes that parameter's name, but
    another may have been meant. Positions, and parameters that are both static and donated, have no
    automatic fix.

    ## When not to fix
    Functions whose signature is unknown are not reported, nor names that `*args` or `**kwargs` may
    accept.

    ## References
    - [jax.jit](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX110"
    name = "static-argument-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "unsafe"

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if event.is_caught():
            return
        if t.api == "jax.vmap" and isinstance(t.options.get("in_axes"), DictValue):
            report(
                event.node,
                "`in_axes` is a dict, which raises TypeError; pass a tuple with an entry for each argument: `({...},)`",
                reason=f"{t.why.explain(report.module)}; `in_axes` is a number or a tuple of one entry for each argument",
            )
            return
        if not (t.kind in STATIC_JIT_KINDS or t.api in _CUSTOM):
            return
        names = _OPTIONS if t.kind in STATIC_JIT_KINDS else ("nondiff_argnums",)
        options = {name: t.options[name] for name in names if name in t.options}
        if not options:
            return
        signature = signature_of(t.target, decorators_below(t, event.decorator))
        if signature is None:
            return
        for name, value in options.items():
            entries = list(_entries(value))
            kind = str if name.endswith("argnames") else int
            mixed = next((entry for entry in entries if not isinstance(entry, kind)), None)
            if mixed is not None:
                wants = "names" if kind is str else "positions"
                other = name.replace(*(("names", "nums") if kind is str else ("nums", "names")))
                report(
                    _place(event, name),
                    f"`{name}` takes {wants}, and raises TypeError for {mixed!r}; use `{other}`",
                    reason=t.why.explain(report.module),
                )
                return
            wrong = signature.objections(entries, t.label)
            if wrong:
                place = _place(event, name)
                raises = " raises ValueError" if t.kind == "jit" else ""
                report(
                    place,
                    f"`{name}`{raises}: {'; '.join(wrong)}",
                    reason=f"{t.why.explain(report.module)}; its signature is `({signature})`",
                    cause=WrongStatic(t, frozenset(wrong)) if name.startswith("static") else None,
                    fix=_corrected(place, entries, signature, report),
                )
                return
        self.check_overlap(event, options, signature, report)

    @concerns(callees=("Transformed", "Instance"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        lifted = isinstance(event.callee, Instance)
        t = event.callee.cls.lookup("__call__") if isinstance(event.callee, Instance) else event.callee
        if not isinstance(t, Transformed) or event.is_caught() or event.is_guarded(convention=False):
            return
        if "**" in event.kwargs or not isinstance(event.node, ast.Call):
            return
        if any(isinstance(argument, ast.Starred) for argument in event.node.args):
            return
        if lifted:
            if t.api in _LIFTED_CHECKPOINTS:
                self.check_checkpoint(event, t, 1 + len(event.args), report)
        elif t.api in _GRADIENTS:
            numbers = constant(t.options["argnums"]) if "argnums" in t.options else 0
            wanted = [n for n in (numbers if isinstance(numbers, tuple) else (numbers,)) if type(n) is int]
            beyond = next((n for n in wanted if not -len(event.args) <= n < len(event.args)), None)
            if beyond is not None:
                report(
                    event.node,
                    f"`{t.api}` raises TypeError: it differentiates argument {beyond} (counted from 0), which is not passed by position",
                    reason=f"{t.why.explain(report.module)}; the call passes {len(event.args)} by position",
                )
        elif t.api in _CHECKPOINTS and t.target is not None:
            self.check_checkpoint(event, t, len(event.args), report)
        elif t.kind == "pmap":
            self.check_donated(event, t, report)
        mapped = vmap_called(event)
        if mapped is not None and not lifted:
            self.check_mapped(event, mapped, report)

    def check_mapped(self, event: CallEvent, t: Transformed, report: Reporter) -> None:
        """`in_axes` has an entry for each positional argument."""
        axes = t.options.get("in_axes")
        if not isinstance(axes, (TupleValue, ListValue)) or axes.items is None:
            return
        if len(axes.items) != len(event.args):
            report(
                event.node,
                f"`vmap` raises ValueError: `in_axes` has {_counted(len(axes.items), 'entr', 'y', 'ies')} "
                f"for {_counted(len(event.args), 'positional argument', '', 's')}",
                reason=f"{t.why.explain(report.module)}; `vmap` maps keyword arguments along axis 0",
            )
        elif not event.kwargs and "axis_size" not in t.options and all(map(is_none, axes.items)):
            report(
                event.node,
                "`vmap` raises ValueError: `in_axes` maps no argument; map one of them, or pass `axis_size`",
                reason=t.why.explain(report.module),
            )

    def check_checkpoint(self, event: CallEvent, t: Transformed, count: int, report: Reporter) -> None:
        """`jax.checkpoint` and `nn.remat` count positional arguments, the module included, and accept no names."""
        entries = [n for n in _entries(t.options.get("static_argnums", UNKNOWN)) if isinstance(n, int)]
        beyond = next((n for n in entries if n >= count or (n < -count and t.api in _CHECKPOINTS)), None)
        if beyond is not None:
            passed = ", ".join(f"`{name}`" for name in event.kwargs)
            own = ", with `self`" if t.api in _LIFTED_CHECKPOINTS else ""
            report(
                event.node,
                f"`{t.api}` raises ValueError: static argument {beyond} is not passed by position"
                + (f"; pass {passed} by position" if passed else ""),
                reason=f"{t.why.explain(report.module)}; `static_argnums` counts positional arguments from 0, and the call passes {count}{own}",
            )

    def check_donated(self, event: CallEvent, t: Transformed, report: Reporter) -> None:
        """`pmap` only donates positional arguments; `jit` also accepts names."""
        signature = signature_of(t.target)
        donated = list(_entries(t.options["donate_argnums"])) if "donate_argnums" in t.options else []
        if signature is None or not donated:
            return
        named = {signature.name_of(entry) for entry in donated}
        passed = [name for name in event.kwargs if name in named]
        if passed:
            report(
                event.node,
                f"`pmap` does not donate `{passed[0]}`, which is passed by keyword; pass it by position",
                reason=f"{t.why.explain(report.module)}; `donate_argnums` of `pmap` counts positional arguments",
                severity=Severity.WARNING,
            )

    def check_overlap(
        self, event: TransformEvent, options: dict[str, Value], signature: Signature, report: Reporter
    ) -> None:
        """Parameters that are declared both static and donated."""
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
                f"`{both[0]}` of `{label}` is both static and donated, which raises ValueError; remove one of the two",
                reason=event.transformed.why.explain(report.module),
            )


_CUSTOM = frozenset({"jax.custom_vjp", "jax.custom_jvp"})
_GRADIENTS = frozenset({"jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.hessian"})
_CHECKPOINTS = frozenset({"jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint"})
_LIFTED_CHECKPOINTS = frozenset({"nn.remat", "nn.checkpoint"})
_OPTIONS = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")


def _counted(count: int, stem: str, one: str, more: str) -> str:
    return f"{count} {stem}{one if count == 1 else more}"


def _corrected(
    place: ast.AST, entries: list[int | str], signature: Signature, report: Reporter
) -> FixRequest | None:
    """Replaces one misspelt name by the similar parameter name."""
    wrong = [entry for entry in entries if signature.objections([entry], "")]
    if len(wrong) != 1 or not isinstance(wrong[0], str) or signature.options:
        return None
    close = signature.close_to(wrong[0])
    if not close or close in entries or close in signature.only_positional:
        return None
    message = f"Rename to `{close}`"
    return propose(report, place, "replace-string", message, safe=False, old=wrong[0], new=close)


def _entries(value: Value) -> Iterator[int | str]:
    const = constant(value)
    for entry in const if isinstance(const, tuple) else (const,):
        if isinstance(entry, str) or (isinstance(entry, int) and not isinstance(entry, bool)):
            yield entry


def _place(event: TransformEvent, option: str) -> ast.AST:
    """The place of the option, if it is written at this very place."""
    call = event.decorator if event.decorator is not None else event.node
    if isinstance(call, ast.Call):
        for keyword in call.keywords:
            if keyword.arg == option:
                return keyword.value
    return call
