"""The blocks of an output that the programs of a grid write: some twice, or not all of them."""

from __future__ import annotations

import ast

from jaxlint.api.syntax import dotted, positional_parameters
from jaxlint.api.values import (
    ExternalObject,
    Function,
    ListValue,
    Transformed,
    TupleValue,
    Value,
    is_none,
    number_of,
)
from jaxlint_rules._callables import argument
from jaxlint_rules._names import last_name, names_in

SPEC = "jax.experimental.pallas.BlockSpec"
_STRUCT = "jax.ShapeDtypeStruct"
_GUARDS = frozenset({"when", "program_id", "cond", "fori_loop", "while_loop", "num_programs"})


def specs_of(value: Value | None) -> list[ExternalObject]:
    """The block specs of `in_specs` or `out_specs`."""
    if isinstance(value, ExternalObject) and value.name == SPEC:
        return [value]
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None:
        return [item for item in value.items if isinstance(item, ExternalObject) and item.name == SPEC]
    return []


def index_map_of(spec: ExternalObject) -> ast.Lambda | None:
    """The lambda that selects a program's block, if its only parameters are the grid indices."""
    given = argument(spec, 1, "index_map")
    if not isinstance(given, Function) or not isinstance(given.node, ast.Lambda):
        return None
    arguments = given.node.args
    plain = not (arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs)
    return given.node if plain else None


def overwritten(t: Transformed, kernel: Function) -> ast.AST | None:
    """The spec of an output for which each program along a grid axis writes the same block, from another input."""
    outputs, inputs = specs_of(t.options.get("out_specs")), specs_of(t.options.get("in_specs"))
    if len(outputs) != 1 or not inputs or {"grid_spec", "input_output_aliases", "**"} & set(t.options):
        return None
    index_map = index_map_of(outputs[0])
    if index_map is None or isinstance(kernel.node, ast.Lambda):
        return None
    references = [parameter.arg for parameter in positional_parameters(kernel.node)]
    if len(references) != len(inputs) + 1:
        return None
    for place, counter in enumerate(parameter.arg for parameter in index_map.args.args):
        moves = any(
            (other := index_map_of(spec)) is not None
            and len(other.args.args) == len(index_map.args.args)
            and other.args.args[place].arg in names_in(other.body)
            for spec in inputs
        )
        if moves and counter not in names_in(index_map.body) and _only_sets(kernel.node, references[-1]):
            return outputs[0].node
    return None


def unwritten(t: Transformed) -> tuple[int, int, int] | None:
    """The axis of an output that the blocks of all programs do not fill: the axis, the elements that they write, and
    its size; None if they may fill all."""
    outputs, shapes = specs_of(t.options.get("out_specs")), _parts(t.options.get("out_shape"))
    grid = [number_of(part) for part in _parts(t.options.get("grid"))]
    if (
        not grid
        or len(outputs) != len(shapes)
        or {"grid_spec", "input_output_aliases", "**"} & set(t.options)
    ):
        return None
    for spec, struct in zip(outputs, shapes, strict=True):
        index_map = index_map_of(spec)
        if index_map is None or not isinstance(struct, ExternalObject) or struct.name != _STRUCT:
            continue
        counters = [parameter.arg for parameter in index_map.args.args]
        block, whole = _parts(argument(spec, 0, "block_shape")), _parts(argument(struct, 0, "shape"))
        indices = index_map.body.elts if isinstance(index_map.body, ast.Tuple) else [index_map.body]
        if len(counters) != len(grid) or not len(block) == len(whole) == len(indices):
            continue
        for axis, (index, part, size) in enumerate(zip(indices, block, map(number_of, whole), strict=True)):
            length = 1 if is_none(part) else number_of(part)
            if not isinstance(index, ast.Name) or index.id not in counters:
                continue
            count = grid[counters.index(index.id)]
            if count is not None and length is not None and size is not None and 0 < count * length < size:
                return axis, count * length, size
    return None


def _parts(value: Value | None) -> list[Value]:
    """The items of a sequence, or one value."""
    if isinstance(value, (TupleValue, ListValue)):
        return value.items or []
    return [] if value is None else [value]


def _only_sets(kernel: ast.AST, output: str) -> bool:
    """Whether a kernel writes to its output in every program, and never reads it or the program id."""
    stores = 0
    for part in ast.walk(kernel):
        if isinstance(part, (ast.If, ast.AugAssign)):
            return False
        if isinstance(part, ast.Call):
            if last_name(part.func) in _GUARDS or any(dotted(argument) == output for argument in part.args):
                return False
        if isinstance(part, ast.Subscript) and dotted(part.value) == output:
            if isinstance(part.ctx, ast.Load):
                return False
            stores += 1
    return stores == 1
