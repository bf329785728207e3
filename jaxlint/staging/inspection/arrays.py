"""`inspect --arrays`: which array each variable is, from the operation that creates it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from jaxlint.jaxapi.dtypes import strong
from jaxlint.source import SourceFile
from jaxlint.staging.analysis import Analysis
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine
from jaxlint.staging.inspection import FunctionFacts, evaluated, functions_in, observing
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.module import Module
from jaxlint.staging.reach.tracer_sources import TracerSources
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import argument_form, form_of
from jaxlint.staging.values import (
    Array,
    Function,
    NumpyArray,
    Origin,
    Unknown,
    Value,
    is_none,
)
from jaxlint.staging.values.arrays import Form, Shape
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.sizes import Size, Symbol, symbol, symbols_of, written
from jaxlint.syntax.facts import all_parameters, positional_parameters

MOST_SHOWN = 4  # arrays that one variable may be
MOST_SEEN = 64  # values of one variable at one place; of more, the sizes are not kept apart, of twice as many nothing is said
_SHORT = {
    "float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c",
}  # fmt: skip


@dataclass(slots=True)
class Case:
    """One array that a variable may be. `dtype` and `shape`: as in ArrayFacts."""

    dtype: str
    shape: list[str] | None

    def written(self, weak: bool = False) -> str:
        """`f32[B, T, 4*D]`."""
        sizes = "..." if self.shape is None else ", ".join(self.shape)
        return f"{short_dtype(self.dtype) or '?'}[{sizes}]" + (" weak" if weak else "")


@dataclass(slots=True)
class ArrayFacts:
    """One variable at its binding: a parameter, or the target of an assignment.

    `dtype` is "" if unknown. `shape` is None if the rank is unknown, and contains "?" for unknown sizes. `function`:
    the enclosing function, as Python's `__qualname__`. `tracer`: JAX traces it in every context. `cases`: if it is
    one of several arrays, each of them; `dtype` and `shape` are then their common part. `complete`: it is no other
    array. If it may be, `cases` holds the known ones, and `dtype` and `shape` say nothing.
    """

    path: str
    line: int
    column: int
    name: str
    function: str
    dtype: str
    shape: list[str] | None
    weak: bool
    tracer: bool
    cases: list[Case] = field(default_factory=list)
    complete: bool = True

    def record(self) -> dict[str, object]:
        """The facts as JSON data."""
        return asdict(self)

    @property
    def known(self) -> bool:
        """Whether more is known than that it is a tracer."""
        return bool(self.dtype or self.shape is not None or self.cases)

    def written(self) -> str:
        """`f32[B, T, 4*D]`; `f32[3] | i32[2, 3]` for one of two, and `f32[3] | ...` for one of unknown others."""
        whole = not self.cases or (self.dtype and self.shape is not None and "?" not in self.shape)
        shown = [Case(self.dtype, self.shape)] if whole else self.cases[:MOST_SHOWN]
        more = " | ..." if not self.complete or (len(shown) < len(self.cases) and not whole) else ""
        return " | ".join(one.written(self.weak) for one in shown) + more + (" tracer" if self.tracer else "")


def short_dtype(dtype: str) -> str:
    """`f32` for "float32"."""
    for name, letter in _SHORT.items():
        if dtype.startswith(name) and dtype[len(name) :].isdigit():
            return letter + dtype[len(name) :]
    return dtype


# How a value came about: by calls that the program makes, in a function that is entered with unknown arguments, or in
# one that is called by guess or only traced where it is transformed.
CALLED, ENTERED, SUPPOSED = range(3)


@dataclass(slots=True)
class Place:
    """The values that were bound to one variable of one function, by how they came about."""

    module: Module
    function: str
    within: ast.AST | None  # the function, None at the top of a module
    by_kind: tuple[list[Value], list[Value], list[Value]] = field(default_factory=lambda: ([], [], []))
    kinds: set[object] = field(default_factory=set)

    def add(self, value: Value, how: int) -> None:
        """Adds a value, unless another one says the same. Beyond MOST_SEEN, arrays of one dtype and rank are one."""
        values = self.by_kind[how]
        if len(values) >= MOST_SEEN:
            value = _without_sizes(value)
        kind = (how, _kind(value))
        if kind not in self.kinds and len(values) <= 2 * MOST_SEEN:
            self.kinds.add(kind)
            values.append(value)

    @property
    def values(self) -> list[Value]:
        """The values of the surest kind that there are."""
        return next((values for values in self.by_kind if values), [])


def _without_sizes(value: Value) -> Value:
    shape = symbolic_shape(value) if isinstance(value, (Array, NumpyArray)) else None
    if shape is None:
        return value
    staged = isinstance(value, Array) and value.staged
    return Array(staged, dtype=dtype_of(value), form=form_of(tuple(symbol("?") for _ in shape)))


def _kind(value: Value) -> object:
    """A key that is equal for values with the same facts."""
    if not isinstance(value, (Array, NumpyArray)):
        return "none" if is_none(value) else "other"
    shape = symbolic_shape(value)
    sizes = None if shape is None else tuple(map(written, shape))
    one = not isinstance(value, Array) or not value.tree
    return dtype_of(value), sizes, one, isinstance(value, Array) and value.staged


class SeenArrays:
    """All values that each variable was bound to, in all evaluated calls."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.places: dict[ast.Name | ast.arg, Place] = {}
        # The forms of the arguments of each function's last call, whose sizes have names such as `x.0`.
        self.arguments: dict[ast.AST, list[Form]] = {}
        self.bounded: set[ast.AST] = set()  # functions with calls that were not evaluated

    def left_out(self, called: Function) -> None:
        """A call that is not evaluated, since there are too many: the function binds other values too."""
        self.bounded.add(called.node)

    def with_other_values(self, edges: Mapping[ast.AST, set[ast.AST]]) -> set[ast.AST]:
        """The functions that calls which were not evaluated reach."""
        found: set[ast.AST] = set()
        queue = list(self.bounded)
        while queue:
            function = queue.pop()
            if function not in found:
                found.add(function)
                queue.extend(edges.get(function, ()))
        return found

    def entered(
        self, called: Function, bound: dict[str, Value], context: str, caller: Frame | None
    ) -> dict[str, Value]:
        """The arguments of a call, each array with its known shape."""
        how = _way_of_entry(called, bound, context) if caller is None else self.way_of(caller)
        if self.machine.guessing or (caller is not None and context != "call"):
            how = SUPPOSED
        renewed = dict(bound)
        forms = self.arguments[called.node] = []
        for parameter in all_parameters(called.node):
            name = parameter.arg
            value = bound.get(name)
            if value is None:
                continue
            if type(value) is Array and not value.tree:
                form = argument_form(value)
                value = renewed[name] = replace(value, origin=value.origin or Origin(name), form=form)
                if form is not None:
                    forms.append(form)
            place = self.places.get(parameter)
            if place is None:
                place = self.places[parameter] = Place(called.module, called.qualname, called.node)
            place.add(value, how)
        return renewed

    def bind(self, target: ast.Name, value: Value, frame: Frame) -> None:
        """An assignment."""
        place = self.places.get(target)
        if place is None:
            function, node = frame.function, None if frame.function is None else frame.function.node
            name = "" if function is None else function.qualname
            place = self.places[target] = Place(frame.module, name, node)
        place.add(self.in_names_of(frame, value), self.way_of(frame))

    def in_names_of(self, frame: Frame, value: Value) -> Value:
        """An array without the sizes that are named after the arguments of other functions."""
        shape = symbolic_shape(value) if isinstance(value, (Array, NumpyArray)) else None
        if shape is None or not any("." in written(size) for size in shape):
            return value
        forms = self.arguments.get(frame.function.node, []) if frame.function is not None else []
        own = {atom for form in forms for size in form.symbols.values() for atom in symbols_of(size)}
        local = [symbol("?") if _named(size) - own else size for size in shape]
        if all(new is old for new, old in zip(local, shape, strict=True)):
            return value
        form = Form("declared")
        form.asked, form.shape = True, tuple(local)
        staged = isinstance(value, Array) and value.staged
        return Array(staged, dtype=dtype_of(value), form=form)

    def way_of(self, frame: Frame) -> int:
        """How the values in an activation came about."""
        if self.machine.guessing:
            return SUPPOSED
        how = CALLED
        for one in (frame, *frame.callers()):
            if one.context in ("", "call"):
                continue
            if one.context != "entry" or one.function is None:
                return SUPPOSED
            how = max(how, _way_of_entry(one.function, one.scope.variables, one.context))
        return how


