"""What libraries say of classes: each name once, families of bases, frozen instances and fields."""

from __future__ import annotations

import pytest

from jaxlint.libraries import load
from jaxlint.staging.values import class_models
from jaxlint.staging.values.class_models import (
    DATACLASS,
    PLAIN,
    PYTREE,
    ClassModel,
    base,
    class_member,
    decorator,
    decorator_of,
    is_field_maker,
    is_frozen_base,
    model_of_base,
    model_of_class,
)

load()


def test_a_name_has_one_model() -> None:
    with pytest.raises(ValueError, match="two models of the class"):
        base("typing.NamedTuple", PLAIN)
    with pytest.raises(ValueError, match="two models of the decorator"):
        decorator("dataclasses.dataclass", PYTREE)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("flax.linen.Module", "linen"),
        ("flax.linen.Dense", "linen"),  # whoever derives from a layer writes a module
        ("flax.linen.initializers.zeros", None),
        ("flax.linen.compact", None),
        ("equinox.Module", "equinox"),
        ("flax.nnx.Module", "nnx"),
        ("haiku.Module", "haiku"),
        ("flax.struct.PyTreeNode", "pytree"),
        ("typing.Generic", None),
    ],
)
def test_what_a_base_makes_of_a_class(name: str, kind: str | None) -> None:
    found = model_of_base(name)
    assert (found and found.kind) == kind


def test_only_a_class_with_a_model_is_known_by_itself() -> None:
    assert model_of_class("flax.linen.Module") is model_of_base("flax.linen.Dense")
    assert model_of_class("flax.linen.Dense") is None


@pytest.mark.parametrize(
    ("name", "kind", "freezes", "writes_init"),
    [
        ("dataclasses.dataclass", "dataclass", "told", True),
        ("attrs.frozen", "dataclass", "always", True),
        ("attr.s", "dataclass", "told", True),
        ("flax.struct.dataclass", "pytree", "always", True),
        ("chex.dataclass", "pytree", "told", True),
        ("jax.tree_util.register_dataclass", "registered", "", False),
        ("jax.tree_util.register_static", "static", "", False),
    ],
)
def test_what_a_decorator_makes_of_a_class(name: str, kind: str, freezes: str, writes_init: bool) -> None:
    found = decorator_of(name)
    assert found is not None
    assert (found.model.kind, found.freezes, found.writes_init) == (kind, freezes, writes_init)


def test_what_refuses_assignments_and_what_declares_fields() -> None:
    assert is_frozen_base("equinox.Module")
    assert not is_frozen_base("flax.linen.Module")
    assert is_field_maker("flax.struct.field")
    assert not is_field_maker("flax.struct.dataclass")


def test_members_that_a_base_gives_to_classes() -> None:
    assert class_member(["typing.Generic", "equinox.Enumeration"], "where") == "equinox.Enumeration.where"
    assert class_member(["typing.Generic"], "where") is None


@pytest.mark.parametrize(
    ("fields", "annotation", "static"),
    [
        (True, "jax.Array", True),
        (False, "int", False),
        (("int", "str"), "int", True),
        (("int",), "Array", False),
    ],
)
def test_fields_that_are_no_leaves(fields: bool | tuple[str, ...], annotation: str, static: bool) -> None:
    assert ClassModel("own", static_fields=fields).keeps_static(annotation) is static


def test_ordinary_classes_have_their_own_models() -> None:
    assert PLAIN != DATACLASS
    assert class_models.test_member("variant") == "chex.variant"
