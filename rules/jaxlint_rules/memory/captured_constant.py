"""Large arrays that a jitted function captures as constants."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from jaxlint.api import Reporter, Rule, StaticArgumentEvent, TransformEvent
from jaxlint.api.syntax import all_parameters, dotted, name_loads, names_stored, nodes_of
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
    Value,
    least_size,
)
from jaxlint.finding import Severity
from jaxlint_rules._compiled_methods import captured_self, reads_of_self
from jaxlint_rules._cost import PLAIN, level_of_bytes
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules.memory._sizes import ARRAYS, Size, size_of, size_of_attribute, size_of_name
from jaxlint_rules.memory._weights import weights_of

WHOLE_MODEL: Size = -1.0
MAX_CALLS = 3  # depth to which callees are followed
LARGE = 1 << 16  # elements; 256 KiB of float32
Captured = tuple[str, Size, ast.AST]  # its name, and where it is read


class CapturedConstant(Rule):
    """A jitted function captures a large array.

    ## What it does
    Finds jitted functions that read one of these from an enclosing scope instead of taking it as an
    argument: an array of 65,536 elements or more, an array loaded from a file, or the variables of
    a flax or haiku module. Arrays bound by `functools.partial`, and arrays that a method with a
    static or bound `self` reads, count too.

    ## Why is this bad?
    A captured array becomes a constant of the compiled program. JAX copies it into the program,
    keeps it in memory beside the original, hashes it and sends it to the compiler. Capturing 16 MB
    made the program's text 34 MB long and compilation five times as long. Later changes of the
    array are not seen.

    ## Example
    ```python
    table = jnp.asarray(np.load("table.npy"))

    @jax.jit
    def look_up(i):
        return table[i]
    ```

    ## Use instead
    ```python
    @jax.jit
    def look_up(table, i):
        return table[i]
    ```

    ## Fix safety
    There is no automatic fix: the callers must pass the array.

    ## When not to fix
    Keep it if the array must be known at compile time. Not reported: elements of a NumPy array that
    an unrolled loop reads by its counter (`table[i]`), since the program contains these alone.
    Reported as advice: arrays of less than 4 MB; those of a file may have any size.

    ## References
    - [JAX: captured constants](https://docs.jax.dev/en/latest/internals/constants.html)
    """

    code = "JAX603"
    name = "captured-constant"
    category = "memory"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.methods: list[TransformEvent] = []
        # What static parameters get, by what compiles their function.
        self.held: dict[ast.AST, dict[str, list[Instance]]] = {}

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        if isinstance(event.value, Instance) and event.value.staged is None:
            held = self.held.setdefault(event.transformed.node, {}).setdefault(event.parameter, [])
            if not any(one is event.value for one in held):
                held.append(event.value)

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind not in JIT_KINDS or event.frame.stage.staged or report.module.is_test:
            return
        self.methods.append(event)
        target: Value = transformed.target
        found: list[Captured] = []
        node: ast.AST = event.node
        while isinstance(target, Transformed) and target.kind not in JIT_KINDS:
            node, target = target.node, target.target
        if isinstance(target, Partial) and isinstance(node, ast.Call) and node.args:
            found += _bound(target, node, event, report)
        target = _innermost(target)
        if isinstance(target, Function):
            found += self.captured(target, report)
        elif (
            transformed.kind == "jit" and weights_of(target) >= LARGE
        ):  # equinox passes its argument as arguments
            found.append((transformed.label, WHOLE_MODEL, event.node))
        self.tell(event, found, report)

    def finish(self, report: Reporter) -> None:
        """Methods that hold `self`, once the classes are complete."""
        for event in self.methods:
            report.event = event
            cls, method, _ = captured_self(event, report)
            bound = _innermost(event.transformed.target)
            owner = bound.receiver if isinstance(bound, BoundMethod) else None
            if isinstance(owner, Instance) and owner.staged is None and isinstance(bound, BoundMethod):
                cls, method = owner.cls, bound.function if isinstance(bound.function, Function) else None
            found = self.held_by_arguments(event, report)
            if cls is not None and method is not None and method.module is report.module:
                fields = owner.fields if isinstance(owner, Instance) else {}
                for name, (read, _) in dict(reads_of_self(cls, method, set())).items():
                    if not _asks_metadata(read, report):
                        size = _size_held(cls, fields.get(name), name, report)
                        if event.transformed.kind == "jit" and weights_of(fields.get(name)) >= LARGE:
                            size = WHOLE_MODEL
                        found.append((f"self.{name}", size, read))
            self.tell(event, found, report)

    def held_by_arguments(self, event: TransformEvent, report: Reporter) -> list[Captured]:
        """The arrays of static arguments that the function, or a method of theirs that it calls, reads."""
        function = _innermost(event.transformed.target)
        if not isinstance(function, Function) or function.module is not report.module:
            return []
        found: list[Captured] = []
        for parameter, objects in self.held.get(event.node, {}).items():
            largest: dict[str, Captured] = {}
            for owner in objects:
                for name, read, place in _reads_of(function, parameter, owner):
                    part = (f"{parameter}.{name}", _size_of(owner.fields.get(name)), place)
                    if not _asks_metadata(read, report):
                        largest[name] = max(part, largest.get(name, part), key=lambda one: one[1])
            found += largest.values()
        return found

    @staticmethod
    def tell(event: TransformEvent, found: list[Captured], report: Reporter) -> None:
        known: dict[str, Captured] = {}
        for part in found:  # one may be known by its value and by its source
            known[part[0]] = max(known.get(part[0], part), part, key=lambda one: one[1])
        large = [part for part in known.values() if part[1] >= LARGE or part[1] == WHOLE_MODEL]
        if not large:
            return
        name, size, node = max(large, key=lambda part: part[1])
        # All of them are constants of one program. One may be read in several functions.
        sizes = {(part[0], part[1]) for part in large if part[1] != WHOLE_MODEL}
        together = sum(part[1] for part in sizes)
        if size == WHOLE_MODEL:
            amount = "variables of a model"
        else:
            amount = "an array from a file" if math.isinf(size) else f"{int(size):,} elements"
            if level_of_bytes(4 * size) is not level_of_bytes(4 * together):
                amount += f", with others {int(together):,}"
        transformed = event.transformed
        report(
            node,
            f"`{transformed.label}` captures `{name}` ({amount}) as a constant; pass it in",
            reason=f"{transformed.why.explain(report.module)}; `{name}` is not a traced argument",
            severity=None if size == WHOLE_MODEL else level_of_bytes(4 * together),
            shown=size != WHOLE_MODEL and level_of_bytes(4 * together / PLAIN) is None,
        )

    def captured(
        self, function: Function, report: Reporter, seen: dict[ast.AST, int] | None = None, depth: int = 0
    ) -> list[Captured]:
        """The captured values that it reads, directly or through the functions that it calls."""
        seen = {} if seen is None else seen
        if function.module is not report.module or seen.get(function.node, MAX_CALLS + 1) <= depth:
            return []  # too deep, or visited: thousands of ways may lead to one function
        seen[function.node] = depth
        through: list[Captured] = []
        own = {parameter.arg for parameter in all_parameters(function.node)}
        own |= names_stored(function.node)
        found: dict[str, Captured] = {}
        for child in name_loads(function.node):
            if child.id in own or child.id in found or _asks_metadata(child, report):
                continue
            held = function.scope.value_of(child.id)
            if isinstance(held, Function) and _is_called(child, report):
                through += self.captured(held, report, seen, depth + 1)
            if not isinstance(held, Array) and _is_read_on_host(child, function.node, report):
                continue
            if (
                isinstance(held, ARRAYS)
                and not getattr(held, "staged", False)
                and not _is_parameter(child, function.node, report)
            ):
                size = max(
                    size_of_name(child.id, function.scope, report.module),
                    _size_of(held),
                    _size_written(held, report),
                )
                if _is_variables(held):
                    size = WHOLE_MODEL
                found[child.id] = (child.id, size, child)
            elif isinstance(held, (Instance, ExternalObject)) and held.staged is None:
                if weights_of(held) >= LARGE and _is_whole(child, report):
                    found[child.id] = (child.id, WHOLE_MODEL, child)
                elif isinstance(held, Instance):
                    through += _read_of(held, child, report)
            elif isinstance(held, Partial):
                size = _worst([*held.args, *held.kwargs.values()])
                found[child.id] = (child.id, size, child)
        return [*found.values(), *through]


def _bound(partial: Partial, jit: ast.Call, event: TransformEvent, report: Reporter) -> list[Captured]:
    """The bound values of a jitted partial; arrays that the caller received have no better place than the call."""
    made, values = jit.args[0], [*partial.args, *partial.kwargs.values()]
    if not isinstance(made, ast.Call):
        return [(dotted(made) or "the partial", _worst(values), jit)]
    nodes = [*made.args[1:], *(keyword.value for keyword in made.keywords)]
    known: list[Value] = values if len(values) == len(nodes) else [UNKNOWN] * len(nodes)
    return [
        (node.id, _worst([value], size_of_name(node.id, event.frame.scope, report.module)), jit)
        for node, value in zip(nodes, known, strict=True)
        if isinstance(node, ast.Name)
    ]


def _worst(values: list[Value], known: Size = 0) -> Size:
    """The size to report for values that are captured together; `known` are the sizes from their source."""
    whole = any(map(_is_variables, values))
    return WHOLE_MODEL if whole else max([known, *map(_size_of, values)])


def _innermost(target: Value) -> Value:
    """The function under partials and transformations other than jit."""
    while isinstance(target, Partial) or (isinstance(target, Transformed) and target.kind not in JIT_KINDS):
        target = target.function if isinstance(target, Partial) else target.target
    return target


def _size_held(cls: ClassValue, held: Value | None, name: str, report: Reporter) -> Size:
    """The number of elements in an object's attribute `name`, by its value or its constructor; 0 if unknown."""
    maker = cls.lookup("__init__")
    written: Size = 0
    if isinstance(maker, Function) and isinstance(maker.node, ast.FunctionDef):
        if maker.module is report.module:
            written = size_of_attribute(maker.node, name, maker.scope, report.module)
    return max(written, _size_of(held))


def _size_of(value: Value | None) -> Size:
    """The number of elements in a concrete array, or in a container's arrays; 0 if unknown."""
    if isinstance(value, (DictValue, ListValue, TupleValue)):
        return sum(map(_size_of, value.elements()))
    return least_size(value) if isinstance(value, Array) and not value.staged else 0


def _size_written(value: Value, report: Reporter) -> Size:
    """The number of elements of an array converted from a NumPy array elsewhere in the file, by the source that
    created it."""
    made = value.made if isinstance(value, Array) and not value.staged else None
    if made is None or made.name not in ("array", "asarray") or not isinstance(made.node, ast.Call):
        return 0
    return size_of(made.node, report.globals, report.module)


def _read_of(owner: Instance, name: ast.Name, report: Reporter) -> list[Captured]:
    """The arrays in an object's attribute, `model.table`, or those that its method reads: `model.loss`.

    A called object means its `__call__`: `model(x)`.
    """
    read: ast.AST | None = report.module.parents.get(name)
    if isinstance(read, ast.Attribute):
        attribute = read.attr
    elif isinstance(read, ast.Call) and read.func is name:
        attribute, read = "__call__", name
    else:
        return []
    method = owner.cls.lookup(attribute)
    names = [attribute] if method is None else []
    if isinstance(method, Function):
        names = [
            held
            for held, (place, _) in reads_of_self(owner.cls, method, set())
            if not _asks_metadata(place, report)
        ]
    return [
        (f"{name.id}.{held}", _size_held(owner.cls, owner.fields.get(held), held, report), read)
        for held in names
    ]


def _reads_of(
    function: Function, parameter: str, owner: Instance
) -> Iterator[tuple[str, ast.Attribute, ast.Attribute]]:
    """The attributes that a function reads of an object in a parameter, also through the methods of the object: the name,
    where it is read, and the place in the function."""
    for read in nodes_of(function.node, ast.Attribute):
        if isinstance(read.value, ast.Name) and read.value.id == parameter and isinstance(read.ctx, ast.Load):
            method = owner.cls.lookup(read.attr)
            if isinstance(method, Function):
                for name, (place, _) in reads_of_self(owner.cls, method, set()):
                    yield name, place, place if method.module is function.module else read
            else:
                yield read.attr, read, read


def _is_called(node: ast.Name, report: Reporter) -> bool:
    """Whether the function is called, or passed to code that probably calls it."""
    return isinstance(report.module.parents.get(node), ast.Call)


def _is_variables(value: Value) -> bool:
    """The result of `init` of a flax or haiku module."""
    if not isinstance(value, Array) or not value.certain:
        return False
    return value.role == "variables" or (value.made is not None and value.made.name == "hk.init")


def _is_parameter(node: ast.Name, owner: ast.AST, report: Reporter) -> bool:
    """Whether the name is a parameter of a function or lambda between it and `owner`."""
    for ancestor in report.module.ancestors(node):
        if ancestor is owner:
            return False
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and any(
            parameter.arg == node.id for parameter in all_parameters(ancestor)
        ):
            return True
    return False


def _is_read_on_host(node: ast.Name, owner: ast.AST, report: Reporter) -> bool:
    """`table[i]` of a NumPy array in a loop over `range`: the number is a constant of the program, the array is not."""
    parent = report.module.parents.get(node)
    if not isinstance(parent, ast.Subscript) or parent.value is not node:
        return False
    counted = {
        name for loop in nodes_of(owner, ast.For) if _counts(loop.iter) for name in names_in(loop.target)
    }
    return (
        not any(isinstance(part, ast.Slice) for part in ast.walk(parent.slice))
        and names_in(parent.slice) <= counted
    )


def _counts(iterable: ast.expr) -> bool:
    return isinstance(iterable, ast.Call) and dotted(iterable.func) == "range"


def _is_whole(node: ast.Name, report: Reporter) -> bool:
    """Whether a module is read with its weights: not one attribute, nor the weightless part in `combine`."""
    parent = report.module.parents.get(node)
    together = isinstance(parent, ast.Call) and last_name(parent.func) in ("combine", "merge")
    return not together and not isinstance(parent, ast.Attribute)


def _asks_metadata(node: ast.expr, report: Reporter) -> bool:
    parent = report.module.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "ndim", "dtype", "size")
