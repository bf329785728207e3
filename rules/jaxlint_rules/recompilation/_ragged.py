"""Arrays that project functions create as long as their data: padded to the longest of a batch, collected until the
end."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from jaxlint.api import Frame
from jaxlint.api.syntax import all_parameters, cache, dotted, nodes_of, walk
from jaxlint.api.values import Function, short_source
from jaxlint_rules._callables import function_called
from jaxlint_rules._loops import assigned_once, loop_variables, rebound
from jaxlint_rules._names import last_name, names_in

_FILLED = frozenset({"zeros", "ones", "empty", "full"})
STACKING = frozenset({"array", "asarray", "stack", "concatenate", "vstack"})
_DRAWS = frozenset({"integers", "randint", "randrange"})
CONVERTING = frozenset({"array", "asarray"})
# String methods that return as many parts as the text has.
_TEXT = frozenset({"split", "encode", "tokenize", "rsplit", "splitlines"})
_SEARCHES = frozenset({"nonzero", "where", "flatnonzero", "argwhere"})
_LENGTHENING = frozenset({"append", "extend", "insert"})
PADS = "pads to the longest"
_PARTS = "returns an array"
_DEPTH = 2  # functions between the loop and the array's creation


def ragged(argument: ast.expr, loop: ast.AST, frame: Frame) -> str:
    """Why an argument has another length in each iteration: a function creates it for this one; "" if that is
    unknown."""
    position: int | None = None
    made: ast.expr | None = argument
    if isinstance(argument, ast.Name):
        made, position = binding(argument.id, loop)
    if not isinstance(made, ast.Call):
        return ""
    function = function_called(made, frame)
    if function is None:
        return ""
    iterated = made is getattr(loop, "iter", None)
    why = _length_of(function, position, frame, 0, iterated)
    if why.startswith((PADS, _PARTS)) and not iterated and not names_in(made) & _moving(loop):
        return ""  # the same data each time
    return f"`{function.name}` {why}" if why else ""


def drawn(argument: ast.expr, loop: ast.AST, frame: Frame) -> str:
    """Why an argument has another shape in each iteration: its size is a random number; "" if that is unknown."""
    made = binding(argument.id, loop)[0] if isinstance(argument, ast.Name) else argument
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "astype":
        made = made.func.value
    for size in _sizes(made):
        for name in sorted(names_in(size)):
            bound = assigned_once(loop).get(name)
            if bound is not None and _is_random(bound, frame):
                return f"its size `{name}` is random"
    return ""


def _sizes(made: ast.expr | None) -> Iterator[ast.expr]:
    """The expressions of an array's size: `size=` and `shape=` of a call, the shape of a new array, the end of a
    slice."""
    if isinstance(made, ast.Call):
        yield from (keyword.value for keyword in made.keywords if keyword.arg in ("size", "shape"))
        if last_name(made.func) in _FILLED and made.args:
            yield made.args[0]
    elif isinstance(made, ast.Subscript):
        for part in made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]:
            if isinstance(part, ast.Slice) and part.lower is None and part.upper is not None:
                yield part.upper


def _is_random(node: ast.expr, frame: Frame, depth: int = 0) -> bool:
    """`rng.integers(20, 60)`, `int(...)` of it, or a project function that returns one."""
    if not isinstance(node, ast.Call) or depth > _DEPTH:
        return False
    if last_name(node.func) in _DRAWS:
        return True
    if dotted(node.func) in ("int", "max", "min"):
        return any(_is_random(argument, frame, depth + 1) for argument in node.args)
    function = function_called(node, frame)
    given = list(results(function.node, False)) if function is not None else []
    return bool(given) and all(_is_random(result, frame, depth + 1) for result in given)


def _moving(loop: ast.AST) -> frozenset[str]:
    """The names that an iteration binds, its variable included."""
    return rebound(loop) | loop_variables(loop)


def binding(name: str, loop: ast.AST) -> tuple[ast.expr | None, int | None]:
    """The value that an iteration binds to a name, and which part of it if it is unpacked."""
    target = getattr(loop, "target", None)
    if target is not None and name in names_in(target):
        return getattr(loop, "iter", None), _place(name, target)
    bound = assigned_once(loop).get(name)
    if isinstance(bound, ast.Call):
        return bound, None
    found = [
        (statement.value, _place(name, statement.targets[0]))
        for statement in nodes_of(loop, ast.Assign)
        if name in names_in(statement.targets[0])
    ]
    return found[0] if len(found) == 1 else (None, None)


def _place(name: str, target: ast.expr) -> int | None:
    """The part of a tuple that a name refers to."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return next((n for n, part in enumerate(parts) if dotted(part) == name), None)


def _length_of(function: Function, position: int | None, frame: Frame, depth: int, iterated: bool) -> str:
    """What decides the length of a function's result, or of the items that it yields."""
    given = list(results(function.node, iterated))
    if not given or depth > _DEPTH:
        return ""
    for result in given:
        if position is not None and isinstance(result, ast.Tuple) and position < len(result.elts):
            result = result.elts[position]
        elif position is not None and not isinstance(result, ast.Call):
            return ""
        if isinstance(result, ast.Name):
            result = _only_assignment(function.node, result.id) or result
        if not isinstance(result, ast.Call):
            return ""
        result = _unconverted(result, function.node)
        again = function_called(result, frame)
        if again is not None and again.node is not function.node:
            return _length_of(again, position, frame, depth + 1, False)
        why = (
            _sized_by_data(result, function.node, iterated)
            or _collected(result, function.node)
            or _read_from_text(result, function.node)
            or _searched(result)
        )
        if why:
            return why
    return ""


