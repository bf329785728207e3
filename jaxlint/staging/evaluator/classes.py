"""Classes of the project: kinds, fields, instances and attributes."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.names import canonical, public_class
from jaxlint.staging.evaluator.datamodel import HOOKS, DataModel
from jaxlint.staging.evaluator.frozen_classes import frozen_by
from jaxlint.staging.evaluator.instances import _member
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.type_parameters import seen_in_signature
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Field,
    Function,
    Instance,
    OptionalName,
    Origin,
    Partial,
    Scope,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    is_none,
    join,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.class_models import (
    PLAIN,
    decorator_of,
    is_field_maker,
    model_of_base,
    model_of_class,
)
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import flattening
from jaxlint.syntax.facts import (
    PROMISES,
    attribute_stores,
    dotted,
)

_CONTAINER_TYPES = frozenset(f"builtins.{kind}" for kind in ("list", "dict", "set", "tuple"))


class Classes(Part):
    """Evaluates classes and creates instances."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.classes: list[ClassValue] = []  # classes whose prototypes are still to be created

    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value:
        """The value of a class statement: the class, or what its decorators return."""
        with seen_in_signature(node, frame):
            bases = [
                self.machine.language.eval(base, frame)
                for base in node.bases
                if not isinstance(base, ast.Starred)
            ]
        meta = next(
            (base.meta for base in bases if isinstance(base, ClassValue) and base.meta is not None), None
        )
        for keyword in node.keywords:
            value = self.machine.language.eval(keyword.value, frame)
            meta = value if keyword.arg == "metaclass" else meta
        cls = ClassValue(node, frame.module, frame.scope, _prefix(frame) + node.name, bases, meta=meta)
        self.classes.append(cls)
        derive_model(cls)
        decorators = [(d, self.machine.language.eval(d, frame)) for d in node.decorator_list]
        cls.frozen = frozen_by(decorators)
        meta_fields: tuple[str, ...] = ()
        for _, value in decorators:
            if isinstance(value, (Partial, ExternalObject)):
                meta_fields += constant_names(value.kwargs.get("meta_fields")) or ()
            decorated(cls, value)
        self.run_class_body(cls, meta_fields, frame)
        self.data_model.hooks.update(HOOKS.intersection(cls.namespace))
        self.machine.reach.note_methods(cls)
        options = {
            k.arg: self.machine.language.eval(k.value, frame)
            for k in node.keywords
            if k.arg not in (None, "metaclass")
        }
        self.machine.staging.subclassed(cls, options, node, frame)
        for decorator, value in reversed(decorators):
            if isinstance(value, (Function, Transformed)):
                result = self.machine.language.call_value(value, Call([cls], {}, decorator, frame))
                if isinstance(result, ClassValue):
                    cls = result
        return cls

    def run_class_body(self, cls: ClassValue, meta_fields: tuple[str, ...], frame: Frame) -> None:
        """Evaluates the body; `meta_fields` are fields that a decorator makes auxiliary data."""
        scope = Scope(frame.scope, is_class=True)
        body = Frame(
            frame.function, frame.module, scope, frame.stage, frame.caller, frame.call_node, frame.depth
        )
        body.making = cls
        cls.namespace = scope.variables
        self.declare_fields(cls, frame)
        for name in meta_fields:
            if name in cls.fields:
                cls.fields[name].static = True
        self.machine.language.exec_block(cls.node.body, body)
        cls.namespace = scope.variables
        for name, declared in cls.fields.items():
            default = cls.namespace.get(name)
            if isinstance(default, ExternalObject) and is_field_maker(default.name):
                declared.made = default
                declared.static = declared.static or _kept_out(default)
            elif isinstance(default, Function):
                default.cls = None  # no method: it gets no object

    def declare_fields(self, cls: ClassValue, frame: Frame) -> None:
        for statement in cls.node.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            name = statement.target.id
            annotation = dotted(
                statement.annotation
                if not isinstance(statement.annotation, ast.Subscript)
                else statement.annotation.value
            )
            if annotation.endswith("ClassVar"):
                continue
            if annotation.endswith(PROMISES):
                cls.promises.add(name)
            static = cls.model.keeps_static(annotation) or annotation.endswith("Static")
            default = statement.value
            if isinstance(default, ast.Call):
                for keyword in default.keywords:
                    if keyword.arg in ("pytree_node", "static") and isinstance(keyword.value, ast.Constant):
                        static = keyword.value.value is (keyword.arg == "static")
                    if keyword.arg == "metadata" and isinstance(keyword.value, ast.Call):
                        static = any(k.arg == "static" for k in keyword.value.keywords) or static
                    if keyword.arg == "metadata" and isinstance(keyword.value, ast.Dict):
                        static = _is_kept_out(keyword.value) or static
                called = dotted(default.func)
                if called.endswith(("static_field", "static")):
                    static = True
            cls.fields[name] = Field(name, static, statement.annotation, default, statement)

    # -- instances

    def instantiate(self, cls: ClassValue, call: Call) -> Value:
        """The result of calling a class of the project."""
        frame = call.frame
        if cls.kind == "enum":
            return _member(cls)
        init = cls.constructor()
        if cls.kind == "namedtuple" and init is None:
            items = self.dataclass_fields(cls, cls.all_fields(), call.args, call.kwargs, frame)
            return TupleValue(list(items.values()), cls=cls)
        self.data_model.make_by_class(cls, call)
        instance = Instance(cls)
        self.machine.reach.made(cls, frame)
        if isinstance(init, Function):
            self.machine.language.call_function(init, call.passing([instance, *call.args]), frame.stage)
            if cls.model.pytree and frame.stage.staged:
                self.mark_made_of_tracers(instance, call.inputs, frame)
        elif cls.model.fields:
            self.run_dataclass_init(cls, call.passing([instance, *call.args]))
        elif cls.external_bases():
            self.machine.language.fill_container(instance, call)
            base_args = call.inputs
            array = next((a for a in map(find_array, base_args) if a is not None), None)
            instance.staged = array if array is not None and array.staged else None
        for name in cls.model.checks:
            for owner in cls.mro():
                check = owner.namespace.get(name)
                if isinstance(check, Function):
                    self.machine.language.call_function(check, call.passing([instance], {}), frame.stage)
        return instance

    def run_dataclass_init(self, cls: ClassValue, call: Call) -> Value:
        """Evaluates the `__init__` that a decorator generates for a dataclass. The first argument is the object."""
        args = call.args
        if args and isinstance(args[0], Instance):
            instance = args[0]
            instance.fields.update(
                self.dataclass_fields(cls, cls.all_fields(), args[1:], call.kwargs, call.frame)
            )
            post = instance.cls.lookup("__post_init__")
            if isinstance(post, Function):
                self.machine.language.call_function(post, call.passing([instance], {}), call.frame.stage)
        return Static(None)

    def mark_made_of_tracers(self, instance: Instance, given: list[Value], frame: Frame) -> None:
        """Fields that a constructor stores under unknown names, or beyond the limits of the analysis."""
        found = next((a for a in (find_array(value, True) for value in given) if a is not None), None)
        why = found.why if found is not None else frame.stage.why
        made = frame.stage.abstract and not instance.fields
        if made or (found is not None and find_array(instance, True) is None):
            instance.staged = Array(True, why, tree=True, certain=False)

    def dataclass_fields(
        self,
        cls: ClassValue,
        fields: dict[str, Field],
        args: list[Value],
        kwargs: dict[str, Value],
        frame: Frame,
    ) -> dict[str, Value]:
        values: dict[str, Value] = {}
        positional = [name for name, declared in fields.items() if not _is_left_out(declared)]
        spread = kwargs.get(
            "**"
        )  # the arguments that are not counted or named: `P(*parts)`, `P(**{**old, "x": x})`
        for name, value in zip(positional, args, strict=False):
            if isinstance(value, StarArgument):
                spread = join(value.element, spread) if spread is not None else value.element
                break
            values[name] = value
        for name, value in kwargs.items():
            declared = fields.get(name)
            if declared is None:
                continue
            optional = type(name) is OptionalName and declared.default is not None
            values[name] = join(self.field_default(cls, declared, frame), value) if optional else value
        for name, declared in fields.items():
            if name not in values:
                values[name] = self.field_default(cls, declared, frame)
                if spread is not None:
                    given = fresh(spread)
                    values[name] = given if declared.default is None else join(values[name], given)
            values[name] = self.converted(declared, values[name], frame)
        return {name: values[name] for name in fields}

    def converted(self, declared: Field, value: Value, frame: Frame) -> Value:
        """The value that a field with `field(converter=...)` stores."""
        converter = declared.made.kwargs.get("converter") if declared.made is not None else None
        if converter is None or is_none(converter):
            return value
        if isinstance(converter, (Function, Partial)):
            return self.machine.language.call_value(converter, Call([value], {}, declared.node, frame))
        return value if isinstance(value, Array) else UNKNOWN

    def field_default(self, cls: ClassValue, declared: Field, frame: Frame) -> Value:
        default = declared.default
        if default is None:
            return UNKNOWN
        if isinstance(default, ast.Constant):
            return Static(default.value)
        if declared.made is not None:
            return self.made_default(declared.made, declared, frame)
        owner = next((c for c in cls.mro() if declared.name in c.fields), cls)
        value = owner.namespace.get(declared.name)
        if value is None or isinstance(value, (ExternalObject, Unknown)):
            return UNKNOWN
        return value

    def made_default(self, made: ExternalObject, declared: Field, frame: Frame) -> Value:
        """The default that `field(default=...)` or `field(default_factory=...)` gives to an instance."""
        factory = made.kwargs.get("default_factory")
        if isinstance(factory, (Function, Partial, ClassValue)) or (
            isinstance(factory, External) and factory.name in _CONTAINER_TYPES
        ):
            return self.machine.language.call_value(factory, Call([], {}, declared.node, frame))
        return made.kwargs.get("default", UNKNOWN)

    def prototype(self, cls: ClassValue, frame: Frame) -> Instance:
        """An instance of which only the class is known: `__init__` is evaluated with unknown arguments."""
        if cls.prototype is not None:
            return cls.prototype
        instance = cls.prototype = Instance(cls)
        fields = cls.all_fields() if cls.model.fields else {}
        init = cls.constructor()
        if isinstance(init, Function):
            bound = self.machine.language.bind(init, [instance], {}, frame)
            if bound is not None:
                for name, value in bound.items():
                    if name in init.defaults and value is init.defaults[name]:
                        bound[name] = UNKNOWN
                self.machine.language.run_function(
                    init, bound, None, frame, self.machine.entry_stage, "entry"
                )
        if cls.module.is_test:
            for name in ("setUpClass", "setUp", "setup_method"):
                first = cls.lookup(name)
                if isinstance(first, Function):
                    self.machine.language.call_function(
                        first, Call([instance], {}, cls.node, frame), self.machine.test_stage, "entry"
                    )
        for name, declared in fields.items():
            if name not in instance.fields:
                instance.fields[name] = self.declared_value(declared, cls)
        for owner in cls.mro() if not (self.machine.exact and cls.module.is_test) else ():
            for name in attribute_stores(owner.node):
                known = instance.fields.get(name)
                if known is not None and not isinstance(known, (Transformed, Function, ClassValue, Instance)):
                    instance.fields[name] = Unknown(Origin(name))
        return instance

    def declared_value(self, declared: Field, cls: ClassValue) -> Value:
        """What the annotation of a field says about its value."""
        name = dotted(declared.annotation).rpartition(".")[2]
        if name in ("int", "float", "str", "bool"):
            return Static(kind=name)
        optional = isinstance(declared.default, ast.Constant) and declared.default.value is None
        if (
            name in ("Array", "ndarray")
            and not optional
            and not dotted(declared.annotation).startswith(("np.", "numpy."))
        ):
            # on the host it may be a NumPy array or a number
            return Array(False, certain=False, role="declared")
        return UNKNOWN

    # -- attributes


