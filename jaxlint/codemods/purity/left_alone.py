"""NumPy arrays that the program never writes to, whoever holds them: a compiled function may keep the values of such an array.

Each array is followed over all that may refer to it (`array_aliases.py`). It is left alone if no statement sets its items, no method or
function of NumPy writes into it, and no unknown code receives it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.array_aliases import Aliases
from jaxlint.codemods.purity.lent_buffers import aliases_of, changed_in_place
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, Program
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMPY,
    Cls,
    Ext,
    Fn,
    Made,
    Method,
    Unknown,
    Value,
    Wrapped,
    leaves_of,
)

_GENERATORS = ("numpy.random.", "random.Random")  # whose `shuffle` counts as a write
_OTHERS = frozenset({"print", "getattr", "isinstance"})


def is_left_alone(attribute: ast.Attribute, program: Program) -> bool:
    """Whether the NumPy arrays in an attribute are known and nothing writes to them, in the program as its author wrote it."""
    memo = program.written.memo
    if "left alone" not in memo:
        memo["left alone"] = LeftAlone(PossibleValues(program.written))
    found: LeftAlone = memo["left alone"]
    return found.is_attribute(attribute.attr)


class LeftAlone:
    """The arrays of a program that something may write to. `possible` has no arguments of a run."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self.aliases: Aliases = aliases_of(possible)
        self._written: set[int] | None = None
        self._by_attribute: dict[str, bool] = {}

    def is_attribute(self, name: str) -> bool:
        """Whether the arrays in all attributes of a name are known, and nothing writes to them."""
        if name not in self._by_attribute:
            arrays = self.aliases.in_attribute(name)
            known = bool(arrays) and not any(
                self._is_unknown(store, file) for file, store in self._stores(name)
            )
            self._by_attribute[name] = known and not arrays & self.written
        return self._by_attribute[name]

    def _stores(self, name: str) -> Iterable[tuple[File, ast.Attribute]]:
        return self.program.stores.get(name, ())

    def _is_unknown(self, store: ast.Attribute, file: File) -> bool:
        """Whether a statement puts something into an attribute that is not known."""
        statement = file.names.parents.get(store)
        while isinstance(statement, ast.Tuple | ast.List):
            statement = file.names.parents.get(statement)
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            return True
        values = leaves_of(self.possible.of(store, file))
        return not values or any(isinstance(one, Unknown) for one in values)

    @property
    def written(self) -> set[int]:
        """The arrays that may change after they are made."""
        if self._written is None:
            self._written = set(self.aliases.bytes)
            for target, _, file, _ in changed_in_place(self.possible):
                self._written |= self.aliases.of(target, file)
            for given, file in self._handed_out():
                self._written |= self.aliases.of(given, file)
        return self._written

    def _handed_out(self) -> Iterator[tuple[ast.expr, File]]:
        """What the program gives to code that is not known."""
        for file in self.program.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.Call):
                    if self._is_known(node, file):
                        continue
                    given = [*node.args, *(one.value for one in node.keywords)]
                    if isinstance(node.func, ast.Attribute):
                        given.append(node.func.value)
                    yield from ((one.value if isinstance(one, ast.Starred) else one, file) for one in given)
                elif isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) and node.value is not None:
                    yield node.value, file

    def _is_known(self, call: ast.Call, file: File) -> bool:
        """Whether what a call calls is code of the program, or computes something new of its arguments."""
        callees = self.possible.of(call.func, file)
        return bool(callees) and all(map(self._is_known_function, callees))

    def _is_known_function(self, callee: Value) -> bool:
        if isinstance(callee, Fn | Cls):
            return True
        if isinstance(callee, Ext):
            name = callee.name
            return name in known_functions.BUILTINS | _OTHERS or known_functions.computes(name)
        if isinstance(callee, Wrapped):
            return callee.how in known_functions.TRANSFORMS and all(
                map(self._is_known_function, callee.inner)
            )
        if isinstance(callee, Method):
            receiver = callee.receiver
            if isinstance(receiver, Made):
                return receiver.name.startswith((*_GENERATORS, *known_functions.FROZEN))
            return receiver in (ARRAY, NUMPY)
        return False