def results(function: ast.AST, iterated: bool) -> Iterator[ast.expr]:
    """The results of a function, or the items that it yields."""
    leaves = nodes_of(function, ast.Yield) if iterated else nodes_of(function, ast.Return)
    for node in leaves:
        if node.value is not None:
            yield node.value


@cache
def _assignments(function: ast.AST) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for statement in nodes_of(function, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(statement.value)
    return found


def _only_assignment(function: ast.AST, name: str) -> ast.expr | None:
    values = _assignments(function).get(name, [])
    return values[0] if len(values) == 1 else None


def _unconverted(call: ast.Call, function: ast.AST) -> ast.Call:
    """The call that fills an array, if this one converts the array: `jnp.asarray(out)`, `out.astype(...)`."""
    if last_name(call.func) in CONVERTING and call.args:
        source = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "astype":
        source = call.func.value
    else:
        return call
    made = _only_assignment(function, source.id) if isinstance(source, ast.Name) else source
    return made if isinstance(made, ast.Call) and last_name(made.func) in _FILLED else call


def _sized_by_data(call: ast.Call, function: ast.AST, iterated: bool) -> str:
    """`np.zeros((n, max(len(x) for x in batch)))`, unless the longest is computed once, before the loop that yields."""
    if last_name(call.func) not in _FILLED or not call.args:
        return ""
    shape = call.args[0]
    for size in shape.elts if isinstance(shape, ast.Tuple) else [shape]:
        measured = size
        if isinstance(size, ast.Name):
            measured = _only_assignment(function, size.id) or size
        if _is_longest(measured) and not (iterated and _is_before_loops(measured, function)):
            return f"{PADS}, `{short_source(measured)}`"
    return ""


def _is_longest(node: ast.expr) -> bool:
    """`max(len(x) for x in xs)`, `max(map(len, xs))`."""
    return (
        isinstance(node, ast.Call)
        and dotted(node.func) == "max"
        and len(node.args) == 1
        and any(isinstance(n, ast.Name) and n.id == "len" for n in walk(node.args[0]))
    )


def _is_before_loops(node: ast.expr, function: ast.AST) -> bool:
    return not any(node is inner for loop in nodes_of(function, ast.For) for inner in walk(loop))


def _collected(call: ast.Call, function: ast.AST) -> str:
    """`np.stack(seen)` of a list that a `while` fills until its step reports that it is done."""
    if last_name(call.func) not in STACKING or not call.args:
        return ""
    name = dotted(call.args[0])
    for loop in nodes_of(function, ast.While):
        fills = any(
            isinstance(node, ast.Call) and dotted(node.func) == f"{name}.append" for node in walk(loop)
        )
        if name and fills and _ends_by_data(loop):
            return f"returns a row per iteration of line {loop.lineno}"
    return ""


def _ends_by_data(loop: ast.While) -> bool:
    """Whether the condition reads a name assigned by a call in the body, as in `while not done`."""
    asked = {n.id for n in walk(loop.test) if isinstance(n, ast.Name)}
    given = {
        part
        for statement in nodes_of(loop, ast.Assign)
        if isinstance(statement.value, ast.Call)
        for target in statement.targets
        for part in names_in(target)
    }
    return bool(asked & given)


def _searched(call: ast.Call) -> str:
    """`np.nonzero(distances < cutoff)`, with another number of results each time; `size=` fixes that number."""
    owner, _, last = dotted(call.func).rpartition(".")
    alone = len(call.args) == 1 and not call.keywords
    if not alone or owner not in ("np", "jnp", "numpy", "jax.numpy") or last not in _SEARCHES:
        return ""
    return f"{_PARTS}, sized by `{short_source(call)}`"


def _read_from_text(call: ast.Call, function: ast.AST) -> str:
    """`np.array([ids[word] for word in text.split()])`, for a text argument."""
    if last_name(call.func) not in CONVERTING or not call.args:
        return ""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    given = frozenset(parameter.arg for parameter in all_parameters(function))
    bound = {name: values[0] for name, values in _assignments(function).items() if len(values) == 1}
    why = text_length(call.args[0], function, bound, given | bound.keys())
    return f"{_PARTS}: {why}" if why else ""


def text_length(
    node: ast.expr, owner: ast.AST, bound: Mapping[str, ast.expr], moving: AbstractSet[str]
) -> str:
    """Why an array created from `node` is as long as a text; "" if that is unknown.

    `bound`: the values of names in the loop or function `owner`; `moving`: those that change each time.
    """
    for _ in range(_DEPTH):
        if isinstance(node, ast.Name) and not _lengthened(node.id, owner):
            node = bound.get(node.id, node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            node = node.generators[0].iter
    if not isinstance(node, ast.Call) or last_name(node.func) not in _TEXT or _divides(node):
        return ""
    if any(keyword.arg in ("padding", "max_length", "truncation") for keyword in node.keywords):
        return ""
    return f"`{short_source(node)}` varies in length" if names_in(node) & moving else ""


def _divides(call: ast.Call) -> bool:
    """Whether it divides an array or a key, and no text: `jnp.split(x, n)`, `random.split(key)`."""
    given = call.args[0] if call.args else None
    separator = isinstance(given, ast.Constant) and isinstance(given.value, str | None)
    return last_name(call.func) in ("split", "rsplit") and given is not None and not separator


def _lengthened(name: str, owner: ast.AST) -> bool:
    """Whether a list is extended after its creation: it may be padded to one length."""
    added = (dotted(statement.target) for statement in nodes_of(owner, ast.AugAssign))
    called = (dotted(call.func).rpartition(".") for call in nodes_of(owner, ast.Call))
    return name in added or any(base == name and last in _LENGTHENING for base, _, last in called)
