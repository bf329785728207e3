"""Shapes of products: matrices, einsum and einops, convolutions, attention."""

from __future__ import annotations

from typing import Any

from jaxlint.staging.shapes.applied import (
    Applied,
    MisfitError,
    Result,
    Shape,
    broadcast_shapes,
    same_size,
    shape_text,
    shapes,
)
from jaxlint.staging.values.plain import Value
from jaxlint.staging.values.sizes import Size, differ, multiply, product, quotient, symbol, written


def _two(applied: Applied, *names: str) -> tuple[tuple[Value, Shape], tuple[Value, Shape]]:
    one, two = (applied.needed(i, *((name,) if (name := names[i : i + 1]) else ())) for i in (0, 1))
    return (one, applied.shape_of(one)), (two, applied.shape_of(two))


def contracted(left: tuple[Value, Shape], right: tuple[Value, Shape], one: int, two: int) -> None:
    """Raises MisfitError if two contracted axes certainly differ in size."""
    if differ(left[1][one], right[1][two]):
        raise MisfitError(
            f"shapes {shape_text(left[1])} and {shape_text(right[1])} do not contract: sizes {written(left[1][one])} and {written(right[1][two])} differ",
            left,
            right,
            error="TypeError",
        )


@shapes("numpy.matmul numpy.linalg.matmul lax.batch_matmul")
def matmul(applied: Applied) -> Result:
    left, right = _two(applied, "a", "b")
    one, two = left[1], right[1]
    if not one or not two:
        applied.unclear()
    contracted(left, right, -1, -2 if len(two) > 1 else 0)
    if len(two) == 1:
        return one[:-1]
    if len(one) == 1:
        return (*two[:-2], two[-1])
    batch = broadcast_shapes([(left[0], one[:-2]), (right[0], two[:-2])])
    return (*batch, one[-2], two[-1])


@shapes("numpy.dot lax.dot")
def dot(applied: Applied) -> Result:
    if "dimension_numbers" in applied.kwargs:
        applied.unclear()
    left, right = _two(applied, "a", "b")
    if not left[1] or not right[1]:
        return left[1] or right[1]
    inner = -2 if len(right[1]) > 1 else 0
    contracted(left, right, -1, inner)
    rest = right[1][:-2] + right[1][-1:] if len(right[1]) > 1 else ()
    return (*left[1][:-1], *rest)


@shapes("numpy.inner")
def inner(applied: Applied) -> Result:
    left, right = _two(applied, "a", "b")
    if not left[1] or not right[1]:
        return left[1] or right[1]
    contracted(left, right, -1, -1)
    return (*left[1][:-1], *right[1][:-1])


@shapes("numpy.linalg.vecdot numpy.vecdot")
def vecdot(applied: Applied) -> Result:
    applied.only("precision", "preferred_element_type")
    if len(applied.args) != 2:
        applied.unclear()
    left, right = _two(applied)
    return broadcast_shapes([left, right])[:-1]


@shapes("numpy.outer")
def outer(applied: Applied) -> Result:
    left, right = _two(applied, "a", "b")
    return (product(left[1]), product(right[1]))


@shapes("numpy.kron")
def kron(applied: Applied) -> Result:
    left, right = _two(applied, "a", "b")
    rank = max(len(left[1]), len(right[1]))
    one, two = ((1,) * (rank - len(shape)) + shape for _, shape in (left, right))
    return tuple(multiply(a, b) for a, b in zip(one, two, strict=True))


@shapes("numpy.cross")
def cross(applied: Applied) -> Result:
    if applied.kwargs or len(applied.args) != 2:
        applied.unclear()
    left, right = _two(applied)
    if left[1][-1:] != (3,) or right[1][-1:] != (3,):
        applied.unclear()
    return broadcast_shapes([left, right])


