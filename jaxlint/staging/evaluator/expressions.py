"""Expressions: names, operators, containers, attributes, subscripts."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.assignments import Assignments
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.containers import Containers
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.environment import by_environment, closed_outcome
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import NOTHING, Block, Doubting, ImportGuard
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    External,
    Shim,
    Static,
    Unknown,
    Value,
    as_answer,
    constant,
    is_answer,
    is_plain_object,
    join,
    join_all,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.measured import decides_for_size
from jaxlint.staging.values.truth import decided, truth
from jaxlint.syntax.facts import asks_for_kind

_BUILTINS = {
    name: External(f"builtins.{name}")
    for name in [
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "exec",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "globals",
        "map",
        "max",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "classmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
}


def _eval_unknown(node: ast.expr, frame: Frame) -> Value:
    return UNKNOWN


class Expressions(Part):
    """Evaluates expressions."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.calls = machine.part(Calls)
        self.function_calls = machine.part(FunctionCalls)
        self.containers = machine.part(Containers)
        self.conversions = machine.part(Conversions)
        self.narrowing = machine.part(Narrowing)
        self.comparisons = machine.part(Comparisons)
        self.operators = machine.part(Operators)
        self.assignments = machine.part(Assignments)
        self.heard_names = machine.listeners.routes["name"]
        handlers: dict[type[ast.expr], Callable[[Any, Frame], Value]] = {
            ast.Constant: self.eval_constant,
            ast.Name: self.eval_name,
            ast.JoinedStr: self.eval_joinedstr,
            ast.Lambda: self.eval_lambda,
            ast.BoolOp: self.eval_boolop,
            ast.UnaryOp: self.operators.eval_unaryop,
            ast.BinOp: self.operators.eval_binop,
            ast.Compare: self.comparisons.eval_compare,
            ast.IfExp: self.eval_ifexp,
            ast.Tuple: self.containers.eval_tuple,
            ast.List: self.containers.eval_list,
            ast.Set: self.containers.eval_set,
            ast.Dict: self.containers.eval_dict,
            ast.ListComp: self.containers.eval_listcomp,
            ast.SetComp: self.containers.eval_listcomp,
            ast.GeneratorExp: self.containers.eval_generator,
            ast.DictComp: self.containers.eval_dictcomp,
            ast.Starred: self.eval_starred,
            ast.NamedExpr: self.eval_namedexpr,
            ast.Yield: self.eval_yield,
            ast.YieldFrom: self.eval_yieldfrom,
            ast.Await: self.eval_await,
            ast.Slice: self.containers.eval_slice,
            ast.Call: self.calls.eval_call,
            ast.Attribute: self.access.eval_attribute,
            ast.Subscript: self.access.eval_subscript,
        }
        self.handlers = defaultdict(lambda: _eval_unknown, handlers)

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        self.machine.steps += 1
        return self.handlers[type(node)](node, frame)

    # -- leaves

    def eval_constant(self, node: ast.Constant, frame: Frame) -> Value:
        return Static(node.value)

    def eval_name(self, node: ast.Name, frame: Frame) -> Value:
        value = frame.scope.variables.get(node.id)
        if value is None:
            found = frame.scope.lookup(node.id)
            if found is None:
                return self.unbound_name(node, frame)
            value = found[0]
        if type(value) is External and self.heard_names.get(value.name, True):
            self.machine.name_event(value, node, frame)
        if frame.buffers.donated:
            self.machine.tracking.check_read(node, frame)
        return value

    def unbound_name(self, node: ast.Name, frame: Frame) -> Value:
        if node.id == "Ellipsis":
            return Static(...)
        builtin = _BUILTINS.get(node.id)
        if builtin is not None:
            return builtin
        found = frame.scope.module_scope().from_star(node.id)
        if found is None:
            return UNKNOWN
        self.machine.name_event(found, node, frame)
        return found

    def eval_joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        texts: list[str] | None = [] if self.machine.exact else None  # the parts, as long as they are known
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, frame)
                texts = None if texts is None else _with_text(texts, constant(value), part)
                if part.format_spec is not None:
                    self.eval(part.format_spec, frame)
                    spec = part.format_spec
                    empty = isinstance(spec, ast.JoinedStr) and not spec.values
                    if not empty and part.conversion == -1:
                        self.conversions.convert(value, part.value, "format", frame)
                        continue
                self.conversions.convert(value, part.value, "str", frame)
                if isinstance(value, Array) and value.staged:
                    self.check_text_key(node, value, frame)
            elif texts is not None and isinstance(part, ast.Constant):
                texts.append(str(part.value))
        return Static(kind="str") if texts is None else Static("".join(texts))

    def check_text_key(self, text: ast.JoinedStr, value: Array, frame: Frame) -> None:
        """`params[f"layer_{i}"]` with a tracer `i`: the text names the tracer and is not a valid key."""
        owner = frame.module.parents.get(text)
        if isinstance(owner, ast.Subscript) and owner.slice is text and isinstance(owner.ctx, ast.Load):
            self.machine.emit("index", events.IndexEvent(owner, frame, UNKNOWN, value, "text"))

    def eval_lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.function_calls.make_function(node, frame)

    # -- operators

    def eval_boolop(self, node: ast.BoolOp, frame: Frame) -> Value:
        how = "and" if type(node.op) is ast.And else "or"
        results: list[Value] = []
        before = frame.snapshot()
        with Block(frame):
            for position, operand in enumerate(node.values):
                value = self.eval(operand, frame)
                last = position == len(node.values) - 1
                if not last and self.narrowing.is_shim(operand, value, frame):
                    Block.guards_rest(frame)  # `hasattr(jax, "x") and jax.x`
                if not last:
                    self.conversions.test(value, operand, how, frame)
                    known = truth(value)
                    if known is None and how == "or" and is_plain_object(value):
                        known = True  # `config or Config()`
                    if known is not None:
                        if known == (how == "or"):
                            results.append(value)
                            break  # the rest never runs
                        continue
                    opens = how == "and"
                    closed = closed_outcome(value) is opens
                    if (
                        closed
                        or is_answer(value)
                        or (frame.stage.staged and self.narrowing.arrayless_branch(operand, frame) is opens)
                    ):
                        Block.doubts_rest(frame)  # `not isinstance(x, Tracer) and bool(x)`
                    self.narrowing.narrow(operand, how == "and", frame)
                results.append(value)
        frame.scope.variables = before.variables | {
            k: v for k, v in frame.scope.variables.items() if k not in before.variables
        }
        if len(results) == 1:
            return results[0]
        if any(closed_outcome(part) is (how == "and") for part in results):
            return by_environment(Static(how == "or"))
        result = join_all(results)
        if any(map(is_answer, results)):
            result = as_answer(result)
        if type(result) is Unknown and any(type(part) is Shim for part in results):
            return Shim()
        # the expression has the meaning of whichever operand decides it
        if truth(results[-1]) is (how == "or"):
            return decided(result, how == "or")
        return result

    def eval_ifexp(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self.eval(node.test, frame)
        self.conversions.test(test, node.test, "conditional expression", frame)
        known = truth(test)
        if self.narrowing.is_shim(node.test, test, frame):
            with ImportGuard(frame):
                return join(self.eval(node.body, frame), self.eval(node.orelse, frame))
        if known is not None:
            return self.eval(node.body if known else node.orelse, frame)
        before = frame.snapshot()
        frame.asked_sizes = frame.asked_sizes or decides_for_size(node.test, frame.scope.variables)
        answer = is_answer(test)
        doubt = (
            answer
            or asks_for_kind(node.test)
            or (frame.stage.staged and self.narrowing.arrayless_branch(node.test, frame) is not None)
        )
        closed = closed_outcome(test)
        demanded = frame.demands.found
        with Doubting(frame) if doubt or closed is True else NOTHING:
            self.narrowing.narrow(node.test, True, frame)
            body = self.eval(node.body, frame)
        used = frame.consumed
        frame.restore(before)
        self.narrowing.narrow(node.test, False, frame)
        with Doubting(frame) if doubt or closed is False else NOTHING:
            orelse = self.eval(node.orelse, frame)
        used = frame.consumed.joined(used)
        frame.restore(before)
        frame.consumed = used
        frame.demands.found = demanded  # the test decides which side demands something
        result = join(body, orelse)
        return as_answer(result) if answer else result

    # -- containers

    def eval_starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def eval_namedexpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        self.assignments.assign(node.target, value, frame, node)
        return value

    def eval_yield(self, node: ast.Yield, frame: Frame) -> Value:
        self.machine.ledger.serial += 1
        # A clock region around the generator also times the work of its consumer.
        frame.suspended = self.machine.ledger.serial
        frame.yields.append(self.eval(node.value, frame) if node.value is not None else Static(None))
        if frame.loops and frame.loops[-1].calls_jitted:
            frame.runs_steps = True
        return UNKNOWN

    def eval_yieldfrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.yields.append(self.containers.element_of(self.eval(node.value, frame), node, frame))
        return UNKNOWN

    def eval_await(self, node: ast.Await, frame: Frame) -> Value:
        self.eval(node.value, frame)
        return UNKNOWN

    # -- attributes and subscripts


def _with_text(texts: list[str], value: object, part: ast.FormattedValue) -> list[str] | None:
    """The known parts of an f-string and one more: a text or a whole number without a format."""
    plain = part.format_spec is None and part.conversion == -1 and type(value) in (str, int)
    return [*texts, str(value)] if plain else None
