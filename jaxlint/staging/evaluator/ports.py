"""What the layers ask of those above them: the few calls that do not go downward, as protocols.

The composition root (`staging/interpreter.py`) says which part answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from jaxlint.staging.project import Module
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
from jaxlint.staging.values.buffers import Handed, Held
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Stage, Why


class Language(Protocol):
    """Python itself: what any part may ask the evaluator to do."""

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
        """The array that an array operation on `inputs` gives here: a tracer if one goes in or the stage is abstract."""

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        """Binds a target to a value: a name, an attribute, an item, or each of several."""

    def binary(self, left: Value, right: Value, op: ast.operator, node: ast.AST, frame: Frame) -> Value:
        """The value of `left op right`."""

    def bind(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], frame: Frame | None
    ) -> dict[str, Value] | None:
        """Parameter values for a call, in the order of the parameters; None when the call cannot be right."""

    def call_builtin(self, name: str, call: Call) -> Value:
        """What the builtin `name` gives."""

    def call_function(self, function: Function, call: Call, stage: Stage, context: str = "call") -> Value:
        """Evaluates a project function on these arguments, in `stage`. Memoised by what the arguments look like."""

    def call_value(self, callee: Value, call: Call) -> Value:
        """The result of calling `callee`."""

    def drain(self) -> None:
        """Evaluates what was defined and transformed meanwhile, until nothing new comes up."""

    def element_of(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """What iterating over `value` gives."""

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression. `store`: it is what is written to."""

    def exec_block(self, body: Sequence[ast.stmt], frame: Frame) -> bool:
        """Evaluates statements in order; False when control does not reach the end."""

    def external_object_attribute(
        self, base: ExternalObject, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        """The value of `base.name`, of an object of a library."""

    def fill_container(self, instance: Instance, call: Call) -> None:
        """Puts what a container is made of into an object whose class derives from one."""

    def model_of(self, name: str) -> Value:
        """The model of a library class, evaluated on first use."""

    def opaque_call(self, inputs: list[Value], node: ast.AST, frame: Frame) -> Value:
        """The result of something unknown that is likely to compute with what it is given."""

    def outlives_stage(self, scope: Any, frame: Frame) -> bool:
        """Whether `scope` belongs to a call outside the innermost trace, one that goes on or has left a closure."""

    def replace_fields(self, base: Value, kwargs: dict[str, Value]) -> Value:
        """`dataclasses.replace(base, **kwargs)` and its like."""

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
        """Evaluates a module's body once; an import cycle sees what is bound so far."""

    def trip_count(self, iterable: Value) -> int | None:
        """How often a loop over `iterable` runs, where that is a constant."""


class Tracking(Protocol):
    """What follows values beside the evaluation: keys, donated buffers, clocks, gradients, how arrays came about."""

    def before_call(self, node: ast.Call, callee: Value, call: Call) -> None:
        """A call that passes arguments by name is about to run: keys may be among them."""

    def after_host_call(self, node: ast.Call, callee: Value, call: Call) -> None:
        """A call of the host is over: it may have waited for the device, and what it was given to write into is gone."""

    def bind_buffers(self, target: ast.expr, held: Held | None, frame: Frame) -> None:
        """`target` was bound to what `held` says, or to something new."""

    def bind_together(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        """`a = b = f()`: both hold the same."""

    def check_read(self, node: ast.Name, frame: Frame) -> None:
        """A name is read while some buffer is gone."""

    def differentiated(self, values: Iterable[Value]) -> Array | None:
        """The first of the arrays that carries a gradient outside of any trace, as a tracer."""

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        """The time between two readings."""

    def forget_place(self, place: str, frame: Frame) -> None:
        """`place` is bound anew: it and what lies below hold something else now."""

    def hand_over(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """Something unknown is given these: it may wait for arrays, and it may call functions."""

    def handed_by(self, frame: Frame) -> Handed | None:
        """What the function of `frame` did to its parameters, for its callers."""

    def held(self, node: ast.expr, value: Value, frame: Frame) -> Held | None:
        """What a binding to `node` shares with other places; None where it is new."""

    def made_by(self, result: Array, name: str, call: Call) -> None:
        """Notes on `result` that `name` (canonical, or an operator's) made it of these operands, and tells rules."""

    def reading(self, node: ast.AST, frame: Frame, clock: str = "") -> Reading:
        """What a clock says here."""

    def tell_returned(self, result: Value, frame: Frame) -> None:
        """Tells rules of a key that was handed in, is used up by now, and is returned as it was in a state."""

    def tell_unrenewed(self, function: Function, frame: Frame, bound: dict[str, Value]) -> None:
        """Tells rules of a key that a method uses up and leaves in its object."""

    def timed_body(self, spans: int, start: Reading, node: ast.expr, frame: Frame) -> None:
        """The end of a `with` whose generator reads a clock before and after its body."""

    def use_key(
        self, origin: Origin, node: ast.AST, frame: Frame, callee: str = "", enclosing: bool = False
    ) -> None:
        """Notes that a PRNG key is used up; a second use of the same key is reported."""


class Staging(Protocol):
    """What JAX makes of functions and calls: transformations, control flow, boundaries of stages."""

    def add_rule(self, table: str, rule: Value, node: ast.AST, frame: Frame) -> None:
        """A rule of a primitive, which JAX calls as it traces, if `table` is where it keeps such rules."""

    def run_library_code(self, own: Value, call: Call, odd: bool = False) -> Value:
        """A library's own code for what the tables say: evaluated for what it shows of the library's functions."""

    def ask_leaf(self, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """`is_leaf` is asked about each node of the tree, its leaves too."""

    def body_why(self, api: str, body: Value, node: ast.AST, frame: Frame) -> Why:
        """Why what runs inside of `api` is staged: "`f` is passed to `api`"."""

    def call_staging(self, name: str, call: Call, own: Value | None = None) -> Value | None:
        """What a transformation or control flow gives; None for another function, which has traced what it is given."""

    def call_lifted(self, t: Transformed, call: Call) -> Value:
        """A lifted function or method: its first argument is the module, the others are traced."""

    def call_transformed(self, t: Transformed, call: Call) -> Value:
        """The result of calling `t` in `frame`."""

    def call_transformed_method(self, base: Transformed, name: str, call: Call) -> Value:
        """Methods of a transformed function: `.lower`, `.trace`, `.defvjp` ..."""

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
        """Tells rules what a call of a jitted function passes; not what it unpacks, whose names may be those of static parameters."""

    def in_stage(self, callee: Value, stage: Stage, call: Call) -> Value:
        """Calls `callee` with the frame standing in `stage`, or where it stands when `jax.disable_jit` holds."""

    def is_stand_in(self, first: Value, fallback: Value) -> bool:
        """Whether an import falls back on what stages, and nothing is known of what comes first."""

    def known_as(self, module: Module, name: str, value: Value | None) -> str:
        """The name under which a library's function is known that `module` of this very library defines as `name`; or ""."""

    def lifted_flow(self, short: str, call: Call) -> Value:
        """What `nn.cond`, `nn.switch` and `nn.while_loop` do with the functions that they are given."""

    def shapes_of(self, function: Value, call: Call) -> Value:
        """What `jax.eval_shape(function, *args, **kwargs)` gives."""

    def signature(self, target: Value) -> list[str]:
        """Names of the positional parameters that a caller of `target` fills."""

    def subclassed(self, cls: ClassValue, options: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Runs what a base class does with a class that derives from it; some register it as a pytree."""

    def to_staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """`value` as the staged function sees it: array leaves are tracers, structure stays Python."""

    def transformed_attribute(self, base: Transformed, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value of `base.name`, of a transformed function."""

    def transformed_pair(self, base: Value, node: ast.AST, frame: Frame) -> Value:
        """`init, apply = hk.transform(f)`: what haiku makes of a function is a pair; any other value as it is."""


class Arrays(Protocol):
    """What the functions, attributes and methods of arrays give."""

    def array_attribute(self, base: Array | NumpyArray, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value of `base.name`."""

    def array_method(self, receiver: Array | AtIndexer | NumpyArray, name: str, call: Call) -> Value:
        """What `receiver.name(*args, **kwargs)` gives."""

    def array_item(
        self, base: Array | AtIndexer | NumpyArray, index: Value, node: ast.Subscript, frame: Frame
    ) -> Value:
        """The value of `base[index]`."""

    def item_of_external(self, base: External, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """The value of `base[index]`, of something of a library."""

    def is_described(self, name: str) -> bool:
        """Whether what has this qualified name is known by the tables alone, whatever files a project brings."""

    def attribute_of_module(self, module: str, name: str) -> Value | None:
        """The value of `module.name`, for the qualified name of a library's module; None where it is only a name."""

    def module_has(self, module: str, name: str) -> bool | None:
        """Whether a library's module of today has a name; None where that is not known."""

    def unmodelled(self, name: str, call: Call) -> Value:
        """What a function gives that has no model: by the tables, or as something unknown."""


class Reach(Protocol):
    """What is called though no call is seen."""

    def call_heirs(self, function: Function, frame: Frame) -> None:
        """A method that its class leaves to those that derive from it is called: theirs runs, whichever that is."""

    def call_made_of(self, callee: Unknown, call: Call) -> Value:
        """Calls what something unknown was made of, as the wrapper of a library does; in a stage that is not certain."""

    def call_on_unknown(self, base: Value, name: str, call: Call) -> Value | None:
        """What the method `name` gives of something unknown; None where too much could be meant."""

    def gives_tracers(self, library: str, why: Why) -> None:
        """An unknown library is given tracers in a stage: it calls methods of what derives from its classes there."""

    def made(self, cls: ClassValue, frame: Frame) -> None:
        """An object of the class is made; what is no pytree gets into a stage as it is captured."""

    def note_methods(self, cls: ClassValue) -> None:
        """Remembers a class by the methods that it defines; of a class that is made at every call of a function, the last."""


class ArraysSeen(Protocol):
    """Where `inspect` keeps what variables are bound to."""

    def entered(
        self, called: Function, bound: dict[str, Value], context: str, caller: Frame | None
    ) -> dict[str, Value]:
        """Remembers the arguments of a call, or of another `context`; gives them as the function is to have them."""

    def bind(self, target: ast.Name, value: Value, frame: Frame) -> None:
        """Remembers an assignment."""


class SourcesOfTracers(Protocol):
    """Where `inspect` keeps which calls hand tracers to a function."""

    def note(
        self, function: ast.AST, bound: dict[str, Value], node: ast.AST | None, caller: Frame | None
    ) -> None:
        """Remembers a call of `function` in a stage."""
