"""How a library changes program classes that derive from its classes or that it decorates.

A library says so in its module of `jaxlint/libraries`:

    MODULE = ClassModel("linen", fields=True, module=True)
    base("flax.linen.Module", MODULE)
    decorator("flax.struct.dataclass", PYTREE, freezes="always")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

_NOTHING: frozenset[str] = frozenset()
_NO_MEMBERS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class ClassModel:
    """What instances of a class are to JAX and to Python.

    `kind`: the name that rules compare. `fields`: its annotations declare fields, which the constructor takes.
    `pytree`: JAX flattens its instances. `module`: it has parameters and is called.
    """

    kind: str
    fields: bool = False
    pytree: bool = False
    module: bool = False
    # a traced function receives the instances themselves, not copies rebuilt from their leaves
    by_reference: bool = False
    # fields that are not leaves: all of them, or those of these types
    static_fields: bool | tuple[str, ...] = False
    set_up: Literal["", "once", "each use"] = ""  # when `setup` runs before an instance is used
    checks: tuple[str, ...] = ()  # methods that run after the constructor
    makers: frozenset[str] = _NOTHING  # where a frozen class still accepts attributes during construction
    members: Mapping[str, str] = field(
        default_factory=lambda: _NO_MEMBERS
    )  # methods of the base class, with the name of their model
    bound_members: frozenset[str] = _NOTHING  # methods whose models need the instance
    replaceable: bool = False  # its instances have a method `replace`

    def keeps_static(self, annotation: str) -> bool:
        """Whether a field with this annotation is static, so not a leaf."""
        if isinstance(self.static_fields, bool):
            return self.static_fields
        return annotation.endswith(self.static_fields)


PLAIN = ClassModel("plain")
PYTREE = ClassModel("pytree", fields=True, pytree=True, replaceable=True)
DATACLASS = ClassModel("dataclass", fields=True)
NAMED_TUPLE = ClassModel("namedtuple", fields=True)
ENUM = ClassModel("enum")


@dataclass(frozen=True, slots=True)
class Decorator:
    """What a class decorator does. `freezes`: its instances refuse assignments, either always or if an argument says
    so.

    `unlocked_by`: the names by which such a class unlocks itself.
    """

    model: ClassModel
    writes_init: bool = True
    freezes: Literal["", "always", "told"] = ""
    unlocked_by: frozenset[str] = _NOTHING


_BASES: dict[str, ClassModel] = {}
_FAMILIES: dict[str, ClassModel] = {}
_DECORATORS: dict[str, Decorator] = {}
_FROZEN_BASES: set[str] = set()
_FIELD_MAKERS: set[str] = set()
_CLASS_MEMBERS: dict[str, Mapping[str, str]] = {}
_TEST_MEMBERS: dict[str, str] = {}


def base(name: str, model: ClassModel, *, frozen: bool = False) -> None:
    """Declares the model of classes that derive from the class of this qualified name; `lib.*` stands for every class
    of a module.

    `frozen`: their instances refuse assignments. Raises ValueError if the name already has a model.
    """
    models = _FAMILIES if name.endswith("*") else _BASES
    if name in models:
        raise ValueError(f"two models of the class {name}")
    models[name.rstrip("*")] = model
    if frozen:
        _FROZEN_BASES.add(name)


def decorator(
    name: str,
    model: ClassModel,
    *,
    writes_init: bool = True,
    freezes: Literal["", "always", "told"] = "",
    unlocked_by: frozenset[str] = _NOTHING,
) -> None:
    """Declares how the decorator of this qualified name changes a class. Raises ValueError if the name already has
    a model."""
    if name in _DECORATORS:
        raise ValueError(f"two models of the decorator {name}")
    _DECORATORS[name] = Decorator(model, writes_init, freezes, unlocked_by)


def makes_fields(*names: str) -> None:
    """Declares functions that declare a field and receive its default, such as `dataclasses.field`."""
    _FIELD_MAKERS.update(names)


def class_members(name: str, members: Mapping[str, str]) -> None:
    """Declares the members that classes derived from this qualified name inherit, with the name of each one's model."""
    _CLASS_MEMBERS[name] = members


def test_members(members: Mapping[str, str]) -> None:
    """Declares the members that a library adds to test cases, with the name of each one's model."""
    _TEST_MEMBERS.update(members)


def class_member(bases: Iterable[str], name: str) -> str | None:
    """The model name of a member that a class inherits from one of these bases."""
    return next((known for base in bases if (known := _CLASS_MEMBERS.get(base, _NO_MEMBERS).get(name))), None)


def test_member(name: str) -> str | None:
    """The model name of a member that a test case may have."""
    return _TEST_MEMBERS.get(name)


def model_of_class(name: str) -> ClassModel | None:
    """The model of the class with this canonical name, and of classes derived from it."""
    return _BASES.get(name)


def model_of_base(name: str) -> ClassModel | None:
    """The model that a base of this canonical name gives to a class; the base may be any class of a module that has a
    model."""
    found = _BASES.get(name)
    if found is None and name[-1:].isalpha():
        module, _, cls = name.rpartition(".")
        return _FAMILIES.get(f"{module}.") if cls[:1].isupper() else None
    return found


def decorator_of(name: str) -> Decorator | None:
    """How the decorator of this canonical name changes a class."""
    return _DECORATORS.get(name)


def is_frozen_base(name: str) -> bool:
    """Whether instances of classes derived from this one refuse assignments."""
    return name in _FROZEN_BASES


def is_field_maker(name: str) -> bool:
    """Whether a function declares a field of a class."""
    return name in _FIELD_MAKERS


for _name in ("typing.NamedTuple", "collections.namedtuple"):
    base(_name, NAMED_TUPLE, frozen=_name.startswith("typing"))
for _name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"):
    base(f"enum.{_name}", ENUM)
decorator("dataclasses.dataclass", DATACLASS, freezes="told")
makes_fields("dataclasses.field")
