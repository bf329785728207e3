"""Function signatures as Python sees them, if they are certain."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxlint.api.values import BoundMethod, Function, Instance, Partial, StarArgument, Transformed, Value

# Transformations that keep the signature of their function.
_KEEPING = frozenset({"jit", "vmap", "grad", "value_and_grad", "jacobian", "checkpoint", "custom"})


@dataclass(slots=True)
class Signature:
    """The result of `inspect.signature` for a jitted function."""

    positional: list[str]
    only_positional: set[str] = field(default_factory=set)
    keyword: list[str] = field(default_factory=list)  # keyword-only
    more: bool = False  # *args
    options: bool = False  # **kwargs
    optional: set[str] = field(default_factory=set)  # with a default

    def __str__(self) -> str:
        parts = [*self.positional]
        if self.more:
            parts.append("*args")
        elif self.keyword:
            parts.append("*")
        parts += self.keyword
        return ", ".join([*parts, *(["**kwargs"] if self.options else [])])

    def objection_to_count(self, count: int) -> str:
        """Why the function cannot be called with only `count` positional arguments, or ""."""
        if count > len(self.positional) and not self.more:
            return f"accepts {_arguments(len(self.positional))}"
        missing = [name for name in self.positional[count:] if name not in self.optional]
        missing += [name for name in self.keyword if name not in self.optional]
        return f"requires `{missing[0]}`" if missing else ""

    def name_of(self, entry: int | str) -> str:
        if isinstance(entry, str):
            return entry
        return self.positional[entry] if -len(self.positional) <= entry < len(self.positional) else ""

    def objections(self, entries: Iterable[int | str], label: str) -> list[str]:
        """The errors in positions and names."""
        named = [self.objection_to_name(entry, label) for entry in entries if isinstance(entry, str)]
        count = len(self.positional)
        beyond = [
            str(entry)
            for entry in entries
            if not isinstance(entry, str) and not self.more and not -count <= entry < count
        ]
        if beyond:
            listed = f"{', '.join(beyond[:-1])} or {beyond[-1]}" if len(beyond) > 1 else beyond[0]
            text = f"`{label}` has no positional parameter {listed}"
            if self.keyword:
                text += "; use `static_argnames`"
            named.insert(0, text)
        return [text for text in named if text]

    def close_to(self, name: str) -> str:
        """The parameter that a misspelt name probably means, otherwise ""."""
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


def signature_of(target: Value, decorators: int = 0, called: bool = False) -> Signature | None:
    """The signature that JAX sees; None if unknown. `decorators`: how many of the function's decorators lie between.

    `called`: the signature for calls, whatever `functools.wraps` shows of another function.
    """
    if isinstance(target, Function):
        if target.wraps is not None and not called:
            if "__signature__" in target.module.source.text:
                return None  # the decorator may declare its signature
            return signature_of(target.wraps)
        if decorators > (target.wraps is not None):
            return None  # an unknown decorator may have changed it
        arguments = target.node.args
        return Signature(
            [a.arg for a in [*arguments.posonlyargs, *arguments.args]],
            {a.arg for a in arguments.posonlyargs},
            [a.arg for a in arguments.kwonlyargs],
            arguments.vararg is not None,
            arguments.kwarg is not None,
            set(target.defaults),
        )
    if isinstance(target, BoundMethod):
        return _without_first(signature_of(target.function, decorators, called), 1)
    if isinstance(target, Partial):
        if any(isinstance(value, StarArgument) for value in target.args):
            return None
        inner = _without_first(signature_of(target.function, decorators, called), len(target.args))
        if inner is None:
            return None
        filled = _filled(inner, [name for name in target.kwargs if name != "**"])
        if "**" in target.kwargs:  # its value may belong to any of them
            filled.optional.update(filled.positional, filled.keyword)
        return filled
    if isinstance(target, Transformed) and target.kind in _KEEPING:
        return signature_of(target.target, decorators - 1, called)
    if isinstance(target, Instance):
        call = target.cls.lookup("__call__")
        return _without_first(signature_of(call, called=called), 1) if isinstance(call, Function) else None
    return None


def decorators_below(t: Transformed, decorator: ast.AST | None) -> int:
    """The number of decorators between the function and `decorator`, if that is one."""
    target: Value = t.target
    while isinstance(target, (Transformed, Partial, BoundMethod)):
        target = target.function if isinstance(target, (Partial, BoundMethod)) else target.target
    if not isinstance(target, Function) or isinstance(target.node, ast.Lambda):
        return 0
    decorators = target.node.decorator_list
    if decorator in decorators:
        decorators = decorators[decorators.index(decorator) + 1 :]
    return len([d for d in decorators if ast.unparse(d) not in ("staticmethod", "classmethod")])


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


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
        signature.optional.add(name)
    return signature
