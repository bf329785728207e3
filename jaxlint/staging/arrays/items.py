"""Items of arrays, and objects that create arrays by indexing."""

from __future__ import annotations

import ast
import re

from jaxlint.jaxapi.names import canonical
from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.tracking.operations import Operations
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    External,
    ListValue,
    NumpyArray,
    Operation,
    Origin,
    Static,
    TupleValue,
    Value,
    constant,
    hashable,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame

# Objects that create arrays or indices by indexing.
_INDEXED = re.compile(r"(jax\.numpy|numpy)\.(r_|c_|mgrid|ogrid|s_|index_exp)")


class ArrayItems(Part):
    """Evaluates `array[index]`."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.conversions = machine.part(Conversions)
        self.operators = machine.part(Operators)
        self.operations = machine.part(Operations)

    def array_item(
        self, base: Array | AtIndexer | NumpyArray, index: Value, node: ast.Subscript, frame: Frame
    ) -> Value:
        """The value of `base[index]`; for `x.at[index]`, the object with the update methods."""
        if type(base) is NumpyArray:
            return self.numpy_item(base, index, node, frame)
        if type(base) is AtIndexer:
            for part in index.elements() if type(index) is TupleValue else (index,):
                self.access.check_slice(base.array, part, node, frame)
                if base.array.role != "ref":
                    self.check_mask(base.array, part, node, frame)
            return AtIndexer(base.array, indexed=True, index=index)
        assert isinstance(base, Array)
        return self.array_subscript(base, index, node, frame)

    def store_in_ref(self, base: Array, index: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """Records `ref[index] = value` in a kernel as an operation, whose operands may not fit."""
        stored = Array(True, certain=base.certain)
        self.operations.made_by(stored, "jax.ref.set", Call([base, index, value], {}, node, frame))

    def item_of_external(self, base: External, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """The item of a library object: an array for `jnp.mgrid[...]` and the like, otherwise a parametrised type."""
        maker = _INDEXED.fullmatch(canonical(base.name))
        return base if maker is None else self.indexed_maker(base, maker[1], maker[2], index, node, frame)

    def array_subscript(self, base: Array, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        const = constant(index)
        if isinstance(const, str):
            origin = base.origin.child(const) if base.origin else None
            return Array(
                base.staged,
                base.why,
                tree=True,
                certain=base.certain,
                origin=origin,
                role=base.role if base.role == "variables" else "",
                jitted=base.jitted,
                flow=base.flow,
            )
        parts = index.elements() if isinstance(index, TupleValue) else [index]
        for part in parts:
            self.access.check_slice(base, part, node, frame)
            self.check_mask(base, part, node, frame)
        if base.tree and base.role in ("", "variables") and not _is_of_arrays(node.slice):
            origin = None
            if base.origin is not None and const is not MISSING and hashable(const):
                origin = base.origin.child(const)
            return Array(
                base.staged,
                base.why,
                tree=True,
                certain=base.certain,
                origin=origin,
                jitted=base.jitted,
                flow=base.flow,
            )
        result = self.operators.array_result(frame, [base, *parts], node)
        self.operations.made_by(result, "getitem", Call([base, index], {}, node, frame))
        if base.role == "key":
            result.role = "key"
            constant_index = const is not MISSING and hashable(const)
            result.origin = base.origin.child(const) if base.origin and constant_index else Origin("key")
        return result

    def numpy_item(self, base: NumpyArray, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """Part of a NumPy array, which a tracer cannot index."""
        for part in index.elements() if type(index) is TupleValue else (index,):
            self.access.check_slice(base, part, node, frame)
            if type(part) is Array and part.staged and not part.tree:
                self.machine.emit("numpy", events.NumpyEvent(node, frame, part, "getitem"))
                return UNKNOWN
        self.conversions.read_index(index, node, frame)
        return NumpyArray(
            dtype=base.dtype,
            shares=base.shares and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice),
            made=Operation("getitem", (base, index), {}, node, 0, "jax.numpy.getitem"),
        )

    def indexed_maker(
        self, base: External, library: str, form: str, index: Value, node: ast.Subscript, frame: Frame
    ) -> Value:
        """The arrays that `jnp.mgrid[...]` and the like create."""
        if form in ("s_", "index_exp"):
            return Static()  # slices, or a tuple of them
        parts = index.elements() if type(index) is TupleValue else [index]
        if library == "numpy":
            return NumpyArray()
        made = self.operators.array_result(frame, list(parts), node, name=base.name)
        return ListValue(None, made) if form == "ogrid" else made

    def check_mask(self, base: Array, part: Value, node: ast.Subscript, frame: Frame) -> None:
        """Emits an event for a traced boolean mask in an index."""
        if type(part) is Array and part.staged and part.certain and "bool" in (part.role, part.dtype):
            self.machine.emit("index", events.IndexEvent(node, frame, base, part, "mask"))


def _is_of_arrays(index: ast.expr) -> bool:
    """`[:, None]`, `[..., 0]`: an index that only arrays accept, not other parts of a pytree."""
    return isinstance(index, ast.Tuple) and any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, Ellipsis))
        for part in index.elts
    )
