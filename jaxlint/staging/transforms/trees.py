"""Implicit calls when JAX flattens and unflattens objects of the project: the registered functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ClassValue,
    Function,
    Instance,
    TupleValue,
    Value,
    find_array,
    parts_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import flattening, is_pytree, leaf_attributes, registration


class Trees(Part):
    """Evaluates flatten and unflatten functions."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)

    def subclassed(self, cls: ClassValue, options: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Evaluates a base class's hook for subclasses; some register the class as a pytree."""
        for base in cls.bases:
            hook = base.lookup("__init_subclass__") if isinstance(base, ClassValue) else None
            if isinstance(hook, Function):
                self.machine.staging.run_library_code(hook, Call([cls], options, node, frame))
                return

    def unflatten(self, classes: list[ClassValue], args: list[Value], node: ast.AST, frame: Frame) -> None:
        """JAX builds objects of tracers when a call enters a stage, and flattens them when it leaves."""
        for cls in {id(cls): cls for cls in classes}.values():
            flatten = flattening(cls)
            leaves = (leaf_attributes(flatten) if flatten is not None else None) or []
            assert frame.stage.why is not None
            leaf = Array(True, frame.stage.why, tree=True, certain=bool(leaves))
            self.put_together(
                cls, TupleValue([leaf] * len(leaves)) if leaves else TupleValue(None, leaf), node, frame
            )
            held = next((arg for arg in args if isinstance(arg, Instance) and arg.cls is cls), None)
            if held is not None:
                self.take_apart(held, node, frame)

    def take_results_apart(self, results: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """JAX flattens the objects that a stage returns."""
        if self.machine.registers:
            for value in results:
                for part in [value, *parts_of(value)]:
                    if isinstance(part, Instance) and is_pytree(part.cls):
                        self.take_apart(part, node, frame)

    def put_together(self, cls: ClassValue, children: Value, node: ast.AST, frame: Frame) -> None:
        method = cls.lookup("tree_unflatten")
        if isinstance(method, Function):
            self.data_model.call_implicitly(method, Call([cls, UNKNOWN, children], {}, node, frame))
        elif (registered := registration(cls)) is not None:
            self.data_model.call_implicitly(registered.unflatten, Call([UNKNOWN, children], {}, node, frame))

    def take_apart(self, value: Instance, node: ast.AST, frame: Frame) -> None:
        registered = registration(value.cls)
        flatten = flattening(value.cls)
        for function in registered.flatten[:1] if registered is not None else [flatten]:
            if function is not None:
                self.data_model.call_implicitly(function, Call([value], {}, node, frame))

    def rebuilt(self, trees: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """`jax.tree.map` and the like flatten each object and build it again."""
        if not self.machine.registers:
            return
        for value in trees:
            for part in [value, *parts_of(value)]:
                if isinstance(part, Instance) and (registration(part.cls) or flattening(part.cls)):
                    self.take_apart(part, node, frame)
                    held = find_array(part) or part.staged
                    if held is not None:
                        self.put_together(part.cls, TupleValue(None, held), node, frame)
