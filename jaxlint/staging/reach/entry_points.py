"""Functions without a visible call: evaluated with unknown arguments, or with those from a table of test cases."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from jaxlint.staging.evaluator.binding import Binding
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.pytest_names import CASE
from jaxlint.staging.evaluator.scopes import EnteringFixture
from jaxlint.staging.module import Module
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ClassValue,
    DictValue,
    ExternalObject,
    Function,
    ListValue,
    Origin,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    in_turn,
)
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import HOST, Stage, Why
from jaxlint.syntax.facts import all_parameters, positional_parameters, takes_receiver

# Methods that JAX calls on a custom trace of the program, and the position of the traced values (after `self`).
TRACES = frozenset({"jax.core.Trace", "jax._src.core.Trace", "jax.extend.core.Trace"})
PRIMITIVE = "jax.core.Primitive"  # the operation
TRACE_HOOKS = {
    "process_primitive": 1,
    "process_call": 2,
    "process_map": 2,
    "process_custom_jvp_call": 3,
    "process_custom_vjp_call": 4,
}
_MAX_ROWS = 200
_MAX_CASES = 256  # cases of one test that are evaluated one by one


class Entry(Part):
    """Evaluates functions without a caller."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.binding = machine.part(Binding)
        self.function_calls = machine.part(FunctionCalls)
        self.classes = machine.part(Classes)
        self.alone: list[Function] = []  # functions that were entered without a visible call

    def enter_function(self, function: Function) -> None:
        """Evaluates a function without a visible call."""
        if self.is_reached(function) or function.module.source.path not in self.machine.entered:
            return
        if not function.module.is_test:
            self.alone.append(function)
        bound, stage = self.given_alone(function)
        if self.is_reached(function):  # the prototype of its class ran it
            return
        fixtures = self.fixture_values(function)
        if self.machine.arrays_seen is not None and any(map(_is_cut, function.tables)):
            self.machine.arrays_seen.left_out(function)
        for row in case_by_case(function) if self.machine.exact else [cases(function)]:
            given = {name: value for name, value in {**fixtures, **row}.items() if name in bound}
            self.function_calls.run_function(function, {**bound, **given}, None, None, stage, "entry")

    def given_alone(self, function: Function) -> tuple[dict[str, Value], Stage]:
        """What a function without a visible call receives, and the stage in which it runs."""
        stage = self.machine.test_stage if function.module.is_test else self.machine.entry_stage
        bound: dict[str, Value] = {}
        for parameter in all_parameters(function.node):
            bound[parameter.arg] = Unknown(Origin(parameter.arg))
        if function.node.args.vararg:
            bound[function.node.args.vararg.arg] = TupleValue(None, UNKNOWN)
        if function.node.args.kwarg:
            bound[function.node.args.kwarg.arg] = DictValue({}, UNKNOWN)
        cls = function.cls
        positional = [*function.node.args.posonlyargs, *function.node.args.args]
        if cls is not None and positional and takes_receiver(function.node, cls.node, function.kind):
            frame = Frame(None, function.module, function.scope, HOST)
            bound[positional[0].arg] = (
                cls if function.kind == "classmethod" else self.classes.prototype(cls, frame)
            )
            if cls.is_module and function.name == "__call__":
                why = Why(
                    f"`{cls.name}.__call__` is a layer's call, which programs usually jit",
                    function.module,
                    function.node,
                    habit=True,
                    function=f"{cls.name}.__call__",
                    how="the call of a layer, which is usually jitted",
                )
                stage = Stage("convention", True, False, why)
                for parameter in all_parameters(function.node)[1:]:
                    bound[parameter.arg] = self.convention_value(parameter, function, why)
            elif function.name in TRACE_HOOKS and not TRACES.isdisjoint(cls.external_bases()):
                stage = self.bind_trace_hook(cls, function, positional[1:], bound)
        return bound, stage

    def is_reached(self, function: Function) -> bool:
        """Whether a visible call reaches the function; calls of a method name on something unknown do not count."""
        record = self.function_calls.records.get(function.node)
        return record is not None and record.reached

    def convention_value(self, parameter: ast.arg, function: Function, why: Why) -> Value:
        """The argument of a layer without a known caller: an array, unless its type or default says otherwise."""
        annotation = parameter.annotation
        if isinstance(annotation, ast.Name) and annotation.id in ("bool", "str", "int"):
            return Static(kind=annotation.id)
        default = function.defaults.get(parameter.arg)
        if isinstance(default, Static) and isinstance(default.const, (bool, str)):
            return Static(kind=type(default.const).__name__)
        array = Array(True, why, tree=True, certain=False, origin=Origin(parameter.arg))
        if parameter is function.node.args.vararg:
            return TupleValue(None, array)
        if parameter is function.node.args.kwarg:
            return DictValue({}, array)
        # An optional parameter is an array in some calls and a setting in others.
        return array if default is None else replace(array, mixed=True)

    def bind_trace_hook(
        self, cls: ClassValue, function: Function, parameters: list[ast.arg], bound: dict[str, Value]
    ) -> Stage:
        """A custom trace: JAX passes it each operation, with the tracers that are its operands."""
        name = f"{cls.name}.{function.name}"
        why = Why(
            f"JAX calls `{name}` with tracers",
            function.module,
            function.node,
            function=name,
            how="JAX calls it with tracers",
        )
        bound[parameters[0].arg] = ExternalObject(PRIMITIVE)
        for parameter in parameters[TRACE_HOOKS[function.name] :][:1]:
            # At least one of them is a tracer; this trace computes the results of operations on them.
            tracer = Array(True, why, certain=False, origin=Origin(parameter.arg))
            bound[parameter.arg] = ListValue(None, tracer)
        return Stage("trace", False, False, why)

    # -- fixtures

    def fixture_values(self, function: Function) -> dict[str, Value]:
        """The fixtures that pytest passes to a test or another fixture, by parameter name."""
        if not function.module.is_test or not (
            function.name.startswith("test") or function.kind == "fixture"
        ):
            return {}
        found: dict[str, Value] = {}
        for parameter in all_parameters(function.node):
            fixture = self.fixture(parameter.arg, function)
            if fixture is not None and fixture.node is not function.node:
                found[parameter.arg] = self.fixture_result(fixture, function.cls)
        return found

    def fixture(self, name: str, test: Function) -> Function | None:
        """The fixture `name` as `test` sees it: from its class, its module, or a `conftest.py` above."""
        own = test.cls.lookup(name) if test.cls is not None else None
        shared = (
            self.machine.globals_of(source).variables.get(name)
            for source in [test.module, *self.conftests(test.module)]
        )
        for found in (own, *shared):
            if isinstance(found, Function) and found.kind == "fixture":
                return found
        return None

    def conftests(self, module: Module) -> list[Module]:
        folders = list(module.source.path.parents)
        found = [target for target in self.machine.project.conftests if target.source.path.parent in folders]
        for conftest in found:
            self.machine.language.run_module(conftest)
        return sorted(found, key=lambda conftest: folders.index(conftest.source.path.parent))

    def fixture_result(self, fixture: Function, cls: ClassValue | None) -> Value:
        """The value of a fixture for a test, or for another fixture, of the class `cls`."""
        frame = Frame(None, fixture.module, fixture.scope, HOST)
        if len(self.machine.entering) > 4:  # fixtures that depend on each other
            return UNKNOWN
        with EnteringFixture(self.machine, fixture):
            receiver: list[Value] = []
            if cls is not None and fixture.cls is not None:
                receiver.append(self.classes.prototype(cls, frame))
            bound = self.binding.bind(fixture, receiver, self.fixture_values(fixture), frame)
            if bound is None:
                return UNKNOWN
            result = self.function_calls.run_function(
                fixture, bound, None, None, self.machine.test_stage, "entry"
            )
        return (
            result.element
            if isinstance(result, ListValue) and result.kind in ("generator", "steps")
            else result
        )


