"""The normalised options of one `jax.jit` call: which arguments are static, which are donated."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.model import JitOptions

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
OPTION_NAMES = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")


def read_options(options: Mapping[str, Any]) -> JitOptions:
    """The user's keyword arguments of `jax.jit`, in one form."""
    return JitOptions(
        static_argnums=_numbers(options.get("static_argnums")),
        static_argnames=_names(options.get("static_argnames")),
        donate_argnums=_numbers(options.get("donate_argnums")),
        donate_argnames=_names(options.get("donate_argnames")),
        others={key: value for key, value in options.items() if key not in OPTION_NAMES},
    )


def read_mapped(
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    donate_argnums: Any = (),
    **_: Any,
) -> dict[str, Any]:
    """The other arguments of `jax.pmap`, as options of `jax.jit` with an additional one, "pmap"."""
    mapped = {"axis_name": axis_name, "in_axes": in_axes, "out_axes": out_axes}
    return {
        "static_argnums": static_broadcasted_argnums,
        "donate_argnums": donate_argnums,
        "pmap": mapped,
    }


def _numbers(value: int | Iterable[int] | None) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)


def _names(value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Names of the positional parameters of a jitted function, and its static arguments.

    As in `jax.jit`, numbers alone imply names and names alone imply numbers; if both are given neither is inferred.
    """

    names: tuple[str, ...] = ()
    static_numbers: frozenset[int] = frozenset()
    static_names: frozenset[str] = frozenset()
    variadic: str | None = None

    @classmethod
    def of(cls, function: Any, options: JitOptions) -> Parameters:
        """Reads them from the signature; a function without one has nameless positional parameters."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            parameters: list[inspect.Parameter] = []
        else:
            parameters = list(signature.parameters.values())
        names = tuple(p.name for p in parameters if p.kind in _POSITIONAL)
        variadic = next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
        static_names = frozenset(options.static_argnames)
        numbers = set(options.static_argnums)
        if static_names and not numbers:
            numbers = {index for index, name in enumerate(names) if name in static_names}
        elif numbers and not static_names:
            static_names = frozenset(names[n] for n in numbers if -len(names) <= n < len(names))
        if variadic is None:
            numbers = {n + len(names) if n < 0 else n for n in numbers}
        return cls(names, frozenset(numbers), static_names, variadic)

    def name(self, index: int) -> str:
        """The name of the positional argument `index`."""
        if index < len(self.names):
            return self.names[index]
        if self.variadic is not None:
            return f"{self.variadic}[{index - len(self.names)}]"
        return f"argument {index}"

    def is_static_position(self, index: int, count: int) -> bool:
        """Whether positional argument `index` of `count` is static; negative numbers count from the end."""
        return index in self.static_numbers or index - count in self.static_numbers
