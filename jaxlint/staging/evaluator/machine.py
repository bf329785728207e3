"""What the interpreter's parts may ask of each other: the signatures that cross from one mixin to another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxlint.jaxapi.transforms import Transform
from jaxlint.staging.project import Module, Project
from jaxlint.staging.values import (
    Array,
    ClassValue,
    External,
    ExternalMethod,
    ExternalObject,
    Field,
    Flow,
    Function,
    Instance,
    ListValue,
    Origin,
    Reading,
    Transformed,
    TupleValue,
    Unknown,
    Value,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Stage, Why

if TYPE_CHECKING:
    from jaxlint.staging.evaluator.calls import FunctionRecord
    from jaxlint.staging.evaluator.tested_items import TestedItem
    from jaxlint.staging.listeners import Listeners
    from jaxlint.staging.reach.receivers import Awaited, LeftOpen
    from jaxlint.staging.reach.tracer_sources import Givers
    from jaxlint.staging.tracking.buffers import Handed, Held
    from jaxlint.staging.tracking.timing import Ledger


class Machine:
    """The state that the parts share, and the methods that one calls of another. `Interpreter` is all of them."""

    project: Project
    listeners: Listeners
    wants_names: bool
    watched_attributes: frozenset[str]
    wants_calls: bool
    wants_operations: bool
    records: dict[ast.AST, FunctionRecord]
    defined: list[Function]
    classes: list[ClassValue]
    creations: list[tuple[Transformed, Frame, tuple[TestedItem, ...]]]
    tested: list[TestedItem]
    entry_stage: Stage
    test_stage: Stage
    boundary: tuple[Transformed, Frame] | None
    copies: int  # objects so far, of the value that is being copied
    copying: dict[int, Instance]
    crossing: list[ClassValue]
    choosing: int
    unjitted: int
    fake_pmaps: int
    donates: bool
    differentiating: int
    reversing: int
    parameter_flow: Flow | None
    gradient_why: Why | None
    steps: int
    ledger: Ledger
    custom_rules: int
    gradient_roots: set[ast.AST]
    edges: dict[ast.AST, set[ast.AST]]
    entered: set[Path]
    entering: list[Function]
    implications: set[object]
    hooks: set[str]
    registers: bool
    beside: int
    provoking: Module | None
    lifted: dict[object, ClassValue]
    defining: dict[str, list[ClassValue]]
    guessing: int
    failures: int
    inside: dict[ast.AST, tuple[ClassValue, Why | None]]
    unresolved: set[str]
    libraries: dict[str, Why]
    extending: dict[str, list[ClassValue]]
    read: set[str]
    external_names: dict[tuple[str, str], External]
    on_the_spot: dict[ast.AST, ast.Call]
    rowless: dict[ast.AST, set[str]]
    carried: dict[ast.AST, tuple[Function, Why]]
    waiting: dict[ast.AST, list[Awaited]]
    awaited: list[Awaited]
    heirs: dict[ast.AST, list[ClassValue]]
    array_like: set[str]
    left_open: dict[ast.AST, list[LeftOpen]]
    observes: bool
    givers: Givers | None

    def exhausted(self) -> bool:
        raise NotImplementedError

    def emit(self, kind: str, event: Any) -> None:
        raise NotImplementedError

    def reports(self, frame: Frame) -> bool:
        raise NotImplementedError

    def name_event(self, value: Value, node: ast.AST, frame: Frame, is_import: bool = False) -> None:
        raise NotImplementedError

    def add_rule(self, table: str, rule: Value, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def run_module(self, module: Module) -> None:
        raise NotImplementedError

    def model_of(self, name: str) -> Value:
        raise NotImplementedError

    # -- statements

    def fail(self, error: Exception, module: Module, frame: Frame | None = None) -> None:
        raise NotImplementedError

    def exec_statement(self, statement: ast.stmt, frame: Frame) -> bool:
        raise NotImplementedError

    def exec_block(self, body: Sequence[ast.stmt], frame: Frame) -> bool:
        raise NotImplementedError

    def trip_count(self, iterable: Value) -> int | None:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        raise NotImplementedError

    # -- expressions

    def eval(self, node: ast.expr, frame: Frame, store: bool = False) -> Value:
        raise NotImplementedError

    def binary(self, left: Value, right: Value, op: ast.operator, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def container_name(self, container: Value, frame: Frame) -> str:
        raise NotImplementedError

    def look_for(
        self, item: Value, sequence: ListValue | TupleValue, how: str, node: ast.AST, frame: Frame
    ) -> None:
        raise NotImplementedError

    def compare_pair(self, left: Value, right: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def is_shim(self, test: ast.expr, value: Value, frame: Frame) -> bool:
        raise NotImplementedError

    def narrow(self, test: ast.expr, outcome: bool, frame: Frame) -> None:
        raise NotImplementedError

    def arrayless_branch(
        self, test: ast.expr, frame: Frame, depth: int = 4, given: dict[str, ast.expr] | None = None
    ) -> bool | None:
        raise NotImplementedError

    def asks_for_attribute(
        self, test: ast.expr, frame: Frame, passed: Mapping[str, ast.expr] | None = None
    ) -> bool:
        raise NotImplementedError

    def hold(
        self, instance: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        raise NotImplementedError

    def element_of(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def attribute(self, base: Value, name: str, node: ast.AST, frame: Frame, quiet: bool = False) -> Value:
        raise NotImplementedError

    def attribute_of(self, base: Value, node: ast.Attribute, frame: Frame) -> Value:
        raise NotImplementedError

    def some_instance(self, cls: ClassValue, value: Unknown, frame: Frame) -> Value:
        raise NotImplementedError

    def subscript(self, base: Value, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        raise NotImplementedError

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
        raise NotImplementedError

    def made_by(
        self,
        result: Array,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        raise NotImplementedError

    # -- methods of what is not known

    def is_reached(self, function: Function) -> bool:
        raise NotImplementedError

    def made(self, cls: ClassValue, frame: Frame) -> None:
        raise NotImplementedError

    def carries(self, value: Value, why: Why | None) -> None:
        raise NotImplementedError

    def enters_stage(self, cls: ClassValue, why: Why | None) -> None:
        raise NotImplementedError

    def once_inside(
        self,
        cls: ClassValue,
        method: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        raise NotImplementedError

    def run_awaited(self) -> None:
        raise NotImplementedError

    def drain(self) -> None:
        raise NotImplementedError

    def call_heirs(self, function: Function, frame: Frame) -> None:
        raise NotImplementedError

    def note_methods(self, cls: ClassValue) -> None:
        raise NotImplementedError

    def call_made_of(
        self,
        callee: Unknown,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def call_on_unknown(
        self,
        base: Value,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.Call,
        frame: Frame,
    ) -> Value | None:
        raise NotImplementedError

    # -- donated buffers

    def held(self, node: ast.expr, value: Value, frame: Frame) -> Held | None:
        raise NotImplementedError

    def bind_buffers(self, target: ast.expr, held: Held | None, frame: Frame) -> None:
        raise NotImplementedError

    def bind_together(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        raise NotImplementedError

    def forget_place(self, place: str, frame: Frame) -> None:
        raise NotImplementedError

    def donate_arguments(
        self, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.Call, frame: Frame
    ) -> None:
        raise NotImplementedError

    def handed_by(self, frame: Frame) -> Handed | None:
        raise NotImplementedError

    def check_read(self, node: ast.Name, frame: Frame) -> None:
        raise NotImplementedError

    # -- timing

    def dispatch(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        raise NotImplementedError

    def dispatch_operation(self, name: str, result: Array, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def timed_body(self, spans: int, start: Reading, node: ast.expr, frame: Frame) -> None:
        raise NotImplementedError

    def reading(self, node: ast.AST, frame: Frame, clock: str = "") -> Reading:
        raise NotImplementedError

    def hand_over(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def note_waiting(self, node: ast.Call, callee: Value, args: list[Value]) -> None:
        raise NotImplementedError

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    # -- calls

    def call_value(
        self, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def opaque_call(self, inputs: list[Value], node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def call_function(
        self,
        function: Function,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        stage: Stage,
        context: str = "call",
    ) -> Value:
        raise NotImplementedError

    def bind(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], frame: Frame | None
    ) -> dict[str, Value] | None:
        raise NotImplementedError

    def run_function(
        self,
        function: Function,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
        stage: Stage,
        context: str,
    ) -> Value:
        raise NotImplementedError

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame
    ) -> Function:
        raise NotImplementedError

    def annotation(self, node: ast.expr, frame: Frame) -> None:
        raise NotImplementedError

    def use_key(
        self, origin: Origin, node: ast.AST, frame: Frame, callee: str = "", enclosing: bool = False
    ) -> None:
        raise NotImplementedError

    # -- keys

    def use_streams(self, rngs: Value, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def use_seed(self, key: Value, node: ast.Call, frame: Frame) -> None:
        raise NotImplementedError

    def use_library_key(self, key: Value, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def told_apart(self, part: Origin, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def tell_constant_keys(
        self,
        api: str,
        body: Value,
        before: Iterable[Origin],
        born: int,
        given: list[Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        raise NotImplementedError

    def tell_kept_keys(self, api: str, body: Value, born: int, carry: Value, result: Value) -> None:
        raise NotImplementedError

    def tell_returned(self, result: Value, frame: Frame) -> None:
        raise NotImplementedError

    def tell_unrenewed(self, function: Function, frame: Frame, bound: dict[str, Value]) -> None:
        raise NotImplementedError

    # -- classes

    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value:
        raise NotImplementedError

    def instantiate(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def fill(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def prototype(self, cls: ClassValue, frame: Frame) -> Instance:
        raise NotImplementedError

    def instance_attribute(self, base: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def named_tuple_attribute(self, base: TupleValue, name: str, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def declared_value(self, declared: Field, cls: ClassValue) -> Value:
        raise NotImplementedError

    def outlives_stage(self, scope: Any, frame: Frame) -> bool:
        raise NotImplementedError

    def check_outer_object(self, holder: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def leaks_into(self, base: Instance, value: Value, frame: Frame) -> bool:
        raise NotImplementedError

    def made_outside(self, base: Instance, frame: Frame) -> bool:
        raise NotImplementedError

    def class_attribute(self, base: ClassValue, name: str, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def set_attribute(
        self, base: Value, name: str, value: Value, target: ast.Attribute | ast.Call, frame: Frame
    ) -> None:
        raise NotImplementedError

    def module_call_method(self, instance: Instance) -> Value | None:
        raise NotImplementedError

    def replace_fields(self, base: Value, kwargs: dict[str, Value]) -> Value:
        raise NotImplementedError

    # -- externals

    def call_external(
        self, callee: External, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def method_kind(self, name: str, value: Value) -> Value:
        raise NotImplementedError

    def call_method(
        self, callee: ExternalMethod, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def extend_list(self, target: ListValue, value: Value, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def store_item(
        self,
        base: Value,
        index: Value,
        value: Value,
        target: ast.Subscript,
        node: ast.AST,
        frame: Frame,
        operator: ast.operator | None,
    ) -> None:
        raise NotImplementedError

    def external_object_attribute(
        self, base: ExternalObject, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def call_external_object(
        self, callee: ExternalObject, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def convert(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        raise NotImplementedError

    def test(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        raise NotImplementedError

    # -- the data model

    def special(
        self, value: Value, name: str, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        raise NotImplementedError

    def lift_class(self, t: Transformed, cls: ClassValue) -> ClassValue:
        raise NotImplementedError

    def call_lifted(
        self, t: Transformed, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def lifted_flow(
        self, short: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def body_why(self, api: str, body: Value, node: ast.AST, frame: Frame) -> Why:
        raise NotImplementedError

    def staged_call(
        self, api: str, body: Value, args: list[Value], node: ast.AST, frame: Frame, kind: str, why: Why
    ) -> Value:
        raise NotImplementedError

    def flow_result(self, value: Value, frame: Frame, given: Sequence[Value] = ()) -> Value:
        raise NotImplementedError

    def once(
        self,
        method: Value,
        args: list[Value],
        node: ast.AST,
        frame: Frame,
        kwargs: dict[str, Value] | None = None,
    ) -> None:
        raise NotImplementedError

    def unflatten(self, classes: list[ClassValue], args: list[Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def left(self, results: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def rebuilt(self, trees: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def subclassed(self, cls: ClassValue, options: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def implied(self, value: Value, name: str, args: list[Value], node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def operate(
        self, left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame
    ) -> Value | None:
        raise NotImplementedError

    def operate_in_place(
        self, left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def compare_instances(
        self, left: Value, op: ast.cmpop, right: Value, node: ast.AST, frame: Frame
    ) -> Value | None:
        raise NotImplementedError

    def make_by_class(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        raise NotImplementedError

    # -- transforming

    def aside(
        self,
        own: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        odd: bool = False,
    ) -> Value:
        raise NotImplementedError

    def decorate(
        self, decorator: ast.expr, value: Value, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def apply_transform(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        own: Value | None = None,
    ) -> Value:
        raise NotImplementedError

    def transformed_pair(self, base: Value, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def call_transformed(
        self, t: Transformed, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def call_transformed_method(
        self,
        base: Transformed,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def call_custom(
        self, t: Transformed, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def call_differentiated(
        self, t: Transformed, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

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
        raise NotImplementedError

    def transformed_attribute(self, base: Transformed, name: str, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def control_flow(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        own: Value | None = None,
    ) -> Value:
        raise NotImplementedError

    def fresh(self, value: Value, depth: int = 6) -> Value:
        raise NotImplementedError

    def call_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        raise NotImplementedError

    def external_object_method(
        self,
        receiver: ExternalObject,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def in_stage(
        self,
        callee: Value,
        stage: Stage,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def call_back(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        raise NotImplementedError

    def is_argument_mapped(self, t: Transformed, position: int, name: str) -> bool | None:
        raise NotImplementedError

    def parameter_why(self, t: Transformed, name: str) -> Why:
        raise NotImplementedError

    def shape_argument(self, value: Value, name: str, what: str, node: ast.AST, frame: Frame) -> None:
        raise NotImplementedError

    def innermost(self, target: Value) -> tuple[Function | None, int, set[str]]:
        raise NotImplementedError

    def signature(self, target: Value) -> list[str]:
        raise NotImplementedError

    def spec_of(self, transformed: Transformed) -> Transform:
        raise NotImplementedError

    def static_parameters(self, t: Transformed, names: list[str]) -> tuple[set[str], bool]:
        raise NotImplementedError

    def super_attribute(self, base: ExternalObject, name: str) -> Value:
        raise NotImplementedError

    def under_parameters(
        self,
        variables: Value | None,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def differentiated(self, values: Iterable[Value]) -> Array | None:
        raise NotImplementedError

    def under_gradient(
        self,
        reverse: bool,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        raise NotImplementedError

    def tell_stopped(self, t: Transformed | None, loss: Value, frame: Frame | None = None) -> None:
        raise NotImplementedError

    def loop_result(self, api: str, carry: Value, result: Value, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def to_device(self, value: Value, jitted: str, keeps_python: bool = False) -> Value:
        raise NotImplementedError

    def to_staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        raise NotImplementedError