def cases(function: Function) -> dict[str, Value]:
    """The values of a test's parameters, joined over the rows of its tables."""
    found: dict[str, list[Value]] = {}
    for rows in _tables(function):
        for row in rows:
            for name, value in row.items():
                found.setdefault(name, []).append(value)
        # A row that leaves a parameter out uses its default.
        partly = {name for row in rows for name in row if any(name not in other for other in rows)}
        for name in partly & function.defaults.keys():
            found[name].append(function.defaults[name])
    return {name: in_turn(values) for name, values in found.items()}


def case_by_case(function: Function) -> list[dict[str, Value]]:
    """The arguments of each test case: the product of the rows of all tables, if it is small."""
    tables = [rows for rows in _tables(function) if rows]
    whole: list[dict[str, Value]] = []
    if math.prod(map(len, tables)) > _MAX_CASES:
        # Each row at least once, beside any rows of the other tables.
        longest = max(map(len, tables))
        chosen = [tuple(rows[turn % len(rows)] for rows in tables) for turn in range(longest)]
        whole.append(cases(function))  # the values of the others are unknown
    else:
        chosen = list(itertools.product(*tables))
    left_out = {name: function.defaults[name] for name in _columns(tables) & function.defaults.keys()}
    each = [{name: value for row in rows for name, value in row.items()} for rows in chosen]
    return [{**left_out, **row} for row in [*each, *whole]]


