"""Python arithmetic in a function that would be traced: JAX computes it in 32 bits, and raises nothing.

A Python number combined with an array already had 32 bits. Two Python numbers have 64 bits or more, and division by
zero raises.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from jaxlint.codemods.purity.concretization import NEEDS_AN_ARRAY, Traced
from jaxlint.codemods.purity.known_functions import GRADIENTS
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import File, FunctionNode, assigned, function_around, parameters
from jaxlint.codemods.purity.values import ARRAY, NUMBER, NUMPY, Made, Unknown, leaves_of
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.text_edits import shown_source

_SMALL = 1024.0
_WIDEST = 2.0**31
_TINY = math.ulp(0.0)
_INTEGERS = frozenset({"int", "bool"})
_ROUNDING = frozenset({"round", "divmod", "pow"})
# a value that is too wide may fit afterwards
_NARROWING = (ast.Div, ast.FloorDiv, ast.Mod, ast.RShift, ast.BitAnd)
_TAKING_WIDE = frozenset(
    {
        "jax.random.key",
        "jax.random.PRNGKey",
        "jax.random.fold_in",
        "jax.numpy.full",
        "jax.numpy.float32",
        "float",
    }
)  # of literals; JAX passes no number of more than 32 bits to a compiled function
_TOO_WIDE = "computes with a Python int that may not fit into 32 bits, where JAX raises OverflowError"
_HOST_TYPES = frozenset({"int", "float", "bool", "complex", "numpy.ndarray", "numpy.generic", "numpy.number", "numpy.floating", "numpy.integer", "numbers.Number", "numbers.Real"})  # fmt: skip
_CLASSES = frozenset({"jax.core.Tracer", "jax.extend.core.Tracer", "jax._src.core.Tracer", "jax.core.ConcreteArray", "jax._src.array.ArrayImpl", "jaxlib._jax.ArrayImpl"})  # fmt: skip
_OF_ARRAYS_ALONE = frozenset(
    {"format", "platform", "device_buffer", "is_ready", "block_until_ready", "copy_to_host_async", "clone"}
)  # which tracers lack
_OF_ALL_NUMBERS = frozenset({"conjugate", "real", "imag"})  # which arrays have too
_CONSTANTS = {
    f"{module}.{name}": value
    for module in ("jax.numpy", "numpy", "math")
    for name, value in (("pi", math.pi), ("e", math.e), ("tau", math.tau))
}
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Number:
    """Facts about a number: its possible types ("?" for any), and a lower bound `least`.

    `fits`: it certainly lies within 32 bits, like a counter.
    """

    kinds: frozenset[str]
    least: float = -math.inf
    literal: bool = False
    counts: bool = False  # axes, or sizes along them
    fits: bool = False

    @property
    def is_whole(self) -> bool:
        return self.kinds <= _INTEGERS

    @property
    def may_be_whole(self) -> bool:
        return bool(self.kinds & {*_INTEGERS, "?"})

    @property
    def is_too_wide(self) -> bool:
        """Whether it may be an integer of more than 32 bits."""
        return "int" in self.kinds and not self.fits

    @property
    def is_small(self) -> bool:
        """Whether a 32-bit result loses at most three of its digits."""
        return self.counts or (self.literal and abs(self.least) <= _SMALL)


_ANY = Number(frozenset({"?"}))
_COUNT = Number(frozenset({"int"}), 0.0, fits=True)
_TRUTH = Number(frozenset({"bool"}), 0.0, fits=True)
_LENGTH = Number(frozenset({"int"}), 0.0, counts=True, fits=True)


@dataclass(slots=True)
class HostNumbers:
    """`seen`: the types of the parameters of `root` in a run, if it is a function."""

    possible: PossibleValues
    traced: Traced
    root: FunctionNode | None = None
    seen: Mapping[str, str] = field(default_factory=dict)
    _open: set[ast.AST] = field(default_factory=set)

    def problems(self, file: File) -> Iterator[str]:
        """Computations with another result, or without their exception, in words. `file`: that of the code to be
        traced."""
        for node, own in self.traced.evaluated(file):
            if node not in self.traced.skipped and (what := self._changes(node, own)):
                yield f"`{shown_source(node)}` at {self.possible.program.place(own, node)} {what}"

    def _changes(self, node: ast.AST, file: File) -> str:
        if isinstance(node, ast.BinOp):
            return self._computes(node.op, node.left, node.right, file)
        if isinstance(node, ast.AugAssign):
            return self._computes(node.op, node.target, node.value, file)
        if isinstance(node, ast.Call):
            return self._asks(node, file)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
            if self._is_truth(node.operand, file) and self.traced.is_traced(node.operand, file):
                return "does arithmetic with a bool, which JAX computes differently"
        if isinstance(node, ast.Attribute) and node.attr not in _OF_ALL_NUMBERS:
            if self.possible.of(node.value, file) == {NUMBER} and self.traced.is_traced(node.value, file):
                if node.attr in dir(0) or node.attr in dir(0.0):
                    return "uses an attribute of a Python number that arrays do not have"
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            rows = NUMPY in self.possible.of(node.value, file)
            if rows and self.traced.is_traced(node.slice, file) and NUMBER in self._values(node.slice, file):
                return (
                    "indexes a NumPy array: out of range, NumPy raises IndexError and JAX takes the last row"
                )
        return ""

    def _asks(self, node: ast.Call, file: File) -> str:
        name = self.possible.name_of(node.func, file)
        traced = [one for one in node.args if self.traced.is_traced(one, file)]
        if name in _TAKING_WIDE and any(
            self.possible.of(one, file) == {NUMBER} and self.number(one, file).is_too_wide for one in traced
        ):
            return _TOO_WIDE
        if not traced or traced[0] is not node.args[0]:
            return ""
        if name in _ROUNDING and NUMBER in self._values(node.args[0], file):
            return "computes with a Python number, which would become 32-bit"
        if name in ("isinstance", "type", "hasattr", "getattr"):
            values = self._values(node.args[0], file)
            if self._tells_tracers(name, node, values, file):
                return "distinguishes arrays from tracers"
        if name in ("isinstance", "type"):
            unsure = any(isinstance(one, Unknown | Made) for one in values) and self._asks_for_host(
                node, file
            )
            if values & {NUMBER, NUMPY} or unsure:
                return "tests the type of a JAX array"
        return ""

    def _tells_tracers(self, name: str, node: ast.Call, values: Set[object], file: File) -> bool:
        """Whether the result of the test changes at trace time."""
        if name == "type":
            return ARRAY in values
        if name == "isinstance":
            return any(
                self.possible.name_of(part, file) in _CLASSES
                for argument in node.args[1:]
                for part in ast.walk(argument)
                if isinstance(part, ast.Name | ast.Attribute)
            )
        asked = getattr(node.args[1], "value", "") if len(node.args) > 1 else ""
        return isinstance(asked, str) and (asked in _OF_ARRAYS_ALONE or asked in NEEDS_AN_ARRAY)

    def _asks_for_host(self, node: ast.Call, file: File) -> bool:
        """Whether `isinstance` tests for a Python number or a NumPy array."""
        return any(
            isinstance(part, ast.Name | ast.Attribute) and self.possible.name_of(part, file) in _HOST_TYPES
            for argument in node.args[1:]
            for part in ast.walk(argument)
        )

    def _values(self, node: ast.expr, file: File) -> frozenset[object]:
        return frozenset(leaf for part in _parts_of(node) for leaf in leaves_of(self.possible.of(part, file)))

    def _computes(self, op: ast.operator, left: ast.expr, right: ast.expr, file: File) -> str:
        both = (left, right)
        if not any(self._was_number(one, file) for one in both):
            return ""
        if not all(NUMBER in self.possible.of(one, file) for one in both):
            return ""
        first, second = (self.number(one, file) for one in both)
        if isinstance(op, ast.Add | ast.Sub) and all(self._is_truth(one, file) for one in both):
            if isinstance(op, ast.Sub):
                return "subtracts Python bools, where JAX raises TypeError"
            return "adds Python bools, and JAX returns a bool"
        if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)):
            if second.least <= 0 and not (second.literal and second.least):
                return "divides by a Python number that may be 0, where JAX raises no ZeroDivisionError"
            if not isinstance(op, ast.Div) and not (first.is_whole and second.is_whole):
                return "rounds a Python number, which would become 32-bit"
        elif isinstance(op, ast.Sub):
            if not (first.is_whole and second.is_whole) and not any(one.is_small for one in (first, second)):
                return "may subtract two large Python numbers, and 32 bits keep only seven digits"
        elif isinstance(op, ast.Mult):
            if first.may_be_whole and second.may_be_whole:
                if not any(one.is_small for one in (first, second)):
                    return "multiplies Python ints, which may not fit into 32 bits"
        elif isinstance(op, (ast.Pow, ast.LShift)) and first.may_be_whole and second.may_be_whole:
            return "creates a Python int that may not fit into 32 bits"
        elif isinstance(op, ast.Pow) and "?" not in first.kinds:  # otherwise it is usually a width or a rate
            if first.least < 0 and not second.is_whole:
                return "may be complex in Python, and NaN for an array"
            if first.least <= 0 and second.least < 0:
                return "may raise ZeroDivisionError in Python, and is inf for an array"
        if isinstance(op, _NARROWING) and (first.is_too_wide or second.is_too_wide):
            return _TOO_WIDE
        if isinstance(op, ast.Sub) and first.is_too_wide and second.is_too_wide:
            return _TOO_WIDE
        return ""

    def _was_number(self, node: ast.expr, file: File, seen: set[ast.AST] | None = None) -> bool:
        """Whether an expression may be a tracer in place of a Python number. A sum that begins as `0.0` is not: where it
        is a number, it is no tracer. `seen`: the bindings that were asked already."""
        seen = set() if seen is None else seen
        if not self.traced.is_traced(node, file) or NUMBER not in self._values(node, file):
            return False
        if isinstance(node, ast.BinOp):
            return self._joins_number(node.left, node.right, file, seen)
        if isinstance(node, ast.Name):
            bindings = assigned(node, file)
            return not bindings or any(self._binds_number(one.node, file, seen) for one in bindings)
        return True

    def _joins_number(self, left: ast.expr, right: ast.expr, file: File, seen: set[ast.AST]) -> bool:
        """Whether arithmetic with two operands may be a tracer in place of a number: a number with an array is an array."""
        both = (left, right)
        numbers = all(NUMBER in self._values(one, file) for one in both)
        return numbers and any(self._was_number(one, file, seen) for one in both)

    def _binds_number(self, node: ast.AST, file: File, seen: set[ast.AST]) -> bool:
        """The same for what a binding of a variable gives it."""
        if node in seen:  # a loop that adds to itself
            return False
        seen.add(node)
        above = file.names.parents.get(node)
        if isinstance(above, ast.AugAssign):
            return self._joins_number(above.target, above.value, file, seen)
        value = getattr(above, "value", None)
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr) and isinstance(value, ast.expr):
            return self._was_number(value, file, seen)
        return True  # a parameter, a loop's variable, a part of a tuple

    def _is_truth(self, node: ast.expr, file: File) -> bool:
        """Whether a number may be a truth value, as far as is known."""
        return "bool" in self.number(node, file).kinds and NUMBER in self.possible.of(node, file)

    # Facts about a number

    def number(self, node: ast.expr, file: File, depth: int = 0) -> Number:
        """The facts about an expression, if it is a number."""
        if depth > _DEPTH or node in self._open:
            return _ANY
        self._open.add(node)
        try:
            return self._number(node, file, depth + 1)
        finally:
            self._open.discard(node)

    def _number(self, node: ast.expr, file: File, depth: int) -> Number:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            value = float(node.value)
            return Number(
                frozenset({type(node.value).__name__}), value, literal=True, fits=abs(value) < _WIDEST
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.number(node.operand, file, depth)
            least = -inner.least if inner.literal else -math.inf
            return Number(inner.kinds, least, inner.literal, fits=inner.fits)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return _TRUTH
        if isinstance(node, ast.BoolOp):
            return _either([self.number(one, file, depth) for one in node.values])
        if isinstance(node, ast.BinOp):
            return _joined(node.op, *(self.number(one, file, depth) for one in (node.left, node.right)))
        if isinstance(node, ast.IfExp):
            return _either([self.number(one, file, depth) for one in (node.body, node.orelse)])
        if isinstance(node, ast.Name):
            return self._variable(node, file, depth)
        if isinstance(node, ast.Call):
            name = self.possible.name_of(node.func, file)
            if name == "len":
                return _LENGTH
            if name in ("float", "int", "abs") and len(node.args) == 1:
                inner = self.number(node.args[0], file, depth)
                least = inner.least
                if name != "float":
                    least = max(least, 0.0) if name == "abs" else math.floor(max(least, -1e300))
                kinds = inner.kinds if name == "abs" else frozenset({name})
                return Number(kinds, least, fits=inner.fits)
        if isinstance(node, ast.Subscript) and (items := self._items(node.value, file)):
            return _either([self.number(one, file, depth) for one in items])
        holder = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(holder, ast.Attribute) and holder.attr in ("shape", "size", "ndim"):
            return _LENGTH
        constant = _CONSTANTS.get(self.possible.name_of(node, file))
        return Number(frozenset({"float"}), constant, fits=True) if constant is not None else _ANY

    def _items(self, node: ast.expr, file: File) -> list[ast.expr]:
        """What a dict or a list may hold that one statement writes out, and nothing fills or hands on."""
        if not isinstance(node, ast.Name):
            return []
        scope = file.names.scope_at(node).resolve(node.id)
        bindings = scope.bindings.get(node.id, ()) if scope is not None else ()
        if scope is None or len(bindings) != 1:
            return []
        for _, use in self.possible.program.uses_of(node.id, scope, file):
            above = file.names.parents.get(use)
            if not (
                isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load) and above.value is use
            ):
                return []
        made = file.names.given(bindings[0].node)
        if isinstance(made, ast.Dict):
            return [one for one in made.values if None not in made.keys]
        if isinstance(made, ast.List | ast.Tuple):
            return [] if any(isinstance(one, ast.Starred) for one in made.elts) else made.elts
        return [made.value] if isinstance(made, ast.DictComp) else []

    def _variable(self, node: ast.Name, file: File, depth: int) -> Number:
        bindings = assigned(node, file)
        return _either([self._bound(one, file, depth) for one in bindings]) if bindings else _ANY

    def _bound(self, binding: Binding, file: File, depth: int) -> Number:
        node = binding.node
        if isinstance(node, ast.arg):
            return self._parameter(node, file, depth)
        above = file.names.parents.get(node)
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr) and above.value is not None:
            return self.number(above.value, file, depth)
        if isinstance(above, ast.AugAssign) and isinstance(above.op, ast.Add | ast.Mult):
            given = self.number(above.value, file, depth)
            if given.least >= (0 if isinstance(above.op, ast.Add) else 1):
                counts = isinstance(above.op, ast.Add) and given.is_small
                return Number(
                    _without_truth(given.kinds), math.inf, fits=counts
                )  # it increases the previous value
        if isinstance(above, ast.For | ast.comprehension) and above.target is node:
            return self._counted(above.iter, file, depth)
        loop = file.names.parents.get(above) if isinstance(above, ast.Tuple) else None
        if (
            isinstance(loop, ast.For | ast.comprehension)
            and isinstance(above, ast.Tuple)
            and above.elts[0] is node
        ):
            if isinstance(loop.iter, ast.Call) and self.possible.name_of(loop.iter.func, file) == "enumerate":
                return _COUNT
        return _ANY

    def _counted(self, node: ast.expr, file: File, depth: int) -> Number:
        if not (isinstance(node, ast.Call) and self.possible.name_of(node.func, file) == "range"):
            return _ANY
        if len(node.args) == 1:
            return _COUNT
        least = self.number(node.args[0], file, depth).least if len(node.args) == 2 else -math.inf
        return Number(frozenset({"int"}), least, fits=True)

    def _parameter(self, node: ast.arg, file: File, depth: int) -> Number:
        """From the arguments of all calls, a gradient's too, which hands numbers over as they are; the type also from a run."""
        function = function_around(node, file)
        if function is None or node not in parameters(function):
            return _ANY
        kind = self.seen.get(node.arg) if function is self.root else None
        given = [
            self.number(one, other, depth) if isinstance(one, ast.expr) else _ANY
            for one, other in self.possible.call_sites.arguments_for(function, node, file, GRADIENTS)
            if one is not None
        ]
        if (default := default_of(function, node)) is not None:
            given.append(self.number(default, file, depth))
        found = _either(given) if given else _ANY
        kinds = found.kinds - {"?"} | {kind} if kind else found.kinds
        return Number(kinds, found.least, fits=found.fits or kinds == {"bool"})


