"""`give-dtype`: arrays that are made of Python numbers, with which the state of a compiled function begins, get a dtype.

    state = {"scale": jnp.array(1.0), "mean": jnp.full(3, 0.5)}
    for x in data:
        state = step(state, x)

becomes

    state = {"scale": jnp.array(1.0, dtype=float), "mean": jnp.full(3, 0.5, dtype=float)}

Without it these arrays are weakly typed. The results of the first call are not, so that the second call compiles again. `float` is
the precision that JAX computes in, so the numbers stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from jaxlint.codemods.compilation.padded_calls import call_at, written_argument
from jaxlint.codemods.purity.origins import Definition, Origins
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, parameters
from jaxlint.codemods.purity.values import NUMBER
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused, Site, place_of
from jaxlint.codemods.stageable import program_and_file
from jaxlint.finding import Step

# Each with the position of the number, and the number of arguments before a dtype.
_MAKERS = {"jax.numpy.array": 0, "jax.numpy.asarray": 0, "jax.numpy.full": 1}
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


@codemod("give-dtype")
def give_dtype(draft: Draft, step: Step) -> None:
    """The span is the function. `starts`: for each weakly typed array the `name` of the parameter, the `argument` (its position or
    keyword), the `key` if it is an item of a dict, and the `dtype`. `calls`: the calls that the run has seen, as lines and columns of
    `ast`; without them all calls of the function that are visible."""
    starts = step.parameters.get("starts")
    if not isinstance(starts, list | tuple) or not starts:
        raise Refused("no argument was seen to begin weakly typed")
    program, file = program_and_file(draft)
    possible = PossibleValues(program)
    site = draft.site
    found: dict[tuple[int, int], tuple[ast.Call, str]] = {}
    for start in starts:
        kind = _kind(str(start["dtype"]))
        for node, other, _ in _definitions(site, step, start, possible, file):
            if other is file and kind and _is_weak(node, kind, possible, file):
                assert isinstance(node, ast.Call)
                found[node.lineno, node.col_offset] = (node, kind)
    if not found:
        raise Refused("no array that is visibly made of a Python number is known to begin the state")
    for node, kind in found.values():
        call = call_at(site, place_of(node))
        if site.names.scope_at(call).resolve(kind) is not None:
            raise Refused(f"`{kind}` is not the builtin here")
        last = site.span([*call.args, *(keyword.value for keyword in call.keywords)][-1])
        draft.insert(last.end_line, last.end_column, f", dtype={kind}")


def _kind(dtype: str) -> str:
    """The builtin that stands for a dtype: JAX takes `float` for the precision that it computes in."""
    return next((kind for kind in ("float", "int", "complex") if dtype.startswith(kind)), "")


def _definitions(
    site: Site, step: Step, start: Mapping[str, object], possible: PossibleValues, file: File
) -> Iterator[Definition]:
    """The definitions that may reach the argument."""
    key = start.get("key")
    named = key if isinstance(key, str) else None
    calls = step.parameters.get("calls")
    if isinstance(calls, list | tuple):
        for place in calls:
            call = file.same(call_at(site, place))
            argument = start["argument"]
            given = written_argument(call, argument) if isinstance(argument, int | str) else None
            given = given or written_argument(call, str(start["name"]))
            if given is not None:
                yield from Origins(possible, {}, of_arrays=True).of(given, file, named)
        return
    function = file.same(site.find_ast(step.span, ast.FunctionDef))
    assert isinstance(function, ast.FunctionDef)
    for parameter in parameters(function):
        if parameter.arg == start["name"]:
            yield from Origins(possible, {}, of_arrays=True).of_parameter(parameter, function, file, named)


def _is_weak(node: ast.expr, kind: str, possible: PossibleValues, file: File) -> bool:
    """Whether a call makes an array of a Python number of a kind, without a dtype."""
    name = possible.name_of(node.func, file) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or name not in _MAKERS:
        return False
    place = _MAKERS[name]
    word = "fill_value" if place else "object"
    number = written_argument(node, place) or written_argument(node, word)
    others = {keyword.arg for keyword in node.keywords} - {word, "shape"}
    if number is None or len(node.args) > place + 1 or others:
        return False
    return _number(number) == kind or (
        isinstance(number, ast.Name | ast.Attribute)
        and kind == "float"
        and possible.of(number, file) == {NUMBER}
    )


def _number(node: ast.expr) -> str:
    """The type of a number that is written out, or computed of such; "" for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
        return type(node.value).__name__
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _number(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
        kinds = {_number(node.left), _number(node.right)}
        if "" in kinds:
            return ""
        order = ("complex", "float", "int")
        found = next(kind for kind in order if kind in kinds)
        return "float" if found == "int" and isinstance(node.op, ast.Div | ast.Pow) else found
    return ""
