"""What makes an object: bases, decorators of classes, `__new__`, flattening of one's own."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import answers_of

WRITTEN = """
    import dataclasses
    import jax
    import jax.numpy as jnp

    def made(cls, kept):
        data = dataclasses.dataclass(frozen=True)(cls)
        jax.tree_util.register_dataclass(data, ["value"], kept)
        written = data.__init__
        def init(self, *args, **kwargs):
            written(self, *args, **kwargs)
        data.__init__ = init
        return data

    class Node:
        def __init__(self, *args, **kwargs):
            raise NotImplementedError("a dataclass writes it")
        def __init_subclass__(cls, kept):
            made(cls, kept)

    class State(Node, kept=["call"]):
        value: jax.Array
        call: object

    class Named(State, kept=["call", "name"]):
        name: str = "x"

    def scaled(value):
        return value * 2

    def other(value):
        return value

    @jax.jit
    def step(state):
        return state.call(state.value)

    step(MAKE)
"""


@pytest.mark.parametrize(
    "make",
    ["State(jnp.ones(3), scaled)", "State(call=scaled, value=jnp.ones(3))", "Named(jnp.ones(3), scaled)"],
)
def test_a_base_may_write_the_constructor_of_what_derives_from_it(tmp_path: Path, make: str) -> None:
    known = answers_of(tmp_path, WRITTEN.replace("MAKE", make))
    runpy.run_path(str(tmp_path / "program.py"))
    assert known["scaled"] == ("yes", {"value": "traced"})
    assert known["other"][0] != "yes"
    assert known["step"] == ("yes", {"state": "traced"})


PLAIN = """
    import jax
    import jax.numpy as jnp

    class Scope:
        def __init__(self, variables):
            self.variables = variables

    def known(scopes):
        return {scope: 0 for scope in scopes}

    def used(leaf):
        return leaf

    @jax.jit
    def step(x):
        leaves, _ = jax.tree.flatten([Scope({"x": x})])
        known(leaves)
        return used(jax.tree.leaves({"x": x})[0])

    step(jnp.ones(3))
"""


def test_objects_that_are_no_pytrees_are_leaves(tmp_path: Path) -> None:
    known = answers_of(tmp_path, PLAIN)
    assert known["known"][1] == {"scopes": "static"}
    assert known["used"] == ("yes", {"leaf": "traced"})


FLATTENING = """
    import abc
    import dataclasses
    import jax
    import jax.numpy as jnp

    class StructBASES:
        def tree_flatten_with_keys(self):
            names = [field.name for field in dataclasses.fields(self)]
            keyed = [(jax.tree_util.GetAttrKey(name), getattr(self, name)) for name in names]
            return keyed, tuple(names)

        def tree_flatten(self):
            keyed, names = self.tree_flatten_with_keys()
            return [child for _, child in keyed], names

        @classmethod
        def tree_unflatten(cls, names, children):
            return cls(**dict(zip(names, children)))

    def struct(cls=None, *, frozen=True):
        if cls is None:
            return lambda cls: struct(cls, frozen=frozen)
        cls = dataclasses.dataclass(frozen=frozen)(cls)
        jax.tree_util.register_pytree_with_keys_class(cls)
        return cls

    @struct
    class Selection(Struct):
        whole: jax.Array
        chosen: jax.Array

        def apply(self, function):
            leaves, tree = jax.tree.flatten(self)
            return tree.unflatten([function(leaf) for leaf in leaves])

    def doubled(part):
        return part * 2

    @jax.jit
    def step(x):
        return Selection(x, x + 1).apply(doubled)

    step(jnp.ones(3))
"""


@pytest.mark.parametrize("bases", ["", "(abc.ABC)"])
def test_what_flattens_itself_gives_its_leaves_whoever_makes_a_dataclass_of_it(
    tmp_path: Path, bases: str
) -> None:
    known = answers_of(tmp_path, FLATTENING.replace("BASES", bases))
    runpy.run_path(str(tmp_path / "program.py"))
    assert known["Selection.apply"] == ("yes", {"self": "traced", "function": "static"})


DECORATED_TWICE = """
    import dataclasses
    import jax
    import jax.numpy as jnp

    def struct(*args):
        return dataclasses.dataclass(*args, frozen=True)

    def registered(cls):
        return jax.tree_util.register_dataclass(cls)

    def documented(cls):
        cls.__doc__ = "A state."
        return cls

    @OUTER
    @struct
    class State:
        mean: jax.Array
        order: int = dataclasses.field(metadata={"static": True})

    def advance(state):
        return state.mean + state.order

    @jax.jit
    def step(x):
        return advance(State(x, 3))

    step(jnp.ones(3))
"""


@pytest.mark.parametrize(("outer", "given"), [("registered", "traced"), ("documented", "static")])
def test_each_decorator_of_a_class_gets_what_the_one_below_made(
    tmp_path: Path, outer: str, given: str
) -> None:
    known = answers_of(tmp_path, DECORATED_TWICE.replace("OUTER", outer))
    assert known["advance"][1] == {"state": given}


BARE = """
    import jax
    import jax.numpy as jnp

    @jax.tree_util.register_pytree_node_class
    class Pairs:
        def __init__(self, given):
            raise NotImplementedError
        @staticmethod
        def of(keys, values):
            made = MADE
            fill(made, keys, values)
            return made
        def tree_flatten(self):
            return self.values, self.keys
        @classmethod
        def tree_unflatten(cls, keys, values):
            return cls.of(keys, values)

    def fill(pairs, keys, values):
        pairs.keys, pairs.values = keys, values

    def total(pairs):
        return sum(pairs.values)

    @jax.jit
    def step(x):
        return total(Pairs.of(("a",), [x]))

    step(jnp.ones(3))
"""


@pytest.mark.parametrize("made", ["object.__new__(Pairs)", "Pairs.__new__(Pairs)"])
def test_an_object_that_new_makes_has_what_is_put_into_it(tmp_path: Path, made: str) -> None:
    source = textwrap.dedent(BARE).replace("MADE", made)
    exec(compile(source, "program.py", "exec"), {"__name__": "program"})
    known = answers_of(tmp_path, source)
    assert known["total"] == ("yes", {"pairs": "traced"})
    assert known["fill"][1] == {"pairs": "static", "keys": "static", "values": "traced"}  # as it gets it


def test_what_a_number_s_new_makes_is_no_object_of_the_project(tmp_path: Path) -> None:
    known = answers_of(tmp_path, textwrap.dedent(BARE).replace("MADE", "int.__new__(Pairs)"))
    assert known["total"][1] == {"pairs": "unknown"}


def test_jax_takes_apart_what_is_in_a_stage_whoever_does_on_the_host(tmp_path: Path) -> None:
    source = """
        import jax
        import jax.numpy as jnp

        class Kept:
            def __init__(self, value):
                self.value = value

        class Never(Kept): ...

        def flatten(kept):
            return (kept.value,), None

        def unflatten(_, children):
            return Kept(*children)

        def flatten_never(kept):
            return (kept.value,), None

        jax.tree_util.register_pytree_node(Kept, flatten, unflatten)
        jax.tree_util.register_pytree_node(Never, flatten_never, unflatten)

        @jax.jit
        def step(x):
            return Kept(x)

        step(jnp.ones(3))
        flatten(Kept(2.0))
        flatten_never(Never(2.0))
    """
    known = answers_of(tmp_path, source)
    assert known["flatten"] == ("yes", {"kept": "traced"})
    assert known["flatten_never"] == ("no", {"kept": "static"})
