"""The arguments of a function on all paths: a jitted one accepts arrays, numbers, trees of these, and hashable static
values.

A run shows the calls that it made. Behind a flag, a call may pass a string in place of an array, or a list in place
of a tuple.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from jaxlint.codemods.purity.equal_statics import EqualStatics
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, parameters
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Fn,
    Inst,
    Made,
    Value,
    Values,
    Wrapped,
    leaves_of,
)

# Decorators and bases that do not make a class a pytree.
_NO_TREES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol", "dataclasses.dataclass", "functools.total_ordering", "typing.final", "typing.runtime_checkable"})  # fmt: skip
_REGISTERING = ("register_pytree_node", "register_pytree_with_keys", "register_dataclass", "register_static", "register_pytree_node_class", "register_pytree_with_keys_class", "register")  # fmt: skip
# Modules of Python whose objects are no pytrees.
_OBJECTS_OF = frozenset({"argparse", "optparse", "configparser", "logging", "pathlib", "io", "re", "threading", "queue", "subprocess", "csv", "datetime", "decimal", "fractions"})  # fmt: skip
_DEPTH = 8
_UNHASHABLE = frozenset({"list", "dict", "set"})


class JitArguments:
    """Whether `jit` accepts the arguments of every call."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.statics = possible, EqualStatics(possible)

    def problems(
        self, function: FunctionNode, file: File, static: Set[str], *, filtered: bool = False
    ) -> Iterator[str]:
        """Arguments that `jit` rejects, in words. `filtered`: arguments that are not arrays are static, as in
        equinox."""
        for parameter in parameters(function):
            values = self.possible.of_parameter(parameter, file)
            name = parameter.arg
            if name in static and not filtered:
                what = self._not_static(values)
                if what is not None:
                    yield f"`{name}` may be {what}"
                if (what := self.statics.problem(parameter, function, file)) is not None:
                    yield f"`{name}` may be {what}: a compiled function would confuse them"
            elif values - {TEXT, TYPE} and (what := _not_traced(values, filtered)) is not None:
                yield f"`{name}` may be {what}, which `jax.jit` rejects as an argument"
            elif not filtered and not self._is_own(parameter, function, file):
                if (cls := self._no_tree(values)) is not None:
                    yield f"`{name}` may be a `{cls}`, which is not a pytree: `jax.jit` rejects it as an argument"

    def _is_own(self, parameter: ast.arg, function: FunctionNode, file: File) -> bool:
        """Whether a parameter is the receiver of a method."""
        return (
            self.possible.classes.class_around(function, file) is not None
            and parameter is parameters(function)[0]
        )

    def _no_tree(self, values: Values) -> str | None:
        """An argument's program class whose objects JAX does not flatten."""
        found = (one for one in leaves_of(values) if isinstance(one, Inst) and self.is_no_tree(one))
        return next((one.cls.node.name for one in found), None)

    def is_no_tree(self, value: Value) -> bool:
        """Whether a value is an object of the program that JAX does not flatten."""
        return isinstance(value, Inst) and not self._may_be_tree(value.cls)

    def _may_be_tree(self, cls: Cls, depth: int = 0) -> bool:
        """Whether a class may be registered: by a decorator, a base, or any registration call."""
        if any(call in self.possible.program.calls for call in _REGISTERING) or cls.node.keywords:
            return True
        if any(name not in _NO_TREES for name in self.possible.classes.decorators(cls)):
            return True
        return any(
            self._may_be_tree(base, depth + 1)
            if isinstance(base, Cls) and depth < _DEPTH
            else getattr(base, "name", "") not in _NO_TREES
            for base in self.possible.classes.bases(cls)
        )

    def _not_static(self, values: Values) -> str | None:
        for value in values:
            if value in (ARRAY, NUMPY):
                return "an array, which is unhashable and cannot be static"
            if isinstance(value, Box) and value.kind in _UNHASHABLE:
                return f"a {value.kind}, which is unhashable and cannot be static"
            if isinstance(value, Box) and (what := self._not_static(value.parts())) is not None:
                return what
        return None


def _not_traced(values: Values, filtered: bool) -> str | None:
    for value in values:
        if isinstance(value, Box):
            if value.kind in ("generator", "iterator") or (value.kind == "set" and not filtered):
                return f"{'an' if value.kind == 'iterator' else 'a'} {value.kind}"
            if (what := _not_traced(value.parts(), filtered)) is not None:
                return what
        elif not filtered and (what := _of_no_array(value)) is not None:
            return what
    return None


def _of_no_array(value: Value) -> str | None:
    if value == TEXT:
        return "a string, or hold one"
    if value == TYPE:
        return "a class or dtype, or hold one"
    if isinstance(value, Made) and value.name.partition(".")[0] in _OBJECTS_OF:
        return f"an object of `{value.name}`"
    return "a function, or hold one" if isinstance(value, Fn | Cls | Wrapped) else None
