"""Static arguments that are equal but not identical: `jit` looks compiled functions up by `==`, and confuses them.

`jit` distinguishes 1 from 1.0 as arguments, but not inside a tuple or a dataclass.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.host_numbers import HostNumbers
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.values import (
    NUMBER,
    Box,
    Cls,
    Inst,
    Made,
    Method,
    Unknown,
    Value,
    Values,
    leaves_of,
)

_DATACLASSES = ("dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass")
_TREES = ("flax.", "chex.dataclass", "equinox.", "typing.NamedTuple", "collections.namedtuple")
_TUPLES = ("typing.NamedTuple", "collections.namedtuple")
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_REPLACING = ("replace", "_replace", "_make")
_WIDE = frozenset({"float", "complex", "Any", "object", "Number", "Real", "T", "ArrayLike", "Scalar"})
_DEPTH = 6


class EqualStatics:
    """Whether `==` may hold between two values of a static parameter that differ in a value that is read."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self.numbers = HostNumbers(possible, Traced(possible))

    def problem(self, parameter: ast.arg, function: FunctionNode, file: File) -> str | None:
        """The possible values of the parameter, in words."""
        values = self.possible.of_parameter(parameter, file)
        for value in values:
            for cls in self.possible.classes.heirs(value.cls) if isinstance(value, Inst) else ():
                if self._is_equal_to_others(cls):
                    return f"a `{cls.node.name}`, whose `==` treats different values as equal"
        if any(isinstance(value, Box) and value.kind == "tuple" for value in values):
            if self._mixed(list(self._given(parameter, function, file))):
                return "a tuple of numbers of more than one type, whose `==` treats different values as equal"
        return None

    def in_trees(self, values: Values) -> Iterator[str]:
        """The static parts of these objects, as trees, whose `==` may hold for two that differ; in words."""
        waiting = {leaf.cls for leaf in leaves_of(values) if isinstance(leaf, Inst)}
        seen: set[Cls] = set()
        while waiting:
            cls = waiting.pop()
            if cls in seen:
                continue
            seen.add(cls)
            for name in sorted(self._attributes(cls)):
                held = leaves_of(self.possible.attribute(Inst(cls), name))
                for one in {leaf.cls for leaf in held if isinstance(leaf, Inst)}:
                    parts = [heir for heir in self.possible.classes.heirs(one) if not self._is_tree(heir)]
                    if any(map(self._is_equal_to_others, parts)):
                        yield (
                            f"JAX compares the `{name}` of each `{cls.node.name}` by its `==`, "
                            "which treats different values as equal"
                        )
                    waiting.add(one)

    def _attributes(self, cls: Cls) -> set[str]:
        """The fields of a class, and what its methods set."""
        return {
            *self.possible.fields(cls),
            *(
                node.attr
                for node in ast.walk(cls.node)
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
            ),
        }

    def _is_tree(self, cls: Cls) -> bool:
        """Whether JAX flattens the objects of a class, which it then does not compare."""
        names = (*self.possible.classes.decorators(cls), *self.possible.external_bases(cls))
        return self.possible.classes.member(cls, "tree_flatten") is not None or any(
            name.startswith(_TREES) or name.rpartition(".")[2].startswith("register_") for name in names
        )

    def _is_equal_to_others(self, cls: Cls) -> bool:
        """Whether objects of a class may be equal though they differ in something that is read."""
        if self.possible.classes.member(cls, "__eq__") is not None or self._leaves_out(cls):
            return True
        if not self._is_compared_by_fields(cls) or self._is_made_once(cls):
            return False
        return any(
            self._mixed(list(self._given_to_field(cls, name)), self._annotated(cls, name))
            for name in self.possible.fields(cls)
        )

    def _annotated(self, cls: Cls, name: str) -> set[str]:
        """The number types that the annotation of a field allows: an integer may stand for a float."""
        member = self.possible.classes.member(cls, name)
        statement = member[0].file.names.parents.get(member[1].node) if member is not None else None
        annotation = getattr(statement, "annotation", None)
        words = re.findall(r"\w+", ast.unparse(annotation)) if annotation is not None else ["Any"]
        if not _WIDE.isdisjoint(words):
            return {"?"}
        return {"int", "bool"}.intersection(words)

    def _is_dataclass(self, cls: Cls) -> bool:
        return any(name.startswith(_DATACLASSES) for name in self.possible.classes.decorators(cls))

    def _is_compared_by_fields(self, cls: Cls) -> bool:
        if self._is_dataclass(cls):
            return True
        return any(base.startswith(_TUPLES) for base in self.possible.external_bases(cls)) or any(
            self._is_compared_by_fields(base)
            for base in self.possible.classes.bases(cls)
            if isinstance(base, Cls)
        )

    def _leaves_out(self, cls: Cls) -> bool:
        """Whether the comparison of a dataclass omits some fields."""
        if not self._is_dataclass(cls):
            return False
        return any(
            keyword.arg == "compare" and getattr(keyword.value, "value", None) is False
            for statement in cls.node.body
            for call in ast.walk(statement)
            if isinstance(call, ast.Call)
            for keyword in call.keywords
        )

    # Singletons

    def _is_made_once(self, cls: Cls) -> bool:
        """Whether the program creates at most one object of a class per run."""
        made = [
            (file, call)
            for heir in self.possible.classes.heirs(cls)
            for file, call in self.program.calls.get(heir.node.name, ())
        ]
        copied = [
            one
            for name in _REPLACING
            for one in self.program.calls.get(name, ())
            if self._may_copy(one[1], one[0], cls)
        ]
        return len(made) < 2 and not copied and all(self._is_run_once(call, file) for file, call in made)

    def _may_copy(self, call: ast.Call, file: File, cls: Cls) -> bool:
        """Whether `replace` may be called on an object of a class."""
        holders = [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
        return any(
            isinstance(value, Unknown)
            or (isinstance(value, Inst | Cls) and cls in (value, getattr(value, "cls", None)))
            for one in holders
            for value in self.possible.of(one, file)
        )

    def _is_run_once(self, node: ast.AST, file: File, depth: int = 0) -> bool:
        """Whether a part of a program is evaluated at most once: in no loop, and in functions for which the same
        holds."""
        for above in file.names.ancestors(node):
            if isinstance(above, _LOOPS):
                return False
            if isinstance(above, FUNCTIONS):
                calls = self.possible.call_sites.calls_of(above, file)
                return len(calls) < 2 and all(
                    call is not None and depth < _DEPTH and self._is_run_once(call, other, depth + 1)
                    for call, _, other in calls
                )
        return True

    # Arguments

    def _given(
        self, parameter: ast.arg, function: FunctionNode, file: File
    ) -> Iterator[tuple[ast.expr, File] | None]:
        """The arguments for a parameter; None if they are not all visible."""
        for given, other in self.possible.call_sites.arguments_for(function, parameter, file):
            if given is not None:
                yield (given, other) if isinstance(given, ast.expr) else None
        if (default := default_of(function, parameter)) is not None:
            yield default, file

    def _given_to_field(self, cls: Cls, name: str) -> Iterator[tuple[ast.expr, File] | None]:
        """All values of a dataclass or named tuple field; None if they are not all visible."""
        if (member := self.possible.classes.member(cls, name)) is not None:
            place, binding = member
            default = getattr(place.file.names.parents.get(binding.node), "value", None)
            if isinstance(default, ast.expr):
                yield default, place.file
        index = self.possible.fields(cls).index(name)
        for heir in self.possible.classes.heirs(cls):
            for file, call in self.program.calls.get(heir.node.name, ()):
                yield from self._argument(call, name, index, file)
        for replacing in _REPLACING:
            for file, call in self.program.calls.get(replacing, ()):
                yield from self._argument(call, name, None, file)

    def _argument(
        self, call: ast.Call, name: str, index: int | None, file: File
    ) -> Iterator[tuple[ast.expr, File] | None]:
        if any(keyword.arg is None for keyword in call.keywords):
            yield None
        for keyword in call.keywords:
            if keyword.arg == name:
                yield keyword.value, file
        if index is not None and any(isinstance(one, ast.Starred) for one in call.args[: index + 1]):
            yield None
        elif index is not None and index < len(call.args):
            yield call.args[index], file

    def _mixed(self, given: list[tuple[ast.expr, File] | None], others: Set[str] = frozenset({"?"})) -> bool:
        """Whether the values for one thing may include numbers of more than one type, position by position in tuples.

        `others`: the types of the unknown ones, "?" for any.
        """
        if all(one is not None and isinstance(one[0], ast.Tuple) for one in given) and given:
            shown = [one for one in given if one is not None]
            rows = [
                [(part, file) for part in node.elts] for node, file in shown if isinstance(node, ast.Tuple)
            ]
            longest = max(len(row) for row in rows)
            return any(self._mixed([row[n] for row in rows if n < len(row)], others) for n in range(longest))
        kinds: set[str] = set()
        for one in given:
            kinds |= {"?"} if one is None else self._kinds(*one)
        if "?" in kinds:
            kinds = kinds - {"?"} | others
        return "?" in kinds or len(kinds) > 1

    def _kinds(self, node: ast.expr, file: File) -> set[str]:
        """The types of the numbers that an expression may be or contain: "?" for an unknown one."""
        values = self.possible.of(node, file)
        if not any(_may_be_number(value) for value in leaves_of(values)):
            return set()
        if isinstance(node, ast.Tuple):
            return {kind for part in node.elts for kind in self._kinds(part, file)}
        if any(isinstance(value, Box) for value in values):
            return (
                {"?"}
                if any(_may_be_number(value) and value != NUMBER for value in leaves_of(values))
                else set()
            )
        return set(self.numbers.number(node, file).kinds)


def _may_be_number(value: Value) -> bool:
    if isinstance(value, Made):
        return not value.name.startswith(known_functions.FROZEN)
    return value == NUMBER or isinstance(value, Unknown | Method)