def _is_cut(table: ExternalObject) -> bool:
    """Whether only the first rows of a table are evaluated."""
    held = [
        value for value in (*table.args, *table.kwargs.values()) if isinstance(value, (TupleValue, ListValue))
    ]
    return len(table.args) > _MAX_ROWS or any(len(value.elements()) > _MAX_ROWS for value in held)


def _columns(tables: Sequence[Sequence[dict[str, Value]]]) -> set[str]:
    return {name for rows in tables for row in rows for name in row}


def _tables(function: Function) -> list[list[dict[str, Value]]]:
    """The tables above a test: rows of values, by the parameters that they fill."""
    names = [parameter.arg for parameter in positional_parameters(function.node)]
    if function.cls is not None and function.kind != "staticmethod":
        names = names[1:]
    return [rows for table in function.tables for rows in _row_groups(table, names)]


def _row_groups(table: ExternalObject, names: list[str]) -> list[list[dict[str, Value]]]:
    """The rows of one decorator, by parameter names; one group for each factor of a product."""
    if table.name.endswith(".product"):
        groups = [[_by_name(row) for row in _elements(factor)] for factor in table.args]
        groups += [[{name: row} for row in _elements(factor)] for name, factor in table.kwargs.items()]
        return groups
    return [_rows(table, names)]


def _rows(table: ExternalObject, names: list[str]) -> list[dict[str, Value]]:
    if table.name == "pytest.mark.parametrize":
        argnames = table.args[0] if table.args else table.kwargs.get("argnames", UNKNOWN)
        values = table.args[1] if len(table.args) > 1 else table.kwargs.get("argvalues", UNKNOWN)
        text = constant(argnames)
        columns = [n.strip() for n in text.split(",")] if isinstance(text, str) else constant_names(argnames)
        if not columns:
            return []
        rows = [_by_position(_case(row), list(columns), len(columns) == 1) for row in _elements(values)]
        fixtures = _fixture_columns(table, list(columns))
        return [{name: value for name, value in row.items() if name not in fixtures} for row in rows]
    given = table.args
    if len(given) == 1 and isinstance(given[0], (ListValue, StarArgument)):
        given = _elements(given[0])
    elif len(given) == 1 and isinstance(given[0], ExternalObject):
        given = [Static(kind="int") if given[0].name == "builtins.range" else UNKNOWN]  # each case in turn
    named = table.name.endswith(".named_parameters")
    rows = []
    for row in given[:_MAX_ROWS]:
        if isinstance(row, StarArgument):
            row = row.element
        if isinstance(row, DictValue):
            rows.append(_by_name(row))
        elif named and isinstance(row, (TupleValue, ListValue)) and row.items is not None:
            rows.append(_by_position(TupleValue(row.items[1:]), names, False))
        else:
            rows.append(_by_position(row, names, not isinstance(row, (TupleValue, ListValue))))
    return rows


def _fixture_columns(table: ExternalObject, columns: list[str]) -> Collection[str]:
    """The columns that `indirect` passes to fixtures of the same names, not to the test."""
    indirect = table.args[2] if len(table.args) > 2 else table.kwargs.get("indirect", Static(False))
    listed = constant_names(indirect)
    if listed is not None:
        return listed
    return columns if constant(indirect) is not False else ()


def _case(row: Value) -> Value:
    """The values of `pytest.param(...)`."""
    if isinstance(row, ExternalObject) and row.name == CASE:
        return row.args[0] if len(row.args) == 1 else TupleValue(list(row.args))
    return row


def _elements(value: Value) -> list[Value]:
    if isinstance(value, StarArgument):
        return [value.element]
    if isinstance(value, (TupleValue, ListValue)):
        return value.elements()[:_MAX_ROWS]
    return []


def _by_name(row: Value) -> dict[str, Value]:
    if not isinstance(row, DictValue):
        return {}
    return {name: value for name, value in row.items.items() if isinstance(name, str)}


def _by_position(row: Value, names: list[str], single: bool) -> dict[str, Value]:
    if single:
        return {names[0]: row} if names else {}
    if isinstance(row, (TupleValue, ListValue)) and row.items is not None:
        return dict(zip(names, row.items, strict=False))
    return {}
