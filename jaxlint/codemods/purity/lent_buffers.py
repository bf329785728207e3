"""NumPy buffers that a program changes in place while JAX may still read them.

JAX reads an argument when its computation runs, in another thread. Eager operations are short and run at
once. A compiled function waits in a queue, so it may see later writes of the program. If the program waits
for a result before it writes, that wait must stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.array_aliases import Aliases
from jaxlint.codemods.purity.buffer_order import Order
from jaxlint.codemods.purity.call_sites import steps_of
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, NUMPY, Fn, Unknown, leaves_of
from jaxlint.codemods.source.text_edits import shown_source

_WRITERS = frozenset({"copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal"})
_INTO = frozenset({"readinto", "readinto1", "recv_into", "recvfrom_into", "shuffle", "pack_into"})
_OWN = frozenset({"fill", "sort", "partition", "put", "itemset", "resize", "setfield", "__setitem__"})
_LIBRARIES = ("jax.", "optax.", "flax.", "equinox.", "haiku.", "chex.", "distrax.", "rlax.", "orbax.")
_MEMORY = ("bytearray", "memoryview", "memmap", "mmap", "SharedMemory")
_SHAPES = frozenset({"shape", "ndim", "size", "zeros_like", "ones_like", "full_like", "empty_like", "result_type"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lent:
    """`node` is the code that passes a buffer to JAX, or that writes into it."""

    node: ast.AST
    file: File
    array: int  # as in `Aliases`


class LentBuffers:
    """The reads and the writes of a program's buffers. `possible` has no arguments of a run."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program

    def changing(self, inside: Set[ast.AST] | None = None) -> Iterator[str]:
        """Buffers that the program changes without having waited for JAX, in words.

        `inside`: a loop that would no longer wait. Buffers that it passes to JAX or changes count, with or
        without a wait.
        """
        for read, write in self._pairs():
            order = Order(self.possible, self._aliases().made[write.array], inside)
            if order.changes_after(read.node, read.file, write.node, write.file):
                place = self.program.place(write.file, write.node)
                given = self.program.place(read.file, read.node)
                yield (
                    f"`{shown_source(write.node)}` at {place} changes a NumPy buffer while JAX may still read it, "
                    f"passed by `{shown_source(read.node)}` at {given}; pass a copy"
                )
                return

    def _pairs(self) -> list[tuple[Lent, Lent]]:
        found: list[tuple[Lent, Lent]] | None = self.program.memo.get("lent buffers")
        if found is None:
            writes = self._writes() if self._is_possible() else []
            arrays = {one.array for one in writes}
            reads = self._reads(arrays) if arrays else []
            found = [(read, write) for write in writes for read in reads if read.array == write.array]
            self.program.memo["lent buffers"] = found
        return found

    def _aliases(self) -> Aliases:
        return aliases_of(self.possible)

    # Writes

    def _is_possible(self) -> bool:
        """Whether some code changes a NumPy array, or has bytes that may back one; most programs have neither."""
        return any(map(self.program.calls.get, _MEMORY)) or any(
            certain for _, _, _, certain in changed_in_place(self.possible)
        )

    def _writes(self) -> list[Lent]:
        aliases, found = self._aliases(), []
        for target, node, file, certain in changed_in_place(self.possible):
            sliced = isinstance(node, ast.Subscript) and any(
                isinstance(part, ast.Slice | ast.Tuple) for part in ast.walk(node.slice)
            )  # neither a list nor a dict is set this way
            for array in sorted(aliases.of(target, file)):
                if certain or sliced or array in aliases.bytes:
                    found.append(Lent(_statement(node, file), file, array))
        return found

    # Reads

    def _reads(self, arrays: Set[int]) -> list[Lent]:
        found = []
        for file in self.program.files:
            for node in ast.walk(file.tree):
                for given in self._given_to_jax(node, file):
                    values = leaves_of(self.possible.of(given, file))
                    if NUMPY in values or any(isinstance(one, Unknown) for one in values):
                        own = self._aliases().of(given, file) & arrays
                        found += [Lent(node, file, array) for array in sorted(own)]
        return found

    def _given_to_jax(self, node: ast.AST, file: File) -> list[ast.expr]:
        if isinstance(node, ast.BinOp | ast.Compare):
            both = [node.left, *([node.right] if isinstance(node, ast.BinOp) else node.comparators)]
            values = [leaves_of(self.possible.of(one, file)) for one in both]
            beside = any(ARRAY in one for one in values)
            return [
                one
                for one, own in zip(both, values, strict=True)
                if beside and (NUMPY in own or any(isinstance(each, Unknown) for each in own))
            ]
        if not isinstance(node, ast.Call):
            return []
        arguments = [*node.args, *(one.value for one in node.keywords)]
        name = self.possible.name_of(node.func, file)
        if (name == "map" or name.startswith("jax.tree")) and len(arguments) > 1:
            first = self.possible.name_of(arguments[0], file)
            return arguments[1:] if first.startswith(("jax.numpy.", "jax.device_put")) else []
        if name.startswith(_LIBRARIES):
            return [] if name.rpartition(".")[2] in _SHAPES or name.startswith("jax.tree") else arguments
        if isinstance(node.func, ast.Attribute) and ARRAY in self.possible.of(node.func.value, file):
            return arguments
        callees = self.possible.of(node.func, file)
        return arguments if any(isinstance(one, Fn) and self._is_compiled(one) for one in callees) else []

    def _is_compiled(self, function: Fn) -> bool:
        decorators = getattr(function.node, "decorator_list", ())
        names = [
            self.possible.name_of(part, function.file)
            for one in decorators
            for part in ast.walk(one)
            if isinstance(part, ast.Name | ast.Attribute)
        ]
        for _, how, _ in self.possible.call_sites.calls_of(function.node, function.file):
            names += steps_of(how)
        return any(name in known_functions.STAGING for name in names)