def _prefix(frame: Frame) -> str:
    """The prefix of the qualified name of a class defined in `frame`."""
    if frame.scope.is_class and frame.making is not None:
        return f"{frame.making.qualname}."
    return f"{frame.function.qualname}.<locals>." if frame.function is not None else ""


def derive_model(cls: ClassValue) -> None:
    """Sets the model that a class inherits from its bases, or has as the public class of a library."""
    for base in cls.bases:
        if isinstance(base, External):
            cls.model = model_of_base(canonical(base.name)) or cls.model
        elif isinstance(base, ClassValue):
            base.derived = True
            own = base.model if base.model is not PLAIN else cls.model
            cls.model = model_of_class(public_class(base.module.name, base.name)) or own
    if cls.model is PLAIN:
        cls.model = model_of_class(public_class(cls.module.name, cls.node.name)) or PLAIN


def decorated(cls: ClassValue, decorator: Value) -> ClassValue:
    """The class after a decorator, or an equivalent call, that generates dataclass methods or registers the class."""
    known = decorator_of(canonical(_decorator_name(decorator)))
    if known is not None and not (cls.model.module or cls.model.pytree):
        cls.model = known.model
    cls.filled = cls.filled or _writes_constructor(decorator)
    return cls


def redecorates(name: str, cls: ClassValue) -> bool:
    """Whether a call of `name` makes a class a dataclass or registers it, as its decorator would.

    A plain class that flattens itself and has bases outside the project stays plain: its instances hold tracers if
    their arguments do.
    """
    opaque = cls.model is PLAIN and flattening(cls) is not None and bool(cls.external_bases())
    return decorator_of(name) is not None and not opaque