@shapes("numpy.tensordot")
def tensordot(applied: Applied) -> Result:
    left, right = _two(applied, "a", "b")
    axes = applied.const(applied.given(2, "axes")) if applied.given(2, "axes") is not None else 2
    if isinstance(axes, int):
        pairs = [(len(left[1]) - axes + i, i) for i in range(axes)]
    elif isinstance(axes, tuple) and len(axes) == 2:
        one, two = ((side,) if isinstance(side, int) else side for side in axes)
        pairs = list(zip(one, two, strict=False))
    else:
        applied.unclear()
    gone: tuple[set[int], set[int]] = (set(), set())
    for one_axis, two_axis in pairs:
        a, b = applied.axis_in(one_axis, len(left[1])), applied.axis_in(two_axis, len(right[1]))
        contracted(left, right, a, b)
        gone[0].add(a)
        gone[1].add(b)
    return (
        *(size for axis, size in enumerate(left[1]) if axis not in gone[0]),
        *(size for axis, size in enumerate(right[1]) if axis not in gone[1]),
    )


@shapes("lax.dot_general")
def dot_general(applied: Applied) -> Result:
    left, right = _two(applied, "lhs", "rhs")
    over_left, over_right, batch_left, batch_right = _dimension_numbers(applied)
    for one, two in zip((*over_left, *batch_left), (*over_right, *batch_right), strict=True):
        contracted(left, right, applied.axis_in(one, len(left[1])), applied.axis_in(two, len(right[1])))
    return (
        *(left[1][axis] for axis in batch_left),
        *(size for axis, size in enumerate(left[1]) if axis not in {*over_left, *batch_left}),
        *(size for axis, size in enumerate(right[1]) if axis not in {*over_right, *batch_right}),
    )


def _dimension_numbers(applied: Applied) -> list[tuple[int, ...]]:
    """The contracted axes of each side, and the remaining ones."""
    numbers: Any = applied.const(applied.needed(2, "dimension_numbers"))
    try:
        found = [tuple(axes) for pair in numbers for axes in pair]
    except TypeError:
        applied.unclear()
    return found if len(found) == 4 else applied.unclear()


@shapes("numpy.einsum")
def einsum(applied: Applied) -> Result:
    spec = applied.text(0, "subscripts").replace(" ", "")
    operands = [(value, applied.shape_of(value)) for value in applied.args[1:]]
    inputs, arrow, output = spec.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        applied.unclear()
    sizes: dict[str, tuple[Size, Value, Shape]] = {}
    spread: Shape = ()
    for term, (value, shape) in zip(terms, operands, strict=True):
        named = term.replace("...", "")
        missing = len(shape) - len(named)
        if missing < 0 or (missing and "..." not in term):
            raise MisfitError(
                f"`{term}` names {len(named)} axes, but the array has shape {shape_text(shape)}",
                (value, shape),
            )
        start = term.index("...") if "..." in term else len(term)
        if "..." in term:
            spread = broadcast_shapes([(value, spread), (value, shape[start : start + missing])])
        for letter, size in zip(named, shape[:start] + shape[start + missing :], strict=True):
            _note(sizes, letter, size, value, shape)
    if not arrow:
        letters = inputs.replace(",", "").replace("...", "")
        output = ("..." if "..." in inputs else "") + "".join(
            sorted(letter for letter in set(letters) if letters.count(letter) == 1)
        )
    result: list[Size] = []
    before, dots, after = output.partition("...")
    for part, rest in ((before, spread if dots else ()), (after, ())):
        for letter in part:
            if letter not in sizes:
                applied.unclear()
            result.append(sizes[letter][0])
        result += rest
    return tuple(result)


def _note(
    sizes: dict[str, tuple[Size, Value, Shape]], name: str, size: Size, value: Value, shape: Shape
) -> None:
    known = sizes.get(name)
    if known is None or known[0] == 1:
        sizes[name] = (size, value, shape)
        return
    have, first, its_shape = known
    if differ(have, size) and differ(size, 1) and differ(have, 1):
        raise MisfitError(
            f"axis `{name}` is {written(have)} in shape {shape_text(its_shape)} and {written(size)} in {shape_text(shape)}",
            (first, its_shape),
            (value, shape),
        )
    if size != 1:
        sizes[name] = (same_size(have, size), first, its_shape)