def _named(size: Size) -> set[Symbol]:
    """The symbols in a size that are named after arguments."""
    return {atom for atom in symbols_of(size) if "." in atom.name}


def _way_of_entry(function: Function, bound: Mapping[str, Value], context: str) -> int:
    """How a function without a caller is entered: with unknown arguments, unless it takes none. Arguments from tables
    and fixtures of tests are real."""
    if context != "entry":
        return CALLED if context == "call" else SUPPOSED
    arguments = function.node.args
    if not function.module.is_test and (function.cls is not None or arguments.vararg or arguments.kwarg):
        return ENTERED
    receiver = positional_parameters(function.node)[:1] if function.cls is not None else []
    parameters = [one for one in all_parameters(function.node) if one not in receiver]
    return ENTERED if any(type(bound.get(one.arg)) is Unknown for one in parameters) else CALLED


def inspect_arrays(
    files: Sequence[SourceFile], context: Sequence[SourceFile] = ()
) -> tuple[list[ArrayFacts], Analysis]:
    """The facts about the arrays in `files`, by path and line, and the files that failed."""
    interpreter = observing(files, context)
    seen = see_arrays(interpreter)
    result = evaluated(interpreter)
    return arrays_in(interpreter, seen), result


def inspect_names(
    files: Sequence[SourceFile], context: Sequence[SourceFile] = ()
) -> tuple[list[FunctionFacts], list[ArrayFacts]]:
    """The facts about functions, with the calls that pass tracers, and about arrays and tracers, from one evaluation.

    A tracer whose dtype and rank are unknown is among the arrays, and so is a pytree of tracers.
    """
    interpreter = observing(files, context)
    interpreter.tracer_sources = TracerSources()
    seen = see_arrays(interpreter)
    evaluated(interpreter)
    return functions_in(interpreter), arrays_in(interpreter, seen, tracers=True)


