"""Conversion of values that enter or leave a traced function."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.jaxapi.layer_classes import SEQUENTIALS, holds_arrays
from jaxlint.jaxapi.names import canonical
from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import Copying
from jaxlint.staging.reach.assumed_calls import AssumedCalls
from jaxlint.staging.reach.unknown_receivers import Receivers
from jaxlint.staging.values import (
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    Choice,
    ClassValue,
    DictValue,
    ExternalObject,
    Field,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    join,
    map_leaves,
    member_kind,
    parts_of,
)
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import same
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import (
    flattening,
    has_no_aux_data,
    kept_attributes,
    leaf_attributes,
    registration,
)
from jaxlint.staging.values.stage import Why

# They stand for arrays if nothing is computed.
SHAPED = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})


MAX_CONVERTED = 3_000  # objects in one value that enters or leaves a stage


class Boundary(Part):
    """Converts values across a staging boundary."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.receivers = machine.part(Receivers)
        self.assumed_calls = machine.part(AssumedCalls)

    def to_staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """`value` as the traced function sees it: array leaves are tracers, the structure stays Python."""
        if self.machine.unjitted:
            return value
        if isinstance(value, Static):
            if (
                value.const is None
                or isinstance(value.const, (str, bytes))
                or value.kind in ("str", "key", "type", "enum", "dtype", "treedef")
            ):
                return value
            if keeps_python:
                return value
            if value.const is MISSING and not value.kind:
                return Array(True, why, tree=True, certain=False)
            # A call with a number stands for calls with arrays: its dtype would create a separate context.
            dtype = dtype_of(value) if self.machine.exact else ""
            return Array(True, why, certain=certain, dtype=dtype)
        if isinstance(value, Array):
            return Array(
                True,
                why,
                tree=value.tree,
                certain=certain
                and (value.certain or value.role == "declared"),  # whatever it was, it is a tracer now
                origin=value.origin,
                role=value.role,
                mixed=value.mixed,
                dtype=value.dtype,
                flow=value.flow,
                rowless=value.rowless,
                made=value.made if value.is_reference else None,
            )
        if isinstance(value, NumpyArray):
            dtype = canonical_dtype(value.dtype)
            return Array(True, why, certain=certain, dtype=dtype, rowless=value.rowless)
        if isinstance(value, StarArgument):
            return StarArgument(self.to_staged(value.element, why, certain, keeps_python))
        if isinstance(value, Unknown):
            # It may hold static fields, or be None: too uncertain to report. Transformations that keep Python values
            # receive settings as often as arrays.
            return Array(
                True, why, tree=True, certain=False, origin=value.origin, flow=value.flow, mixed=keeps_python
            )
        if isinstance(value, (TupleValue, ListValue, DictValue)):
            return map_leaves(value, lambda leaf: self.to_staged(leaf, why, certain, keeps_python))
        if isinstance(value, Instance):
            self.receivers.enters_stage(value.cls, why)
            return self.stage_instance(value, why, certain, keeps_python)
        if isinstance(value, Choice) and any(isinstance(option, Instance) for option in value.options):
            staged = [self.to_staged(option, why, certain, keeps_python) for option in value.options]
            return Choice(staged, value.every)
        if isinstance(value, ExternalObject):
            # the argument that `eval_shape` and `lower` trace with; `eval_shape` also returns trees of it
            if value.name in SHAPED:
                return Array(True, why, tree=not value.args, certain=certain and bool(value.args))
            if _is_layer_with_arrays(value):
                return replace(value, staged=Array(True, why, tree=True, certain=certain))
        self.assumed_calls.carries(value, why)
        return value

    def stage_instance(self, value: Instance, why: Why, certain: bool, keeps_python: bool) -> Value:
        flatten = flattening(value.cls)
        leaves = leaf_attributes(flatten) if flatten is not None else None
        if (flatten is not None and not keeps_python) or (self.machine.registers and registration(value.cls)):
            self.machine.crossing.append(value.cls)
        if not value.cls.model.pytree and leaves is None:
            return value if keeps_python or not value.cls.is_ordinary else _registered(value, why)
        if id(value) in self.machine.copying:
            return self.machine.copying[id(value)]
        if self.is_too_much():
            return Array(True, why, tree=True, certain=False, mixed=keeps_python)
        declared = value.cls.all_fields()
        fields: dict[str, Value] = {}
        leaf = Array(True, why, tree=True, certain=False, mixed=keeps_python)
        copy = Instance(value.cls, fields, True, value.origin, value.ready, leaf)
        # otherwise it is unknown what a leaf is
        certain = certain and (flatten is None or leaves is not None)
        with Copying(self.machine, id(value), copy):
            self.stage_fields(value, fields, declared, flatten, leaves, why, certain, keeps_python)
        for name, field in declared.items():
            if name not in fields and not (field.static if leaves is None else name not in leaves):
                fields[name] = Array(True, why, tree=True, certain=False, mixed=keeps_python)
        return copy

    def is_too_much(self) -> bool:
        """Whether one conversion visits too many objects. An object counts once for each object that holds it."""
        self.machine.copies = self.machine.copies + 1 if self.machine.copying else 0
        return self.machine.copies > MAX_CONVERTED

    def stage_fields(
        self,
        value: Instance,
        fields: dict[str, Value],
        declared: dict[str, Field],
        flatten: Function | None,
        leaves: list[str] | None,
        why: Why,
        certain: bool,
        keeps_python: bool,
    ) -> None:
        """Fills `fields` with the fields of an object as they are inside a stage."""
        undecided = flatten is not None and leaves is None and not has_no_aux_data(flatten)
        plain_python = keeps_python or value.cls.kind == "nnx"
        for name, part in value.fields.items():
            static = declared[name].static if name in declared else False
            if leaves is not None:
                static = name not in leaves
            elif name not in declared and member_kind(value.cls.lookup(name) or value) == "property":
                continue  # the value of a cached property is not a field, and is computed again inside
            if (
                static
                and name in declared
                and self.machine.boundary is not None
                and isinstance(part, (Array, NumpyArray, ListValue, DictValue))
            ):
                t, frame = self.machine.boundary
                self.emit_static_field(value.cls, declared[name], part, t, frame)
            elif (
                static
                and flatten is not None
                and isinstance(part, (Array, NumpyArray))
                and self.machine.boundary is not None
            ):
                self.emit_kept(value.cls, flatten, name, part)
            python = keeps_python if isinstance(part, Unknown) else plain_python
            inside = part if static else self.to_staged(part, why, certain, python)
            fields[name] = _perhaps_kept(inside) if undecided and isinstance(part, Static) else inside

    def emit_kept(self, cls: ClassValue, flatten: Function, name: str, value: Value) -> None:
        """Emits an event for auxiliary data of a class, which JAX compares like static fields."""
        node = kept_attributes(flatten).get(name)
        if node is not None and self.machine.boundary is not None:
            t, frame = self.machine.boundary
            owner = Frame(None, flatten.module, flatten.scope, frame.stage, frame, t.node)
            self.machine.emit("static_field", events.StaticFieldEvent(node, owner, cls, name, value, t))

    def emit_static_field(
        self, cls: ClassValue, field: Field, value: Value, t: Transformed, frame: Frame
    ) -> None:
        """A static field holds something unhashable. The event belongs to the file that declares the class."""
        declaring = next((known for known in cls.mro() if known.fields.get(field.name) is field), cls)
        owner = Frame(None, declaring.module, declaring.scope, frame.stage, frame, t.node)
        self.machine.emit(
            "static_field", events.StaticFieldEvent(field.node, owner, cls, field.name, value, t)
        )

    def to_device(self, value: Value, jitted: str, keeps_python: bool = False) -> Value:
        """The result of a traced call as the host sees it: concrete arrays. nnx modules keep Python values.

        `keeps_python`: the transformation also keeps Python values, like those of equinox.
        """
        if keeps_python and isinstance(value, (Static, Unknown)):
            return value
        if isinstance(value, Array):
            if value.is_reference:
                return UNKNOWN  # JAX refuses to return it
            return Array(
                False,
                None,
                tree=value.tree,
                certain=value.certain,
                jitted=jitted,
                role=value.role if value.role in ("key", "variables") else "",
                dtype=value.dtype,
                flow=value.flow,
                form=same(value) if value.made is not None or value.form is not None else None,
            )
        if isinstance(value, Unknown):
            return Array(False, None, tree=True, certain=False, jitted=jitted)
        if isinstance(value, Static) and value.const is not None and not isinstance(value.const, str):
            if not self.machine.exact:
                return Array(False, None, jitted=jitted)
            return Array(False, None, jitted=jitted, dtype=dtype_of(value), form=same(value))
        if isinstance(value, (TupleValue, ListValue, DictValue)):
            return map_leaves(value, lambda leaf: self.to_device(leaf, jitted, keeps_python))
        if isinstance(value, Instance):
            declared = value.cls.all_fields()
            keeps_python = keeps_python or value.cls.kind == "nnx"
            if id(value) in self.machine.copying:
                return self.machine.copying[id(value)]  # nnx modules may hold each other
            if self.is_too_much():
                return Array(False, None, tree=True, certain=False, jitted=jitted)
            copy = Instance(value.cls, {}, True, None, value.ready)
            flatten = flattening(value.cls)
            leaves = leaf_attributes(flatten) if flatten is not None else None
            with Copying(self.machine, id(value), copy):
                for k, v in value.fields.items():
                    static = k in declared and declared[k].static if leaves is None else k not in leaves
                    if flatten is not None and leaves is None and isinstance(v, Static):
                        copy.fields[k] = UNKNOWN  # a leaf, or the value before
                    else:
                        copy.fields[k] = v if static else self.to_device(v, jitted, keeps_python)
            return copy
        return value


def _perhaps_kept(number: Value) -> Value:
    """A number that a class may keep as auxiliary data, if its flatten function does not show it."""
    return replace(number, mixed=True) if isinstance(number, Array) else number


def _registered(value: Instance, why: Why, depth: int = 2) -> Instance:
    """An object that JAX would refuse, unless unseen code registers its class as a pytree.

    If it is registered, JAX rebuilds it inside, and the objects in it too.
    """
    inside = Array(True, why, tree=True, certain=False)
    fields: dict[str, Value] = {}
    for name, part in value.fields.items():
        if isinstance(part, Instance) and part.cls.is_ordinary and depth > 0:
            fields[name] = _registered(part, why, depth - 1)
        else:
            fields[name] = part if isinstance(part, CALLABLE) else join(part, inside)
    return Instance(value.cls, fields, True, value.origin, value.ready, inside)


def _is_layer_with_arrays(value: Value, depth: int = 4) -> bool:
    if isinstance(value, ExternalObject):
        name = canonical(value.name)
        inside = value.args if name in SEQUENTIALS else ()
        return holds_arrays(name) or any(_is_layer_with_arrays(part, depth - 1) for part in inside)
    return depth > 0 and any(_is_layer_with_arrays(part, depth - 1) for part in parts_of(value))
