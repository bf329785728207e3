"""Protocols for calls from a layer to one above it.

The composition root (`staging/interpreter.py`) chooses the part that implements each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from jaxlint.staging.module import Module
from jaxlint.staging.values import (
    Array,
    AtIndexer,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    NumpyArray,
    Origin,
    Reading,
    Transformed,
    Unknown,
    Value,
)
from jaxlint.staging.values.buffers import ArgumentEffects, Held
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Stage, Why


class Language(Protocol):
    """Python itself: evaluation for any part."""

    def array_result(
        self,
        frame: Frame,
        inputs: list[Value],
        node: ast.AST,
        *,
        role: str = "",
        like: Value | None = None,
        name: str = "",
    ) -> Array:
        """The result of an array operation on `inputs`: a tracer if an input is one or the stage is abstract."""

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        """Binds a target to a value: a name, an attribute, an item, or each of several."""

    def binary(self, left: Value, right: Value, op: ast.operator, node: ast.AST, frame: Frame) -> Value:
        """The value of `left op right`."""

    def bind(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], frame: Frame | None
    ) -> dict[str, Value] | None:
        """Parameter values for a call, in the order of the parameters; None if the call cannot be right."""

    def call_builtin(self, name: str, call: Call) -> Value:
        """The result of the builtin `name`."""

    def call_function(self, function: Function, call: Call, stage: Stage, context: str = "call") -> Value:
        """Evaluates a project function on these arguments, in `stage`. Memoised by a summary of the arguments."""

    def call_value(self, callee: Value, call: Call) -> Value:
        """The result of calling `callee`."""

    def drain(self) -> None:
        """Evaluates functions that were defined or transformed meanwhile, until no new one appears."""

    def element_of(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """The value of each element when iterating over `value`."""

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression. `store`: it is an assignment target."""

    def exec_block(self, body: Sequence[ast.stmt], frame: Frame) -> bool:
        """Evaluates statements in order; False when control does not reach the end."""

    def external_object_attribute(
        self, base: ExternalObject, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        """The value of `base.name` for a library object."""

    def fill_container(self, instance: Instance, call: Call) -> None:
        """Fills an object whose class derives from a container."""

    def model_of(self, name: str) -> Value:
        """The model of a library class, evaluated on first use."""

    def opaque_call(self, inputs: list[Value], node: ast.AST, frame: Frame) -> Value:
        """The result of an unknown function that probably computes with its arguments."""

    def outlives_stage(self, scope: Any, frame: Frame) -> bool:
        """Whether `scope` belongs to a call outside the innermost trace that still runs or has left a closure."""

    def replace_fields(self, base: Value, kwargs: dict[str, Value]) -> Value:
        """`dataclasses.replace(base, **kwargs)` and similar functions."""

    def run_function(
        self,
        function: Function,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
        stage: Stage,
        context: str,
    ) -> Value:
        """Evaluates the body with parameters bound, or finds the memoised result."""

    def run_module(self, module: Module) -> None:
        """Evaluates a module's body once. An import cycle sees what is bound so far."""

    def trip_count(self, iterable: Value) -> int | None:
        """The number of iterations of a loop over `iterable`, if constant."""


class Tracking(Protocol):
    """Tracking beside the evaluation: keys, donated buffers, clocks, gradients, operations."""

    def before_call(self, node: ast.Call, callee: Value, call: Call) -> None:
        """Runs before a call: keyword arguments may contain keys."""

    def after_host_call(self, node: ast.Call, callee: Value, call: Call, result: Value) -> None:
        """Runs after a call on the host: it may be a host sync, and donated arguments are gone."""

    def bind_buffers(self, target: ast.expr, held: Held | None, frame: Frame) -> None:
        """`target` was bound to the buffers `held`, or to new ones."""

    def bind_together(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        """`a = b = f()`: both share their buffers."""

    def check_read(self, node: ast.Name, frame: Frame) -> None:
        """A name is read while some buffer is donated."""

    def differentiated(self, values: Iterable[Value]) -> Array | None:
        """The first array that carries a gradient outside any trace, as a tracer."""

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        """The time between two clock readings."""

    def forget_place(self, place: str, frame: Frame) -> None:
        """`place` is rebound: it and its parts now hold something else."""

    def pass_to_unknown(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """Something unknown receives these arguments: it may wait for arrays and call functions."""

    def note_given_back(self, node: ast.Return, value: Value, frame: Frame) -> None:
        """Records which parts of the result `value` are arguments of the function."""

    def argument_effects(self, frame: Frame) -> ArgumentEffects | None:
        """What the function of `frame` did to its parameters, for its callers."""

    def held(self, node: ast.expr, value: Value, frame: Frame) -> Held | None:
        """The buffers that a binding to `node` shares with other places; None if it is new."""

    def made_by(self, result: Array, name: str, call: Call) -> None:
        """Records in `result` the operation `name` (canonical, or an operator) and its operands, and emits an event."""

    def reading(self, node: ast.AST, frame: Frame, clock: str = "") -> Reading:
        """The clock reading at this point."""

    def tell_returned(self, result: Value, frame: Frame) -> None:
        """Emits an event for a key argument that is consumed and returned unchanged in a state."""

    def tell_unrenewed(self, function: Function, frame: Frame, bound: dict[str, Value]) -> None:
        """Emits an event for a key that a method consumes and leaves in its object."""

    def timed_body(self, spans: int, start: Reading, node: ast.expr, frame: Frame) -> None:
        """The end of a `with` whose generator reads a clock before and after its body."""

    def use_key(
        self, origin: Origin, node: ast.AST, frame: Frame, callee: str = "", enclosing: bool = False
    ) -> None:
        """Records that a PRNG key is consumed. A second use of the same key is reported."""


class Staging(Protocol):
    """JAX's effect on functions and calls: transformations, control flow, boundaries of stages."""

    def add_rule(self, table: str, rule: Value, node: ast.AST, frame: Frame) -> None:
        """A primitive's rule, which JAX calls during tracing, if `table` is where it stores such rules."""

    def run_library_code(self, own: Value, call: Call, odd: bool = False) -> Value:
        """Evaluates a library's own code for a tabulated function, for what it shows about the library's functions."""

    def ask_leaf(self, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Calls `is_leaf` for each node of the tree, its leaves included."""

    def compares_with_tracer_type(self, node: ast.Compare, kind: Value, frame: Frame) -> bool | None:
        """The result of `type(x) is DynamicJaxprTracer` and similar tests; None for any other test."""

    def finds_tracer(self, called: ast.expr, value: Value) -> bool:
        """Whether `called` is a function like `is_tracer`, and `value` certainly is one."""

    def finds_tracers(self, node: ast.AST, answers: Sequence[Value]) -> bool:
        """Whether an `any` asks for tracers, and each possible element is one."""

    def body_why(self, api: str, body: Value, node: ast.AST, frame: Frame) -> Why:
        """The reason why code inside `api` is traced: "`f` is passed to `api`"."""

    def call_staging(self, name: str, call: Call, own: Value | None = None) -> Value | None:
        """The result of a transformation or control flow; None for another function, which has traced its arguments."""

    def call_lifted(self, t: Transformed, call: Call) -> Value:
        """Calls a lifted function or method: its first argument is the module, the others are traced."""

    def call_transformed(self, t: Transformed, call: Call) -> Value:
        """The result of calling the transformed function `t`."""

    def call_transformed_method(self, base: Transformed, name: str, call: Call) -> Value:
        """Evaluates methods of a transformed function: `.lower`, `.trace`, `.defvjp` ..."""

    def decorate(
        self, decorator: ast.expr, value: Value, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
    ) -> Value:
        """The value of `@decorator` over `value`."""

    def emit_argument(
        self,
        static: bool,
        t: Transformed,
        name: str,
        value: Value,
        argument: ast.expr | None,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """Emits an event for an argument of a jitted function. Unpacked arguments are skipped: their names may be
        static parameters."""

    def in_stage(self, callee: Value, stage: Stage, call: Call) -> Value:
        """Calls `callee` with the frame in `stage`; under `jax.disable_jit` the stage stays the same."""

    def is_stand_in(self, first: Value, fallback: Value) -> bool:
        """Whether an import falls back on a transformation, and the first choice is unknown."""

    def known_as(self, module: Module, name: str, value: Value | None) -> str:
        """The canonical name of a library function that `module` of this library defines as `name`; or ""."""

    def lifted_flow(self, short: str, call: Call) -> Value:
        """Evaluates the functions passed to `nn.cond`, `nn.switch` and `nn.while_loop`."""

    def shapes_of(self, function: Value, call: Call) -> Value:
        """The result of `jax.eval_shape(function, *args, **kwargs)`."""

    def signature(self, target: Value) -> list[str]:
        """The names of the parameters that a caller of `target` passes by position."""

    def subclassed(self, cls: ClassValue, options: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Evaluates a base class's hook for subclasses; some register the class as a pytree."""

    def to_staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """`value` as the traced function sees it: array leaves are tracers, the structure stays Python."""

    def transformed_attribute(self, base: Transformed, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value of `base.name` for a transformed function."""

    def transformed_pair(self, base: Value, node: ast.AST, frame: Frame) -> Value:
        """`init, apply = hk.transform(f)`: haiku's result is a pair; any other value stays unchanged."""


class Arrays(Protocol):
    """The results of functions, attributes and methods of arrays."""

    def array_attribute(self, base: Array | NumpyArray, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value of `base.name`."""

    def array_method(self, receiver: Array | AtIndexer | NumpyArray, name: str, call: Call) -> Value:
        """The result of `receiver.name(*args, **kwargs)`."""

    def array_item(
        self, base: Array | AtIndexer | NumpyArray, index: Value, node: ast.Subscript, frame: Frame
    ) -> Value:
        """The value of `base[index]`."""

    def store_in_ref(self, base: Array, index: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """`base[index] = value` of a Ref in a kernel."""

    def item_of_external(self, base: External, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """The value of `base[index]` for a library object."""

    def is_described(self, name: str) -> bool:
        """Whether the tables alone describe this qualified name, whatever files a project contains."""

    def attribute_of_module(self, module: str, name: str) -> Value | None:
        """The value of `module.name` for a library module; None if it is only a name."""

    def module_has(self, module: str, name: str) -> bool | None:
        """Whether today's version of a library module has a name; None if unknown."""

    def unmodelled(self, name: str, call: Call) -> Value:
        """The result of a function without a model: as the tables describe it, or unknown."""


class Reach(Protocol):
    """Code that is called although no call is visible."""

    def call_overrides(self, function: Function, frame: Frame) -> None:
        """A call of a method that its class leaves to subclasses: evaluates theirs."""

    def call_made_of(self, callee: Unknown, call: Call) -> Value:
        """Calls what an unknown value was made from, as a library's wrapper does, in a stage that is not certain."""

    def call_on_unknown(self, base: Value, name: str, call: Call) -> Value | None:
        """The result of the method `name` of an unknown value; None if it could mean too much."""

    def gives_tracers(self, library: str, why: Why) -> None:
        """Traced code passes tracers to an unknown library: it may call methods of classes that derive from the
        library's."""

    def made(self, cls: ClassValue, frame: Frame) -> None:
        """An object of the class is created. If it is not a pytree, a stage captures it."""

    def note_host_call(self, name: str, call: Call) -> None:
        """Keeps a call of a method on something unknown, if a loop of the program runs it."""

    def note_methods(self, cls: ClassValue) -> None:
        """Records a class by the methods that it defines. Of a class created at every call of a function, the last
        one counts."""


class ArraysSeen(Protocol):
    """Records the values of variables for `inspect`."""

    def entered(
        self, called: Function, bound: dict[str, Value], context: str, caller: Frame | None
    ) -> dict[str, Value]:
        """Records the arguments of a call, or of another `context`, and returns them as the function receives them."""

    def bind(self, target: ast.Name, value: Value, frame: Frame) -> None:
        """Records an assignment."""

    def left_out(self, called: Function) -> None:
        """Records that a call is not evaluated."""


class SourcesOfTracers(Protocol):
    """Records for `inspect` which calls pass tracers to a function."""

    def note(
        self, function: ast.AST, bound: dict[str, Value], node: ast.AST | None, caller: Frame | None
    ) -> None:
        """Records a call of `function` in a stage."""
