"""Whether a program has arrays of fewer than 32 bits on any of its paths.

A Python number keeps the dtype of such an array; an array of numbers, such as the counter of a JAX loop,
makes the result wider. `jnp.sum` adds narrow integers in 32 bits, where `+` overflows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, NUMPY, Plain, Unknown
from jaxlint.codemods.source.text_edits import shown_source

_NARROW = frozenset({"bfloat16", "float16", "half", "int8", "uint8", "int16", "uint16", "int4", "uint4", "bf16", "fp16"})  # fmt: skip
_FLOAT8 = "float8_"
_OF_A_NAME = frozenset({"jax.numpy.dtype", "numpy.dtype"})


def narrow_types(possible: PossibleValues) -> Iterator[str]:
    """Where a program names a dtype of fewer than 32 bits, or a dtype that is only known at run time; in words."""
    program = possible.program
    found: list[str] | None = program.memo.get("narrow types")
    if found is None:
        found = [
            f"`{shown_source(node)}` at {program.place(file, node)}"
            for file in program.files
            for node in ast.walk(file.tree)
            if isinstance(node, ast.expr) and (_is_narrow(node) or _is_chosen(node, file, possible))
        ]
        program.memo["narrow types"] = found
    yield from found


def _is_narrow(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", None)
    return isinstance(name, str) and (name in _NARROW or name.startswith(_FLOAT8))


def _is_chosen(node: ast.expr, file: File, possible: PossibleValues) -> bool:
    """A dtype that the program does not fix: `jnp.dtype(args.dtype)`, `x.astype(dtype)`."""
    if not isinstance(node, ast.Call):
        return False
    given = [one.value for one in node.keywords if one.arg == "dtype"]
    named = possible.name_of(node.func, file)
    if (isinstance(node.func, ast.Attribute) and node.func.attr == "astype") or named in _OF_A_NAME:
        given += node.args[:1]
    if named == "getattr" and len(node.args) > 1 and possible.name_of(node.args[0], file) in ("jax.numpy", "numpy"):  # fmt: skip
        return not isinstance(node.args[1], ast.Constant)
    return any(
        isinstance(value, Unknown) or (isinstance(value, Plain) and value.kind == "text")
        for one in given
        if not isinstance(one, ast.Constant) and not _is_of_an_array(one, file, possible)
        for value in possible.of(one, file)
    )


def _is_of_an_array(node: object, file: File, possible: PossibleValues) -> bool:
    """`x.dtype` of an array, or a variable that only holds that; not `args.dtype`."""
    if isinstance(node, ast.Name):
        bindings = file.names.bindings_of(node.id, file.names.scope_at(node))
        given = [getattr(file.names.parents.get(one.node), "value", None) for one in bindings]
        return bool(given) and all(
            isinstance(one, ast.Attribute) and _is_of_an_array(one, file, possible) for one in given
        )
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "dtype"
        and bool({ARRAY, NUMPY} & possible.of(node.value, file))
    )


def counted_with(counters: Set[str], body: Iterable[ast.AST], file: File) -> str:
    """A counter that the body computes with, other than to index or compare; "" if there is none."""
    for part in (part for node in body for part in ast.walk(node)):
        if not isinstance(part, ast.Name) or part.id not in counters or not isinstance(part.ctx, ast.Load):
            continue
        above = file.names.parents.get(part)
        draws = isinstance(above, ast.Call) and (file.names.qualified(above.func) or "").startswith(
            ("jax.random.", "jax.lax.dynamic_")
        )
        if not isinstance(above, ast.Subscript | ast.Compare) and not draws:
            return part.id
    return ""
