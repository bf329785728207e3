"""What `inspect --arrays` says of each variable: which array it is, by what the program makes it of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from jaxlint.source import SourceFile
from jaxlint.staging.analysis import Analysis, assume_calls, build, run
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.project import Module
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.values import Array, Function, NumpyArray, Origin, Value, is_none
from jaxlint.staging.values.arrays import Form, Shape
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.sizes import written
from jaxlint.syntax.facts import FunctionNode, all_parameters

MOST_SEEN = 64  # values of one variable at one place, before nothing is said of it
_SHORT = {
    "float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c",
}  # fmt: skip


@dataclass(slots=True)
class ArrayFacts:
    """One variable where it is bound: a parameter, or the target of an assignment.

    `dtype` is "" where it is not known; `shape` is None where the rank is not, and "?" stands in it for a size that is not.
    `function`: the function that it is in, as Python's `__qualname__`. `tracer`: JAX traces it there, wherever it was seen.
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

    def record(self) -> dict[str, object]:
        """The facts as JSON holds them."""
        return asdict(self)

    def written(self) -> str:
        """`f32[B, T, 4*D]`."""
        dtype = short_dtype(self.dtype) or "?"
        sizes = "..." if self.shape is None else ", ".join(self.shape)
        return f"{dtype}[{sizes}]" + (" weak" if self.weak else "") + (" tracer" if self.tracer else "")


def short_dtype(dtype: str) -> str:
    """`f32` for "float32"."""
    for name, letter in _SHORT.items():
        if dtype.startswith(name) and dtype[len(name) :].isdigit():
            return letter + dtype[len(name) :]
    return dtype


class SeenArrays:
    """Every value that a variable has been bound to, in all calls that were seen."""

    def __init__(self) -> None:
        self.forms: dict[tuple[ast.AST, str], Form] = {}
        self.given: dict[tuple[ast.AST, str], list[Value]] = {}  # by calls
        self.supposed: dict[tuple[ast.AST, str], list[Value]] = {}  # where no call was seen
        self.assigned: dict[ast.Name, tuple[Frame, list[Value], list[Value]]] = {}
        self.parameters: dict[tuple[ast.AST, str], Value] = {}  # as the function has them
        self.functions: dict[FunctionNode, Function] = {}

    def entered(
        self, called: Function, bound: dict[str, Value], context: str, caller: Frame | None
    ) -> dict[str, Value]:
        """The arguments of a call; what is an array has one shape in all calls, as far as they agree."""
        function = called.node
        self.functions.setdefault(function, called)
        seen = context == "call" and not (caller is not None and _is_supposed(caller))
        renewed = dict(bound)
        for name, value in bound.items():
            values = self.given.setdefault((function, name), [])
            if not seen:
                self.supposed.setdefault((function, name), []).append(value)
            known = self.forms.get((function, name))
            recursive = isinstance(value, Array) and value.form is not None and value.form is known
            if seen and len(values) <= MOST_SEEN and not recursive:
                values.append(value)
            if type(value) is Array and not value.tree:
                form = self.forms.get((function, name))
                if form is None:
                    form = self.forms[function, name] = Form("either", values)
                renewed[name] = replace(value, origin=value.origin or Origin(name), form=form)
                self.parameters.setdefault((function, name), renewed[name])
        return renewed

    def bind(self, target: ast.Name, value: Value, frame: Frame) -> None:
        """An assignment."""
        seen = self.assigned.get(target)
        if seen is None:
            seen = self.assigned[target] = (frame, [], [])
        values = seen[2] if _is_supposed(frame) else seen[1]
        if len(values) <= MOST_SEEN:
            values.append(value)


def _is_supposed(frame: Frame) -> bool:
    """Whether no call leads there that was seen: a function that is entered by itself, or where it is transformed."""
    return any(one.context not in ("", "call") for one in (frame, *frame.callers()))


def inspect_arrays(
    files: Sequence[SourceFile], context: Sequence[SourceFile] = ()
) -> tuple[list[ArrayFacts], Analysis]:
    """What is known of the arrays in `files`, by path and line; the second value carries files that failed."""
    interpreter = build(files, Listeners())
    interpreter.observes = True
    seen = SeenArrays()
    interpreter.arrays_seen = seen
    interpreter.project.add_context(context)
    result = Analysis()
    with_deep_stack(lambda: run(interpreter, result))
    with_deep_stack(lambda: assume_calls(interpreter, result))
    result.errors.extend(interpreter.errors)
    facts: list[ArrayFacts] = []
    with_deep_stack(lambda: facts.extend(facts_of(seen)))
    reported = {module.display for module in interpreter.project.targets}
    facts = [fact for fact in facts if fact.path in reported]
    return sorted(facts, key=lambda fact: (fact.path, fact.line, fact.column)), result


def facts_of(seen: SeenArrays) -> Iterable[ArrayFacts]:
    for target, (frame, called_with, others) in seen.assigned.items():
        function = frame.function.qualname if frame.function is not None else ""
        fact = _fact(called_with or others, frame.module, function, target.id, target)
        if fact is not None and (fact.dtype or fact.shape is not None):
            yield fact
    for node, called in seen.functions.items():
        for parameter in all_parameters(node):
            place = (node, parameter.arg)
            values = seen.given.get(place) or seen.supposed.get(place, [])
            fact = _fact(values, called.module, called.qualname, parameter.arg, parameter)
            inside = seen.parameters.get(place)
            if fact is not None and inside is not None:
                fact.shape = _common([symbolic_shape(inside)])
            if fact is not None and (fact.dtype or fact.shape is not None):
                yield fact


def _fact(
    values: Sequence[Value], module: Module, function: str, name: str, node: ast.Name | ast.arg
) -> ArrayFacts | None:
    """What all values have in common; None where one of them may be no array."""
    arrays = [value for value in values if not is_none(value)]
    if not arrays or len(values) > MOST_SEEN or not all(map(_is_one_array, arrays)):
        return None
    dtypes = {dtype_of(value) for value in arrays}
    dtype = dtypes.pop() if len(dtypes) == 1 else ""
    shape = _common([symbolic_shape(value) for value in arrays])
    return ArrayFacts(
        module.display,
        node.lineno,
        node.col_offset,
        name,
        function,
        {"float*": "float32", "int*": "int32", "complex*": "complex64"}.get(dtype, dtype),
        shape,
        dtype.endswith("*"),
        all(isinstance(value, Array) and value.staged for value in arrays),
    )


def _is_one_array(value: Value) -> bool:
    """Whether it is an array, and no tree of them: what a layer gives may be either, but where its shape is known."""
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
