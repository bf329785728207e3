"""Classes of the project: their kind, fields, instances and attributes."""

from __future__ import annotations

import ast
import re
from collections import deque

from jaxlint.jaxapi.modules import ENUMERATION, ENUMERATIONS
from jaxlint.jaxapi.names import canonical, public_class
from jaxlint.staging import events
from jaxlint.staging.evaluator.datamodel import HOOKS, DataModel
from jaxlint.staging.evaluator.frozen import frozen_by, refusing
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.type_parameters import seen_in_signature
from jaxlint.staging.project import Module
from jaxlint.staging.values import (
    ANY_NAME,
    CALLABLE,
    CONTENT,
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
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
    bound_to,
    constant,
    find_array,
    is_none,
    join,
    member_kind,
    some,
)
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import PYTREE_KINDS, flattening, is_kept
from jaxlint.syntax.facts import (
    PROMISES,
    attribute_stores,
    dotted,
    last_name,
    nodes_of,
    positional_parameters,
    stored_and_returned,
    stores_what_it_gets,
)
from jaxlint.syntax.memo import cache

# Base classes that decide what an instance is to JAX.
BASE_KINDS = {
    "flax.linen.Module": "linen",
    "flax.nnx.Module": "nnx",
    "flax.nnx.Pytree": "nnx",
    "equinox.Module": "equinox",
    "haiku.Module": "haiku",
    "haiku.RNNCore": "haiku",
    "flax.struct.PyTreeNode": "pytree",
    "flax.training.train_state.TrainState": "pytree",
    "typing.NamedTuple": "namedtuple",
    "collections.namedtuple": "namedtuple",
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "enum.IntFlag": "enum",
}
DECORATOR_KINDS = {
    "flax.struct.dataclass": "pytree",
    "flax.nnx.dataclass": "nnx",
    "chex.dataclass": "pytree",
    "chex.mappable_dataclass": "pytree",
    "jax_dataclasses.pytree_dataclass": "pytree",
    "simple_pytree.dataclass": "pytree",
    "jax.tree_util.register_dataclass": "registered",
    "jax.tree_util.register_pytree_node_class": "registered",
    "jax.tree_util.register_pytree_with_keys_class": "registered",
    "jax.tree_util.register_static": "static",
    "dataclasses.dataclass": "dataclass",
    "attr.s": "dataclass",
    "attrs.define": "dataclass",
    "attrs.frozen": "dataclass",
    "attr.dataclass": "dataclass",
    "attr.attrs": "dataclass",
}
# Of these, those that write `__init__`.
_FILLS = DECORATOR_KINDS.keys() - {
    "jax.tree_util.register_dataclass",
    "jax.tree_util.register_pytree_node_class",
    "jax.tree_util.register_pytree_with_keys_class",
    "jax.tree_util.register_static",
}
# What declares a field, and is told its default.
FIELD_MAKERS = frozenset(
    ["dataclasses.field", "flax.struct.field", "equinox.field", "attrs.field", "attr.ib"]
)
WRITTEN_INIT = "dataclasses.dataclass.__init__"
_CONTAINER_TYPES = frozenset(f"builtins.{kind}" for kind in ("list", "dict", "set", "tuple"))
DATACLASS_KINDS = frozenset({"linen", "equinox", "pytree", "registered", "static", "dataclass", "namedtuple"})
MODULE_KINDS = frozenset({"linen", "nnx", "equinox", "haiku"})