def _parts_of(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _without_truth(kinds: frozenset[str]) -> frozenset[str]:
    """The result types of arithmetic on these types: truth values give integers."""
    return kinds - {"bool"} | {"int"} if "bool" in kinds else kinds


def _either(numbers: list[Number]) -> Number:
    kinds = frozenset(kind for one in numbers for kind in one.kinds)
    only = len(numbers) == 1 and numbers[0].literal
    fits = all(one.fits for one in numbers)
    return Number(kinds, min(one.least for one in numbers), only, fits=fits)


def _joined(op: ast.operator, left: Number, right: Number) -> Number:
    kinds = _without_truth(left.kinds | right.kinds)
    one_is_float = {"float"} in (left.kinds, right.kinds)  # the other may be any number
    if isinstance(op, ast.Div) or one_is_float or ("float" in kinds and "?" not in kinds):
        kinds = frozenset({"float"})
    least = -math.inf
    signs = min(left.least, right.least)
    if isinstance(op, ast.Add):
        least = left.least + right.least
    elif isinstance(op, ast.Mult) and signs >= 0:
        least = left.least * right.least if math.isfinite(left.least * right.least) else 0.0
    elif isinstance(op, ast.Div) and signs >= 0:
        least = _TINY if left.least > 0 else 0.0
    elif isinstance(op, ast.Pow):
        even = right.literal and right.least % 2 == 0
        least = (
            1.0
            if left.least >= 1 and right.least >= 0
            else _TINY
            if left.least > 0
            else 0.0
            if even or left.least >= 0
            else least
        )
    fits = left.fits and right.fits and not isinstance(op, ast.Pow | ast.LShift)
    return Number(kinds, least, fits=fits)