def see_arrays(interpreter: Interpreter) -> SeenArrays:
    """Makes an interpreter record arrays, and returns the record."""
    seen = SeenArrays(interpreter)
    interpreter.arrays_seen = seen
    interpreter.exact = True
    return seen


def arrays_in(interpreter: Interpreter, seen: SeenArrays, tracers: bool = False) -> list[ArrayFacts]:
    """The facts about the arrays in the evaluated files, by path and line; with `tracers` also those that are only
    known to be tracers."""
    facts: list[ArrayFacts] = []
    with_deep_stack(lambda: facts.extend(facts_of(seen, tracers)))
    reported = {module.display for module in interpreter.project.targets}
    facts = [fact for fact in facts if fact.path in reported]
    return sorted(facts, key=lambda fact: (fact.path, fact.line, fact.column))


def facts_of(seen: SeenArrays, tracers: bool = False) -> Iterable[ArrayFacts]:
    others = seen.with_other_values(seen.machine.part(FunctionCalls).edges)
    for node, place in seen.places.items():
        fact = _fact(place, node, whole=place.within not in others)
        if fact is not None and fact.known:
            yield fact
        elif tracers and _is_tracer(place):
            function, name = place.function, node.id if isinstance(node, ast.Name) else node.arg
            yield ArrayFacts(
                place.module.display, node.lineno, node.col_offset, name, function, "", None, False, True
            )


def _is_tracer(place: Place) -> bool:
    """Whether each value is a tracer, or a pytree of tracers."""
    values = place.values
    return 0 < len(values) <= 2 * MOST_SEEN and all(isinstance(one, Array) and one.staged for one in values)


def _fact(place: Place, node: ast.Name | ast.arg, whole: bool) -> ArrayFacts | None:
    """The common part of all values, and each of them. If some may be no array or nothing is known of them, the facts
    are not complete; None if that holds for all. `whole`: there are no other values."""
    values = [value for value in place.values if not is_none(value)]
    full = len(values) > 2 * MOST_SEEN
    arrays = [value for value in values if _is_one_array(value)]
    complete = whole and not full and len(arrays) == len(values)
    if not complete:
        arrays = [value for value in arrays if dtype_of(value) or symbolic_shape(value) is not None]
    if not arrays:
        return None
    shapes = [symbolic_shape(value) for value in arrays]
    dtypes = [dtype_of(value) for value in arrays]
    kinds = {strong(dtype) for dtype in dtypes}
    dtype = kinds.pop() if len(kinds) == 1 else ""
    cases: dict[tuple[str, tuple[str, ...] | None], None] = {}
    for one, shape in zip(dtypes, shapes, strict=True):
        cases[strong(one), None if shape is None else tuple(written(size) for size in shape)] = None
    each = [Case(one, None if shape is None else list(shape)) for one, shape in cases]
    return ArrayFacts(
        place.module.display,
        node.lineno,
        node.col_offset,
        node.id if isinstance(node, ast.Name) else node.arg,
        place.function,
        dtype if complete else "",
        _common(shapes) if complete else None,
        all(one.endswith("*") for one in dtypes),
        all(isinstance(value, Array) and value.staged for value in values),
        each if len(each) > 1 or not complete else [],
        complete,
    )


def _is_one_array(value: Value) -> bool:
    """Whether it is a single array and not a tree: the result of a layer may be either unless its shape is known."""
    if isinstance(value, Array) and value.tree:
        return symbolic_shape(value) is not None
    return isinstance(value, (Array, NumpyArray))


def _common(shapes: Sequence[Shape | None]) -> list[str] | None:
    first = shapes[0]
    if first is None:
        return None
    found = [written(size) for size in first]
    for shape in shapes[1:]:
        if shape is None or len(shape) != len(first):
            return None
        found = [text if one == other else "?" for text, one, other in zip(found, first, shape, strict=True)]
    return found