class Classes(Part):
    """The class half of the interpreter."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.heirs: dict[ast.AST, list[ClassValue]] = {}  # the classes that derive from one
        self.classes: list[ClassValue] = []  # whose prototypes are still to be made

    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value:
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
        prefix = ""
        outer = frame.facts.get("class") if frame.scope.is_class else None
        if isinstance(outer, ClassValue):
            prefix = f"{outer.qualname}."
        elif frame.function is not None:
            prefix = f"{frame.function.qualname}.<locals>."
        cls = ClassValue(node, frame.module, frame.scope, prefix + node.name, bases, meta=meta)
        self.classes.append(cls)
        for base in bases:
            if isinstance(base, External):
                cls.kind = BASE_KINDS.get(canonical(base.name), cls.kind)
                if canonical(base.name).startswith("flax.linen.") and base.name[-1:].isalpha():
                    cls.kind = "linen" if canonical(base.name)[11:12].isupper() else cls.kind
            elif isinstance(base, ClassValue) and base.kind != "plain":
                cls.kind = base.kind
            if isinstance(base, ClassValue):
                base.derived = True
                cls.kind = BASE_KINDS.get(public_class(base.module.name, base.name), cls.kind)
        if cls.kind == "plain":
            cls.kind = BASE_KINDS.get(public_class(frame.module.name, node.name), cls.kind)
        decorators = [(d, self.machine.language.eval(d, frame)) for d in node.decorator_list]
        cls.frozen = frozen_by(decorators)
        meta_fields: tuple[str, ...] = ()
        for _, value in decorators:
            if isinstance(value, (Partial, ExternalObject)):
                meta_fields += constant_names(value.kwargs.get("meta_fields")) or ()
            decorated(cls, value)
        scope = Scope(frame.scope, is_class=True)
        body = Frame(
            frame.function, frame.module, scope, frame.stage, frame.caller, frame.call_node, frame.depth
        )
        body.facts["class"] = cls
        cls.namespace = scope.variables
        self.declare_fields(cls, frame)
        for name in meta_fields:
            if name in cls.fields:
                cls.fields[name].static = True
        self.machine.language.exec_block(node.body, body)
        cls.namespace = scope.variables
        for name, declared in cls.fields.items():
            default = cls.namespace.get(name)
            if isinstance(default, ExternalObject) and default.name in FIELD_MAKERS:
                declared.made = default
                declared.static = declared.static or _kept_out(default)
        self.data_model.hooks.update(HOOKS & cls.namespace.keys())
        self.machine.reach.note_methods(cls)
        options = {
            k.arg: self.machine.language.eval(k.value, frame)
            for k in node.keywords
            if k.arg not in (None, "metaclass")
        }
        self.machine.staging.subclassed(cls, options, node, frame)
        for decorator, value in reversed(decorators):
            if isinstance(value, (Function, Transformed)):
                result = self.machine.language.call_value(value, [cls], {}, decorator, frame)
                if isinstance(result, ClassValue):
                    cls = result
        return cls

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
            static = (
                cls.kind == "linen"
                or annotation.endswith("Static")
                or (cls.kind == "nnx" and annotation.endswith(("int", "float", "str", "bool")))
            )
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

    def instantiate(
        self,
        cls: ClassValue,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """The result of calling a class of the project."""
        if cls.kind == "enum":
            return _member(cls)
        init = cls.constructor()
        if cls.kind == "namedtuple" and init is None:
            items = self.dataclass_fields(cls, cls.all_fields(), args, kwargs, frame)
            return TupleValue(list(items.values()), cls=cls)
        self.data_model.make_by_class(cls, args, kwargs, node, frame)
        instance = Instance(cls)
        self.machine.reach.made(cls, frame)
        if isinstance(init, Function):
            self.machine.language.call_function(init, [instance, *args], kwargs, node, frame, frame.stage)
            if cls.kind in PYTREE_KINDS and frame.stage.staged:
                self.mark_made_of_tracers(instance, [*args, *kwargs.values()], frame)
        elif cls.kind in DATACLASS_KINDS:
            self.fill(cls, [instance, *args], kwargs, node, frame)
        elif cls.external_bases():
            self.machine.language.hold(instance, args, kwargs, node, frame)
            base_args = [*args, *kwargs.values()]
            if "flax.linen.Module" not in cls.external_bases():
                array = next((a for a in map(find_array, base_args) if a is not None), None)
                instance.staged = array if array is not None and array.staged else None
        if cls.kind == "equinox":
            for owner in cls.mro():
                check = owner.namespace.get("__check_init__")
                if isinstance(check, Function):
                    self.machine.language.call_function(check, [instance], {}, node, frame, frame.stage)
        return instance

    def fill(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """What the `__init__` does that a decorator has written for a dataclass; the first argument is the object."""
        if args and isinstance(args[0], Instance):
            instance = args[0]
            instance.fields.update(self.dataclass_fields(cls, cls.all_fields(), args[1:], kwargs, frame))
            post = instance.cls.lookup("__post_init__")
            if isinstance(post, Function):
                self.machine.language.call_function(post, [instance], {}, node, frame, frame.stage)
        return Static(None)

    def mark_made_of_tracers(self, instance: Instance, given: list[Value], frame: Frame) -> None:
        """What a constructor keeps under names that are not known, or that lies beyond the limits of the analysis."""
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
        )  # of what is given, what is not counted or named: `P(*parts)`, `P(**{**old, "x": x})`
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
        """What `field(converter=...)` keeps of what the field is given."""
        converter = declared.made.kwargs.get("converter") if declared.made is not None else None
        if converter is None or is_none(converter):
            return value
        if isinstance(converter, (Function, Partial)):
            return self.machine.language.call_value(converter, [value], {}, declared.node, frame)
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
        """What `field(default=...)` or `field(default_factory=...)` gives an instance."""
        factory = made.kwargs.get("default_factory")
        if isinstance(factory, (Function, Partial, ClassValue)) or (
            isinstance(factory, External) and factory.name in _CONTAINER_TYPES
        ):
            return self.machine.language.call_value(factory, [], {}, declared.node, frame)
        return made.kwargs.get("default", UNKNOWN)

    def prototype(self, cls: ClassValue, frame: Frame) -> Instance:
        """An instance of which only the class is known: what `__init__` makes of unknown arguments."""
        if cls.prototype is not None:
            return cls.prototype
        instance = cls.prototype = Instance(cls)
        fields = cls.all_fields() if cls.kind in DATACLASS_KINDS else {}
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
                        first, [instance], {}, cls.node, frame, self.machine.test_stage, "entry"
                    )
        for name, declared in fields.items():
            if name not in instance.fields:
                instance.fields[name] = self.declared_value(declared, cls)
        for owner in cls.mro():
            for name in attribute_stores(owner.node):
                known = instance.fields.get(name)
                if known is not None and not isinstance(known, (Transformed, Function, ClassValue, Instance)):
                    instance.fields[name] = Unknown(Origin(name))
        return instance

    def declared_value(self, declared: Field, cls: ClassValue) -> Value:
        """What a field's annotation alone says."""
        name = dotted(declared.annotation).rpartition(".")[2]
        if name in ("int", "float", "str", "bool"):
            return Static(kind=name)
        optional = isinstance(declared.default, ast.Constant) and declared.default.value is None
        if (
            name in ("Array", "ndarray")
            and not optional
            and not dotted(declared.annotation).startswith(("np.", "numpy."))
        ):
            return Array(False, certain=False, role="declared")  # on the host it may be NumPy's, or a number
        return UNKNOWN

    # -- attributes

    def instance_attribute(self, base: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        self.data_model.implied(base, "__getattribute__", [Static(name)], node, frame)
        found = base.fields.get(name)
        if found is None and not base.ready and base.cls.kind in ("linen", "haiku"):
            self.run_setup(base, node, frame)
            found = base.fields.get(name)
        elif type(found) is Array and found.staged and not frame.stage.staged and base.cls.kind == "linen":
            # flax calls `setup` anew for each use of a module: what it made in a trace stays there.
            if base.ready and base.staged is None:
                self.run_setup(base, node, frame)
                found = base.fields.get(name)
        if found is not None:
            return found
        member = self.class_member(base.cls, name)
        if name == "variant" and base.cls.module.is_test and _is_chex(member):
            return External("chex.variant")
        if name in _LINEN_METHODS and base.cls.kind == "linen" and _is_frameworks(base.cls, name):
            # flax itself is being analysed: its methods mean what they mean, and are evaluated beside that.
            known = self.missing_attribute(base, name, node, frame)
            if isinstance(known, ExternalObject) and member is not None:
                known.own = BoundMethod(member, base)
            return known
        if isinstance(member, (Function, Transformed, Partial)):
            if member_kind(member) == "property":
                return self.read_property(base, name, member, node, frame)
            return bound_to(member, base, base.cls)
        if isinstance(member, Choice) and all(map(_is_method, member.options)):
            # What the branches of the body of the class made of it.
            return Choice([bound_to(option, base, base.cls) for option in member.options], member.every)
        if isinstance(member, Instance) and member.cls.lookup("__get__") is not None:
            return UNKNOWN  # a descriptor
        if member is not None:
            # None is what a class has in the place of what its users set.
            return UNKNOWN if base is base.cls.prototype and is_none(member) else member
        return self.missing_attribute(base, name, node, frame)

    def read_property(
        self, base: Instance, name: str, member: Function | Transformed | Partial, node: ast.AST, frame: Frame
    ) -> Value:
        result = self.machine.language.call_value(BoundMethod(member, base), [], {}, node, frame)
        if isinstance(member, Function) and member.cached and not frame.stage.staged:
            base.fields[name] = result  # a trace that asks later is given the same
        return result

    def class_member(self, cls: ClassValue, name: str) -> Value | None:
        """What a class has under a name; a constant only if nothing in its module sets that to something else."""
        for owner in cls.mro():
            if name in owner.namespace:
                found = owner.namespace[name]
                if isinstance(found, ExternalObject) and found.name in FIELD_MAKERS:
                    return None
                if (
                    isinstance(found, Static)
                    and found.const is not MISSING
                    and name in set_on_classes(owner.module)
                ):
                    return some(found.const)
                return found
        return None

    def missing_attribute(self, base: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        if base.cls.kind == "linen":
            special = _LINEN_METHODS.get(name)
            if special is not None:
                return ExternalObject(
                    special, [base] if special.endswith(("apply", "init", "output", "tabulate")) else []
                )
        if name == "variant" and base.cls.module.is_test:
            return External("chex.variant")  # what `chex.variants` gives to a test
        if name == "replace" and base.cls.kind == "pytree":
            return ExternalObject("dataclasses.replace", [base])
        if name == "_replace":
            return ExternalObject("dataclasses.replace", [base])
        if name == "__class__":
            return base.cls
        content = base.fields.get(CONTENT)
        if content is not None and hasattr(dict if isinstance(content, DictValue) else deque, name):
            return ExternalMethod(content, name)
        if not name.startswith("__"):
            answer = self.data_model.special(base, "__getattr__", [Static(name)], node, frame)
            if answer is not None and not isinstance(answer, Unknown):
                return answer
        if ANY_NAME in base.fields:
            return _one_of_the_bound(base.fields[ANY_NAME])
        if base.staged is not None and not is_kept(base.cls, name):
            array = base.staged
            return Array(array.staged, array.why, tree=True, certain=False)
        return Unknown(base.origin.child(name) if base.origin else None)

    def named_tuple_attribute(self, base: TupleValue, name: str, node: ast.AST, frame: Frame) -> Value:
        assert base.cls is not None
        names = list(base.cls.all_fields())
        if name in names and base.items is not None and len(base.items) == len(names):
            return base.items[names.index(name)]
        if name == "_replace":
            return ExternalObject("dataclasses.replace", [base])
        if name == "_fields":
            return TupleValue([Static(n) for n in names])
        member = self.class_member(base.cls, name)
        if isinstance(member, (Function, Transformed, Partial)):
            if member_kind(member) == "property":
                return self.machine.language.call_value(BoundMethod(member, base), [], {}, node, frame)
            return bound_to(member, base, base.cls)
        return member if isinstance(member, Static) else UNKNOWN

    def class_attribute(self, base: ClassValue, name: str, node: ast.AST, frame: Frame) -> Value:
        if base.kind == "enum":
            return _member(base)
        if name == "__init__" and base.constructor() is None and any(cls.filled for cls in base.mro()):
            return ExternalObject(WRITTEN_INIT, [base])
        member = self.class_member(base, name)
        if isinstance(member, Static) and _replaces_namespace(base):
            return UNKNOWN
        if member is not None:
            return BoundMethod(member, base) if member_kind(member) == "classmethod" else member
        if name == "__name__":
            return Static(kind="str")
        if name == "__new__":
            return External("builtins.object.__new__")
        if name in ("where", "promote") and not ENUMERATIONS.isdisjoint(
            map(canonical, base.external_bases())
        ):
            return External(f"{ENUMERATION}.{name}")
        return UNKNOWN

    def set_attribute(
        self, base: Value, name: str, value: Value, target: ast.Attribute | ast.Call, frame: Frame
    ) -> None:
        """`base.name = value`; `target` is the attribute, or the call of `setattr`."""
        if isinstance(base, (ClassValue, Function)):
            self.set_on_definition(base, name, value, target, frame)
        if isinstance(base, (Array, Unknown)) and base.origin is not None:
            base.origin.rebind(name)
        if isinstance(base, (Instance, TupleValue)) and isinstance(target, ast.Attribute):
            refused = refusing(base, name, frame, self.heirs)
            if refused is not None:
                self.machine.emit("field_store", events.FieldStoreEvent(target, frame, base, name, *refused))
        if not isinstance(base, Instance):
            return
        self.data_model.implied(base, "__setattr__", [Static(name), value], target, frame)
        if self.leaks_into(base, value, frame):
            holder = target.value if isinstance(target, ast.Attribute) else target.args[0]
            text = f"{dotted(holder) or 'the object'}.{name}"
            self.machine.emit("leak", events.LeakEvent(target, frame, value, f"the attribute `{text}`"))
            return
        member = base.cls.lookup(name)
        if isinstance(member, Function) and member.setter is not None:
            self.machine.language.call_function(member.setter, [base, value], {}, target, frame, frame.stage)
            return
        hook = base.cls.lookup("__setattr__")
        if isinstance(hook, Function) and not self.keeps_what_it_gets(base.cls, hook):
            if isinstance(value, Instance) or not isinstance(value, CALLABLE):
                value = join(value, UNKNOWN)  # what is kept is what the hook made of it
        known = base.fields.get(name)
        conditional = bool(frame.guards) or bool(frame.loops)
        base.fields[name] = join(known, value) if known is not None and conditional else value

    def leaks_into(self, base: Instance, value: Value, frame: Frame) -> bool:
        """Whether a tracer is in `value`, which an object keeps that was there before the trace."""
        if not frame.stage.staged or not frame.stage.certain or frame.catching or frame.fills_what_is_made():
            return False
        if base.cls.kind not in ("plain", "dataclass", "nnx") or base.staged is not None:
            return False
        array = find_array(value, True)
        return (
            array is not None
            and array.certain
            and self.made_outside(base, frame)
            and not self.is_handed_on(base, frame)
        )

    def keeps_what_it_gets(self, cls: ClassValue, hook: Function) -> bool:
        """Whether a `__setattr__` stores the value as it is, as those of the frameworks do."""
        return _is_frameworks(cls, "__setattr__") or stores_what_it_gets(hook.node)

    def set_on_definition(
        self,
        base: ClassValue | Function,
        name: str,
        value: Value,
        target: ast.Attribute | ast.Call,
        frame: Frame,
    ) -> None:
        """An attribute of a class or of a function, which lives as long as where it is defined."""
        if isinstance(base, ClassValue) and isinstance(value, (Function, Transformed, ClassValue)):
            base.namespace[name] = join(base.namespace.get(name, value), value) if frame.guards else value
        array = find_array(value, True)
        if array is not None and array.certain and frame.stage.staged and frame.stage.certain:
            if not frame.catching and self.machine.language.outlives_stage(base.scope, frame):
                where = f"the attribute `{base.name}.{name}`"
                self.machine.emit("leak", events.LeakEvent(target, frame, value, where))

    @staticmethod
    def is_handed_on(base: Instance, frame: Frame) -> bool:
        """Whether the staged function fills the object from its arguments, and returns what has become of it."""
        current = frame
        while current.caller is not None and current.caller.home is frame.home:
            current = current.caller
        if current.function is None or current is frame:
            return False
        for name in stored_and_returned(current.function.node):
            found = current.scope.lookup(name)
            if found is not None and found[0] is base:
                return True
        return False

    def made_outside(self, base: Instance, frame: Frame) -> bool:
        """Whether the instance existed before the innermost trace began.

        It is bound in a frame outside of it, or where the function is defined that the trace began with, or an object
        that is bound there holds it.
        """
        current: Frame | None = frame
        while current is not None:
            outer = current.caller
            if outer is None or (outer.home is not frame.home and not outer.home.staged):
                around = [outer.scope] if outer is not None else []
                scope = current.scope.parent
                while scope is not None:
                    around.append(scope)
                    scope = scope.parent
                bound = (value for held in around for value in held.variables.values())
                return base is base.cls.prototype or any(_holds(value, base) for value in bound)
            current = outer
        return False

    def run_setup(self, instance: Instance, node: ast.AST, frame: Frame) -> None:
        instance.ready = True
        setup = instance.cls.lookup("setup")
        if isinstance(setup, Function):
            self.machine.language.call_function(setup, [instance], {}, node, frame, frame.stage)

    def module_call_method(self, instance: Instance) -> Value | None:
        if not instance.ready and instance.cls.kind in ("linen", "haiku"):
            setup = instance.cls.lookup("setup")
            if isinstance(setup, Function) and instance.cls.module.state == "done":
                instance.ready = False
        return instance.cls.lookup("__call__")

    def replace_fields(self, base: Value, kwargs: dict[str, Value]) -> Value:
        """`dataclasses.replace(base, **kwargs)` and its like."""
        if isinstance(base, Instance):
            return Instance(
                base.cls, {**base.fields, **kwargs}, base.open, base.origin, base.ready, base.staged
            )
        if isinstance(base, TupleValue) and base.cls is not None and base.items is not None:
            names = list(base.cls.all_fields())
            items = [kwargs.get(n, v) for n, v in zip(names, base.items, strict=False)]
            return TupleValue(items, cls=base.cls)
        if isinstance(base, Array):
            return Array(
                base.staged,
                base.why,
                tree=True,
                certain=base.certain,
                origin=base.origin.without(kwargs) if base.origin is not None else None,
                like=base.like or base.origin,
                jitted=base.jitted,
            )
        if isinstance(base, DictValue):
            return base
        return UNKNOWN


def _holds(value: Value, part: Instance, depth: int = 2) -> bool:
    """Whether a value is `part`, or an ordinary object that has it in an attribute."""
    if value is part:
        return True
    if depth == 0 or not isinstance(value, Instance) or value.staged is not None or value.cls.kind != "plain":
        return False
    return any(_holds(field, part, depth - 1) for field in value.fields.values())


@cache
def set_on_classes(module: Module) -> frozenset[str]:
    """Names of attributes that the module sets on something that looks like a class: `Model.debug = True`."""
    return frozenset(_SET_ON_CLASS.findall(module.source.text))


_SET_ON_CLASS = re.compile(r"^[ \t]+(?:\w+\.)*(?:_?[A-Z]\w*|cls)\.(\w+) = ", re.MULTILINE)


def _is_frameworks(cls: ClassValue, name: str) -> bool:
    """Whether `name` is defined by a framework's own base class."""
    owner = next((owner for owner in cls.mro() if name in owner.namespace), None)
    return owner is not None and public_class(owner.module.name, owner.name) in BASE_KINDS


# What the methods of a linen module are to the analysis.
_LINEN_METHODS = {
    **{
        name: f"flax.linen.Module.{name}"
        for name in (
            "param",
            "variable",
            "make_rng",
            "sow",
            "is_initializing",
            "apply",
            "init",
            "init_with_output",
            "lazy_init",
            "tabulate",
        )
    },
    "has_variable": "flax.linen.Module.is_initializing",
}


def _member(cls: ClassValue) -> Static:
    """A member of an enum; those of an `IntEnum` are numbers to JAX, and are traced."""
    integers = {"enum.IntEnum", "enum.IntFlag", "builtins.int"}
    return Static(kind="enum" if integers.isdisjoint(cls.external_bases()) else "int")


def decorated(cls: ClassValue, decorator: Value) -> ClassValue:
    """The class, after a decorator that writes dataclasses or registers them, or a call of one that does as much."""
    kind = DECORATOR_KINDS.get(canonical(_decorator_name(decorator)))
    if kind is not None and cls.kind not in MODULE_KINDS and cls.kind not in ("pytree", "registered"):
        cls.kind = kind
    cls.filled = cls.filled or _writes_constructor(decorator)
    return cls


def redecorates(name: str, cls: ClassValue) -> bool:
    """Whether a call of `name` makes a dataclass of a class, or registers it, as its decorator would.

    A plain class that flattens itself and has bases outside of the project stays one: its instances hold tracers
    wherever their arguments do.
    """
    opaque = cls.kind == "plain" and flattening(cls) is not None and bool(cls.external_bases())
    return name in DECORATOR_KINDS and not opaque


def _writes_constructor(decorator: Value) -> bool:
    """Whether a decorator gives the class an `__init__` of its fields, instead of one that it inherits."""
    if canonical(_decorator_name(decorator)) not in _FILLS:
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


def _is_chex(member: Value | None) -> bool:
    """Whether chex itself is being analysed, whose test cases have the property."""
    return isinstance(member, Function) and member.module.name.partition(".")[0] == "chex"


def _is_left_out(declared: Field) -> bool:
    """Whether the constructor takes no argument by position for a field: `field(init=False)`, `field(kw_only=True)`."""
    options = declared.made.kwargs if declared.made is not None else {}
    init, named = (options.get(name) for name in ("init", "kw_only"))
    return (isinstance(init, Static) and init.const is False) or (
        isinstance(named, Static) and named.const is True
    )


def _is_kept_out(metadata: ast.Dict) -> bool:
    """Whether the metadata of a dataclass' field say that it is no part of the pytree: `{"pytree_node": False}`."""
    given = {
        key.value: value
        for key, value in zip(metadata.keys, metadata.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    node = given.get("pytree_node")
    return "static" in given or (isinstance(node, ast.Constant) and node.value is False)


def _kept_out(default: ExternalObject) -> bool:
    """Whether a field's `field(...)`, made by whatever helper, says that the field is no part of the pytree."""
    given, other = default.kwargs, None
    metadata = given.get("metadata")
    if isinstance(metadata, DictValue):
        given, other = metadata.items, metadata.element  # `metadata.setdefault("pytree_node", False)`
    return constant(given.get("pytree_node", other or UNKNOWN)) is False or (
        constant(given.get("static", UNKNOWN)) is True
    )


def _one_of_the_bound(value: Value) -> Value:
    """What one name gives of what is stored under several: which arguments a function is bound to depends on the name."""
    if isinstance(value, Choice) and any(isinstance(option, Partial) for option in value.options):
        return Choice(value.options)
    return value


def _is_method(member: Value) -> bool:
    return isinstance(member, (Function, Transformed, Partial)) and member_kind(member) != "property"


def _replaces_namespace(cls: ClassValue) -> bool:
    """Whether its metaclass makes a class of another namespace than the body of the class, as enumerations do."""
    meta = next((owner.meta for owner in cls.mro() if isinstance(owner.meta, ClassValue)), None)
    new = meta.lookup("__new__") if meta is not None else None
    if not isinstance(new, Function):
        return False
    body = [parameter.arg for parameter in positional_parameters(new.node)][3:4]
    makes = [call for call in nodes_of(new.node, ast.Call) if last_name(call.func) == "__new__" and call.args]
    return any([last.id] != body if isinstance(last := call.args[-1], ast.Name) else True for call in makes)