# -- einops


def _axes_of(pattern: str) -> list[list[str]]:
    """The axes of one side: "b (h d)" as [["b"], ["h", "d"]]."""
    found: list[list[str]] = []
    inside = False
    for token in pattern.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            inside = True
            found.append([])
        elif token == ")":
            inside = False
        elif inside:
            found[-1].append(token)
        else:
            found.append([] if token == "1" else [token])
    return found


@shapes("einops.rearrange einops.reduce einops.repeat")
def rearrange(applied: Applied) -> Result:
    shape = applied.shape(0, "tensor")
    left, arrow, right = applied.text(1, "pattern").partition("->")
    if not arrow or "_" in left.split():
        applied.unclear()
    options = {"reduction", "pattern", "tensor"}
    sizes: dict[str, Size] = {name: applied.size(99, name) for name in applied.kwargs if name not in options}
    groups = _axes_of(left)
    spread: Shape = ()
    if ["..."] in groups:
        place = groups.index(["..."])
        count = len(shape) - len(groups) + 1
        if count < 0:
            applied.unclear()
        spread, shape = shape[place : place + count], shape[:place] + shape[place + count :]
        groups.pop(place)
    if len(groups) != len(shape):
        raise MisfitError(
            f"the pattern `{left.strip()}` has {len(groups)} axes, but the array has shape {shape_text(shape)}",
            (applied.needed(0, "tensor"), shape),
        )
    for group, size in zip(groups, shape, strict=True):
        _solve(applied, group, size, sizes)
    result: list[Size] = []
    for group in _axes_of(right):
        if group == ["..."]:
            result += spread
        elif "..." in group or any(name not in sizes and not name.isdigit() for name in group):
            applied.unclear()
        else:
            result.append(product(int(name) if name.isdigit() else sizes[name] for name in group))
    return tuple(result)


def _solve(applied: Applied, group: list[str], size: Size, sizes: dict[str, Size]) -> None:
    """Computes the size of the one axis of a group that is not given."""
    if "..." in group:
        applied.unclear()
    open_names = [name for name in group if name not in sizes]
    rest = product(sizes[name] for name in group if name in sizes)
    if not open_names:
        if differ(rest, size):
            raise MisfitError(
                f"`{' '.join(group)}` multiply to {written(rest)}, but the axis has {written(size)}"
            )
        return
    if len(open_names) > 1:
        applied.unclear()
    found = quotient(size, rest)
    if found is None and isinstance(size, int) and isinstance(rest, int):
        raise MisfitError(f"an axis of {written(size)} does not divide into parts of {written(rest)}")
    sizes[open_names[0]] = symbol(open_names[0]) if found is None else found


@shapes("einops.einsum")
def einsum_of_einops(applied: Applied) -> Result:
    *operands, last = applied.args
    pattern = applied.const(last)
    if not isinstance(pattern, str) or "..." in pattern or "(" in pattern or "->" not in pattern:
        applied.unclear()
    inputs, _, output = pattern.partition("->")
    sizes: dict[str, tuple[Size, Value, Shape]] = {}
    for term, value in zip(inputs.split(","), operands, strict=True):
        shape = applied.shape_of(value)
        if len(term.split()) != len(shape):
            applied.unclear()
        for name, size in zip(term.split(), shape, strict=True):
            _note(sizes, name, size, value, shape)
    return tuple(sizes[name][0] for name in output.split())


# -- attention


@shapes("nn.dot_product_attention flax.linen.dot_product_attention flax.nnx.dot_product_attention")
def attention(applied: Applied) -> Result:
    if not {"return_residual", "return_weights"}.isdisjoint(applied.kwargs):
        applied.unclear()
    query, value = applied.shape(0, "query"), applied.shape(2, "value")
    return (*query[:-1], value[-1]) if query and value else applied.unclear()
