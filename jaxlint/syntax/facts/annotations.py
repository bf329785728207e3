"""Facts from annotations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress

from jaxlint.syntax.facts.nodes import FunctionNode, dotted, is_ellipsis
from jaxlint.syntax.facts.parameters import all_parameters
from jaxlint.syntax.memo import cache
from jaxlint.syntax.miscounted_depth import parse_expression


@cache
def parameter_annotations(node: FunctionNode) -> dict[str, ast.expr]:
    """The annotations of parameters that are plain names. Strings are parsed, and `X | None` and `Optional[X]` count
    as `X`."""
    found = {parameter.arg: named_type(parameter.annotation) for parameter in all_parameters(node)}
    return {name: annotation for name, annotation in found.items() if annotation is not None}


def named_type(annotation: ast.expr | None) -> ast.expr | None:
    """The class name in an annotation: the annotation itself, a string, or `X` in `X | None`, `Optional[X]` and
    `X[...]`."""
    annotation = _unquoted(annotation)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.right, ast.Constant):
        annotation = annotation.left
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice if dotted(annotation.value).endswith("Optional") else annotation.value
    return annotation if isinstance(annotation, (ast.Name, ast.Attribute)) else None


def element_type(annotation: ast.expr | None) -> ast.expr | None:
    """The class name of a sequence's items: `C` in `list[C]` and `tuple[C, ...]`."""
    annotation = _unquoted(annotation)
    if not isinstance(annotation, ast.Subscript):
        return None
    if dotted(annotation.value).rpartition(".")[2] not in _SEQUENCES:
        return None
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return named_type(inner[0]) if len([part for part in inner if not is_ellipsis(part)]) == 1 else None


def is_never_evaluated(node: ast.AST, tree: ast.Module, parent: Callable[[ast.AST], ast.AST | None]) -> bool:
    """Whether an expression is in an annotation that Python does not evaluate: of a variable of a function, or of a file
    with `from __future__ import annotations`. Libraries that ask for type hints evaluate it later."""
    below, above = node, parent(node)
    while above is not None and not isinstance(above, ast.stmt):
        if isinstance(above, ast.arg):
            return _defers(tree)
        below, above = above, parent(above)
    if isinstance(above, ast.AnnAssign) and below is above.annotation:
        around = parent(above)
        while around is not None and not isinstance(around, (*_FUNCTIONS, ast.ClassDef)):
            around = parent(around)
        return isinstance(around, _FUNCTIONS) or _defers(tree)
    return isinstance(above, _FUNCTIONS) and below is above.returns and _defers(tree)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _defers(tree: ast.Module) -> bool:
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
        for statement in tree.body[:20]
    )


_SEQUENCES = frozenset(["list", "tuple", "List", "Tuple", "Sequence", "Iterable"])


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        with suppress(SyntaxError):
            return parse_expression(annotation.value)
    return annotation


_STATIC_TYPES = frozenset(
    [
        "int",
        "bool",
        "str",
        "bytes",
        "type",
        "Type",
        "Callable",
        "Literal",
        "Hashable",
        "Path",
        "Enum",
        "dtype",
        "DType",
        "DTypeLike",
        "PRNGImpl",
        "Mesh",
        "Sharding",
        "NamedSharding",
        "SingleDeviceSharding",
        "PartitionSpec",
    ]
)
_CONTAINERS = frozenset(
    ["Sequence", "Iterable", "list", "List", "tuple", "Tuple", "set", "frozenset", "dict", "Mapping", "deque"]
)
_WITHOUT_LEAVES = frozenset(
    ["GradientTransformation", "GradientTransformationExtraArgs", "GraphDef", "ShapeDtypeStruct"]
)


@cache
def arrayless_annotations(node: FunctionNode) -> frozenset[str]:
    """Parameters whose annotation names a type that holds no arrays: such types, optax optimisers, and descriptions
    of arrays."""
    return frozenset(p.arg for p in all_parameters(node) if is_static_type(p.annotation, _WITHOUT_LEAVES))


def is_static_type(annotation: ast.expr | None, also: frozenset[str] = frozenset()) -> bool:
    """Whether an annotation names types that neither are nor hold tracers. `also`: additional types."""
    if isinstance(annotation, ast.Constant):
        if not isinstance(annotation.value, str):
            return annotation.value is None
        try:
            return is_static_type(parse_expression(annotation.value), also)
        except SyntaxError:
            return False
    if isinstance(annotation, ast.BinOp):
        return is_static_type(annotation.left, also) and is_static_type(annotation.right, also)
    if isinstance(annotation, ast.Subscript):
        outer = dotted(annotation.value).rpartition(".")[2]
        if outer in _CONTAINERS or outer in ("Optional", "Union"):
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return all(is_static_type(part, also) for part in inner if not is_ellipsis(part))
        return outer in _STATIC_TYPES or outer in also
    last = dotted(annotation).rpartition(".")[2] if annotation is not None else ""
    return last in _STATIC_TYPES or last in also


_JAXTYPING = frozenset(
    """Float Float16 Float32 Float64 BFloat16 Int Int8 Int16 Int32 Int64 UInt UInt8 UInt16 UInt32 UInt64 Integer Bool Num Real Inexact
    Complex Complex64 Complex128 Shaped""".split()  # noqa: SIM905
)


@cache
def declared_sizes(node: FunctionNode) -> dict[str, tuple[str, ...]]:
    """The sizes that annotations such as `Float[Array, "batch 3"]` give to parameters. Names that stand for several
    sizes or possibly 1 are left out."""
    found: dict[str, tuple[str, ...]] = {}
    for parameter in all_parameters(node):
        annotation = parameter.annotation
        if not isinstance(annotation, ast.Subscript):
            continue
        inside, kind = annotation.slice, dotted(annotation.value).rpartition(".")[2]
        if kind not in _JAXTYPING or not isinstance(inside, ast.Tuple) or len(inside.elts) != 2:
            continue
        said = inside.elts[1]
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            sizes = tuple(said.value.split())
            if all(size.isidentifier() or size.isdigit() for size in sizes):
                found[parameter.arg] = sizes
    return found