def changed_in_place(possible: PossibleValues) -> Iterator[tuple[ast.expr, ast.AST, File, bool]]:
    """The objects that code may change in place: the object, the code, and whether it is certainly a NumPy array."""
    for file in possible.program.files:
        for node in ast.walk(file.tree):
            for target in _targets(node, file, possible):
                values = possible.of(target, file)
                if NUMPY in values:
                    yield target, node, file, True
                elif isinstance(node, ast.Call) or (
                    isinstance(node, ast.Subscript) and any(isinstance(one, Unknown) for one in values)
                ):
                    yield target, node, file, False


def _targets(node: ast.AST, file: File, possible: PossibleValues) -> Iterator[ast.expr]:
    """The objects that a node may change in place."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Subscript):
        yield _loaded(node.target, file)
    elif isinstance(node, ast.Call):
        yield from (one.value for one in node.keywords if one.arg in ("out", "buffer_out"))
        name = possible.name_of(node.func, file)
        last = name.rpartition(".")[2] or getattr(node.func, "attr", "")
        if node.args and (last in _INTO or (name.startswith("numpy.") and last in _WRITERS)):
            yield node.args[0]
        elif isinstance(node.func, ast.Attribute) and last in _OWN | {"write"}:
            if not name or last == "write":
                yield node.func.value
        elif name.startswith("numpy.") and len(node.args) == 3:
            yield node.args[2]


def aliases_of(possible: PossibleValues) -> Aliases:
    """The aliases of a program's arrays, found once. `possible` has no arguments of a run."""
    memo = possible.program.memo
    found: Aliases | None = memo.get("aliases of arrays")
    if found is None:
        memo["aliases of arrays"] = found = Aliases(possible)
    return found


def _loaded(target: ast.expr, file: File) -> ast.expr:
    """The target of `x += 1` as an expression that reads it."""
    if not isinstance(target, ast.Name):
        return target
    read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    file.names.parents.setdefault(read, file.names.parents.get(target, file.tree))
    return read


def _statement(node: ast.AST, file: File) -> ast.AST:
    """The statement that sets an item, or the call that writes."""
    if isinstance(node, ast.Call):
        return node
    around = (one for one in (node, *file.names.ancestors(node)) if isinstance(one, ast.stmt))
    return next(around, node)
