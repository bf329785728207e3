"""Relations between shapes: which array has the shape of which other, across traced calls, as rows and stacked."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from jaxlint.staging.values.arrays import Array, Form, NumpyArray, Operation
from jaxlint.staging.values.measured import unmeasured
from jaxlint.staging.values.objects import Choice, DictValue, ExternalObject, Instance, ListValue, TupleValue
from jaxlint.staging.values.parts import map_parts
from jaxlint.staging.values.plain import Static, Value

_DEPTH = 6  # nested containers


def same(source: Value) -> Form:
    return Form("", (source,))


def equal(source: Value) -> Form:
    """The form of an array with the very numbers of another, such as an argument inside a jitted function."""
    form = Form("", (source,))
    form.equal = True
    return form


def starting(source: Value) -> Form:
    """The form of a loop carry that begins as `source`."""
    form = Form("", (source,))
    form.first = True
    return form


def row(source: Value, axis: int = 0) -> Form:
    return Form("row", (source,), axis)


def linked(new: Value, old: Value, form_of: Callable[[Value], Form] = same, depth: int = _DEPTH) -> None:
    """Records that the shapes of the arrays in `new` follow from those in `old`, which has the same structure."""
    if new is old or depth == 0:
        return
    if type(new) is Array:
        if (
            new.form is None
            and new.made is None
            and not new.tree
            and isinstance(old, (Array, Static, NumpyArray))
        ):
            new.form = form_of(old)
    elif isinstance(new, (TupleValue, ListValue)):
        if isinstance(old, (TupleValue, ListValue)) and new.items and old.items:
            for one, two in zip(new.items, old.items, strict=False):
                linked(one, two, form_of, depth - 1)
    elif isinstance(new, DictValue):
        if isinstance(old, DictValue):
            for key, one in new.items.items():
                if key in old.items:
                    linked(one, old.items[key], form_of, depth - 1)
    elif isinstance(new, Instance) and isinstance(old, Instance):
        for name, part in new.fields.items():
            if name in old.fields:
                linked(part, old.fields[name], form_of, depth - 1)


def reformed(value: Value, form_of: Callable[[Value], Form], depth: int = _DEPTH) -> Value:
    """`value` with its arrays in other shapes, which follow from the old shapes."""
    if type(value) is Array:
        whole = value.tree and value.form is None  # perhaps many arrays, of which nothing is known
        return value if whole else _in_form(value, form_of(value))
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: reformed(part, form_of, depth - 1))
    if type(value) is Instance and depth > 0:
        fields = {name: reformed(part, form_of, depth - 1) for name, part in value.fields.items()}
        return Instance(value.cls, fields, value.open, value.origin, value.ready, value.staged)
    if type(value) is Choice and depth > 0:
        return Choice([reformed(option, form_of, depth - 1) for option in value.options], value.every)
    return value


def _in_form(array: Array, form: Form) -> Array:
    copy = array.known_as(array.origin)
    copy.form = form
    return copy


def stacked(value: Value, along: tuple[Value, int] | Value | None, axis: int = 0) -> Value:
    """The result for all rows, stacked from the result for one. `along` says how many rows there are, if it is known."""
    return reformed(value, lambda one: Form("stacked", (one,), axis, along))


def hidden(value: Value) -> Value:
    """`value` with the shapes of its arrays unknown."""
    return reformed(value, lambda one: Form("hidden"))


def hidden_form(array: Array) -> Form:
    """The form of an array with unknown shape."""
    return Form("hidden")


def hide_shapes(
    value: Value, since: int, form_of: Callable[[Array], Form] = hidden_form, depth: int = 4
) -> None:
    """Forgets, in place, the shapes of arrays in containers and objects created after the serial `since`.

    `form_of`: what stays known about each of them.
    """
    if type(value) is TupleValue:
        for part in value.items or ():
            if depth > 0:
                hide_shapes(part, since, form_of, depth - 1)
    elif isinstance(value, (ListValue, DictValue, Instance)) and value.serial >= since:
        if isinstance(value, ListValue):
            if value.items is not None:
                value.items = [_hidden_part(part, since, form_of, depth) for part in value.items]
            value.element = _hidden_part(value.element, since, form_of, depth)
        else:
            held = value.items if isinstance(value, DictValue) else value.fields
            for name, part in held.items():
                held[name] = _hidden_part(part, since, form_of, depth)


def _hidden_part(part: Value, since: int, form_of: Callable[[Array], Form], depth: int) -> Value:
    if type(part) is Array and not part.tree and (part.made is not None or part.form is not None):
        return _in_form(part, form_of(part))
    if type(part) is Static and part.measured is not None:
        return unmeasured(part)
    if depth > 0:
        hide_shapes(part, since, form_of, depth - 1)
    return part


def widen(variables: dict[str, Value], before: dict[str, Value]) -> None:
    """After one iteration of a loop, marks rebound variables as possibly of another size in the next iteration."""
    for name, value in variables.items():
        old = before.get(name)
        if type(value) is not Array or value is old or type(old) is not Array or value.tree or old.tree:
            continue
        if value.form is None:
            value.form = Form("grown", (old,))
        elif value.form.how != "grown":
            value.form = Form("either", (old, replace(value)))


def form_of_struct(value: Value | None, node: ast.AST) -> Form | None:
    """The shape that a `jax.ShapeDtypeStruct` describes."""
    if not isinstance(value, ExternalObject) or value.name != "jax.ShapeDtypeStruct":
        return None
    shape = value.args[0] if value.args else value.kwargs.get("shape")
    return form_of_shape(shape, node) if isinstance(shape, TupleValue) else None


def form_of_shape(shape: TupleValue, node: ast.AST) -> Form:
    """A shape that the program writes down, for an array that no operation has made."""
    return Form("layer", made=Operation("zeros", (shape,), {}, node, 0, "jax.numpy.zeros"))
