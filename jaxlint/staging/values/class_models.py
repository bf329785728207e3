"""What a library makes of classes of the program that derive from one of its own, or that it decorates.

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

    `kind`: what rules ask for. `fields`: its annotations declare fields, and its instances are made of them. `pytree`:
    JAX takes its instances apart. `module`: it has parameters, and is called.
    """

    kind: str
    fields: bool = False
    pytree: bool = False
    module: bool = False
    by_reference: bool = False  # a stage gets its instances themselves, not copies made of their leaves
    static_fields: bool | tuple[str, ...] = False  # which fields are no leaves: all, or those of these types
    set_up: Literal["", "once", "anew"] = ""  # `setup` runs before an instance is used: once, or for each use
    checks: tuple[str, ...] = ()  # methods that run once an instance is made
    makers: frozenset[str] = _NOTHING  # where a class that is frozen still takes attributes, while it is made
    members: Mapping[str, str] = field(
        default_factory=lambda: _NO_MEMBERS
    )  # methods of the base, by what models call them
    bound_members: frozenset[str] = _NOTHING  # those whose models ask for the instance
    replaceable: bool = False  # its instances have `replace`

    def keeps_static(self, annotation: str) -> bool:
        """Whether a field with this annotation is no leaf."""
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
    """What a decorator of classes does. `freezes`: its instances refuse assignments: always, or when it is told to.

    `unlocked_by`: the names by which a class of this kind unlocks itself.
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
    """Says what classes are that derive from the class of this qualified name; `lib.*` stands for each class of a module.

    `frozen`: their instances refuse assignments. Raises ValueError where the name has a model already.
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
    """Says what the decorator of this qualified name makes of a class. Raises ValueError where it has a model already."""
    if name in _DECORATORS:
        raise ValueError(f"two models of the decorator {name}")
    _DECORATORS[name] = Decorator(model, writes_init, freezes, unlocked_by)


def makes_fields(*names: str) -> None:
    """Says what declares a field, and is told its default: `dataclasses.field` and its like."""
    _FIELD_MAKERS.update(names)


def class_members(name: str, members: Mapping[str, str]) -> None:
    """Says what classes that derive from the one of this qualified name have beside what they define, by what models call it."""
    _CLASS_MEMBERS[name] = members


def test_members(members: Mapping[str, str]) -> None:
    """Says what a test case has that a library gives to its methods, by what models call it."""
    _TEST_MEMBERS.update(members)


def class_member(bases: Iterable[str], name: str) -> str | None:
    """What a class with these bases has under a name beside what it defines, by what models call it."""
    return next((known for base in bases if (known := _CLASS_MEMBERS.get(base, _NO_MEMBERS).get(name))), None)


def test_member(name: str) -> str | None:
    """What a test case may have under a name, by what models call it."""
    return _TEST_MEMBERS.get(name)


def model_of_class(name: str) -> ClassModel | None:
    """What the class of this canonical name is, and so what derives from it."""
    return _BASES.get(name)


def model_of_base(name: str) -> ClassModel | None:
    """What a base of this canonical name makes of a class: it may be any class of a module that has a model."""
    found = _BASES.get(name)
    if found is None and name[-1:].isalpha():
        module, _, cls = name.rpartition(".")
        return _FAMILIES.get(f"{module}.") if cls[:1].isupper() else None
    return found


def decorator_of(name: str) -> Decorator | None:
    """What the decorator of this canonical name makes of a class."""
    return _DECORATORS.get(name)


def is_frozen_base(name: str) -> bool:
    """Whether instances of what derives from this class refuse assignments."""
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
