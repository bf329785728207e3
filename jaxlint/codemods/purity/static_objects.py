"""Objects that are static arguments: `jit` looks a compiled function up by the object, and the compiled
function keeps the attributes that it read at trace time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.mutation import Mutations
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, bodies, function_around, parameters
from jaxlint.codemods.purity.values import Cls, Inst, Unknown, leaves_of
from jaxlint.codemods.purity.writes_by_name import may_mention
from jaxlint.codemods.source.text_edits import shown_source

_DEPTH = 4  # of objects in attributes of objects
_CONSTRUCTORS = ("__init__", "__post_init__", "__new__", "setup")
_BY_NAME = ("setattr", "delattr", "vars", "object.__setattr__")


class StaticObjects:
    """The attributes of objects that a compiled function reads, and whether the program may set them after the first call."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self.mutations = Mutations(possible)

    def changing(
        self, function: FunctionNode, file: File, static: Set[str], traced: Mapping[ast.AST, File]
    ) -> Iterator[str]:
        """The attributes of the static parameters, and of objects in them, that `traced` functions read and that may change, in words.
        Those of the method's own object are left to who compiles it."""
        classes: set[Cls] = set()
        own: set[Cls] = set()
        for parameter in parameters(function):
            if parameter.arg not in static:
                continue
            if self._is_receiver(parameter, function, file):
                receiver = self.possible.classes.class_around(function, file)
                own |= set(self.possible.classes.heirs(receiver)) if receiver is not None else set()
                continue
            for value in leaves_of(self.possible.of_parameter(parameter, file)):
                if isinstance(value, Inst):
                    classes |= set(self.possible.classes.heirs(value.cls))
        own -= classes
        classes |= own
        reads = dict(_attributes_read(traced)) if classes else {}
        for _ in range(_DEPTH):
            found = {
                heir
                for node, other in reads.items()
                if self._may_be(node.value, other, classes)
                for value in leaves_of(self.possible.of(node, other))
                if isinstance(value, Inst)
                for heir in self.possible.classes.heirs(value.cls)
            }
            if found <= classes:
                break
            classes |= found
        classes -= own
        for node, other in reads.items():
            if self._may_be(node.value, other, classes):
                yield from self._attribute(node, other, classes)

    def set_by_name(self, cls: Cls, traced: Mapping[ast.AST, File]) -> Iterator[str]:
        """The attributes that `traced` methods read of their own object, of a class, and that may be set by name."""
        classes = set(self.possible.classes.heirs(cls))
        for node, other in _attributes_read(traced):
            if isinstance(node.value, ast.Name) and self._is_of_method(node.value, other):
                if self._may_be(node.value, other, classes):
                    yield from self._by_name(node, classes)

    def _is_of_method(self, node: ast.Name, file: File) -> bool:
        """Whether a name is the first parameter of a method around it, of nested functions too."""
        scope = file.names.scope_at(node).resolve(node.id)
        return scope is not None and node.id == first_parameter(scope.node)

    def _is_receiver(self, parameter: ast.arg, function: FunctionNode, file: File) -> bool:
        inside = self.possible.classes.class_around(function, file) is not None
        return inside and parameter is parameters(function)[0]

    def _attribute(self, node: ast.Attribute, file: File, classes: set[Cls]) -> Iterator[str]:
        read = f"reads `{shown_source(node)}`"
        if self.mutations.may_change_in_place(node, file):
            yield f"{read}, which may change in place"
        for name in (node.attr, "__class__"):
            for other, store in self.program.stores.get(name, ()):
                if not self._constructs(store, other) and self._may_be(store.value, other, classes, True):
                    yield f"{read}, which is set at {self.program.place(other, store)}"
        yield from self._by_name(node, classes)

    def _by_name(self, node: ast.Attribute, classes: set[Cls]) -> Iterator[str]:
        read = f"reads `{shown_source(node)}`"
        for name in _BY_NAME:
            for other, call in self.program.calls.get(name.rpartition(".")[2], ()):
                if not call.args or ast.unparse(call.func) != name or not may_mention(call, node.attr):
                    continue
                if not self._constructs(call, other) and self._may_be(call.args[0], other, classes, True):
                    yield f"{read}, which may be set at {self.program.place(other, call)} (`{shown_source(call)}`)"
        for other, mention in self._dictionaries():
            if not self._constructs(mention, other) and self._may_be(mention.value, other, classes, True):
                yield f"{read}, which may be set at {self.program.place(other, mention)} (`{shown_source(mention)}`)"

    def _dictionaries(self) -> list[tuple[File, ast.Attribute]]:
        """The places where the program reads `__dict__` of an object or calls `vars`."""
        found: list[tuple[File, ast.Attribute]] | None = self.program.memo.get("dictionaries of objects")
        if found is None:
            found = [
                (file, node)
                for file in self.program.files
                for node in ast.walk(file.tree)
                if isinstance(node, ast.Attribute) and node.attr == "__dict__"
            ]
            self.program.memo["dictionaries of objects"] = found
        return found

    def _constructs(self, node: ast.AST, file: File) -> bool:
        """Whether a place is in a constructor that sets an attribute of its own object."""
        method = function_around(node, file)
        given = node.args[0] if isinstance(node, ast.Call) else getattr(node, "value", None)
        return (
            getattr(method, "name", "") in _CONSTRUCTORS
            and isinstance(given, ast.Name)
            and given.id == first_parameter(method)
        )

    def _may_be(self, node: ast.expr, file: File, classes: Set[Cls], unknown: bool = False) -> bool:
        """Whether an expression may be an object of one of the classes; `unknown`: also one of an unknown class."""
        method = function_around(node, file)
        if isinstance(node, ast.Name) and method is not None and node.id == first_parameter(method):
            own = self.possible.classes.class_around(method, file)
            if own is not None:
                return any(heir in classes for heir in self.possible.classes.heirs(own))
        return any(
            (unknown and isinstance(value, Unknown)) or (isinstance(value, Inst) and value.cls in classes)
            for value in self.possible.of(node, file)
        )


def _attributes_read(functions: Mapping[ast.AST, File]) -> Iterator[tuple[ast.Attribute, File]]:
    for function, file in functions.items():
        assert isinstance(function, FUNCTIONS)
        for part in bodies(function):
            for node in ast.walk(part):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    yield node, file