def _writes_constructor(decorator: Value) -> bool:
    """Whether a decorator generates an `__init__` from the fields, which replaces an inherited one."""
    known = decorator_of(canonical(_decorator_name(decorator)))
    if known is None or not known.writes_init:
        return False
    told = decorator.kwargs.get("init") if isinstance(decorator, (Partial, ExternalObject)) else None
    return told is None or constant(told) is True


def _decorator_name(value: Value) -> str:
    if isinstance(value, External):
        return value.name
    if isinstance(value, ExternalObject):
        return value.name
    if isinstance(value, Partial):
        return _decorator_name(value.function)
    return ""


__all__ = ["Classes", "constant"]


def _is_left_out(declared: Field) -> bool:
    """Whether the constructor takes no positional argument for a field: `field(init=False)`, `field(kw_only=True)`."""
    options = declared.made.kwargs if declared.made is not None else {}
    init, named = (options.get(name) for name in ("init", "kw_only"))
    return (isinstance(init, Static) and init.const is False) or (
        isinstance(named, Static) and named.const is True
    )


def _is_kept_out(metadata: ast.Dict) -> bool:
    """Whether the metadata of a dataclass field exclude it from the pytree: `{"pytree_node": False}`."""
    given = {
        key.value: value
        for key, value in zip(metadata.keys, metadata.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    node = given.get("pytree_node")
    return "static" in given or (isinstance(node, ast.Constant) and node.value is False)


def _kept_out(default: ExternalObject) -> bool:
    """Whether a field's `field(...)`, from any helper, excludes the field from the pytree."""
    given, other = default.kwargs, None
    metadata = given.get("metadata")
    if isinstance(metadata, DictValue):
        given, other = metadata.items, metadata.element  # `metadata.setdefault("pytree_node", False)`
    return constant(given.get("pytree_node", other or UNKNOWN)) is False or (
        constant(given.get("static", UNKNOWN)) is True
    )
