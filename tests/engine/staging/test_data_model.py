"""What Python and JAX call on their own: special methods, metaclasses, flattening; and what a call does to its objects."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import facts_of, findings_in

OPERATIONS = {
    "v + w": "__add__",
    "2 * v": "__rmul__",
    "-v": "__neg__",
    "v[0]": "__getitem__",
    "len(v)": "__len__",
    "[*v]": "__iter__",
    "v == w": "__eq__",
    "w > v": "__lt__",
    "w in v": "__contains__",
    "abs(v)": "__abs__",
    "v(2.0)": "__call__",
    "v.other": "__getattr__",
    "v.__setitem__(0, 1.0)": "__setitem__",
}
VECTOR = """
    import jax
    import jax.numpy as jnp

    SEEN = []

    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args)

    @jax.tree_util.register_pytree_node_class
    class Vector(metaclass=Meta):
        def __init__(self, x, name):
            self.x, self.name = x, name
        def tree_flatten(self):
            return (self.x,), self.name
        @classmethod
        def tree_unflatten(cls, name, children):
            return cls(*children, name)
        def see(self, method, result):
            SEEN.append((method, isinstance(self.x, jax.core.Tracer)))
            return result
        def __add__(self, other):
            return self.see("__add__", self.x + other.x)
        def __rmul__(self, other):
            return self.see("__rmul__", self.x * other)
        def __neg__(self):
            return self.see("__neg__", -self.x)
        def __getitem__(self, i):
            return self.see("__getitem__", self.x[i])
        def __setitem__(self, i, value):
            self.x = self.see("__setitem__", self.x.at[i].set(value))
        def __len__(self):
            return self.see("__len__", 3)
        def __iter__(self):
            return self.see("__iter__", iter([self.x, self.x]))
        def __eq__(self, other):
            return self.see("__eq__", self.x == other.x)
        def __lt__(self, other):
            return self.see("__lt__", self.x < other.x)
        def __contains__(self, other):
            return self.see("__contains__", other is self)
        def __abs__(self):
            return self.see("__abs__", abs(self.x))
        def __call__(self, t):
            return self.see("__call__", self.x + t)
        def __getattr__(self, name):
            if name == "other":
                return self.see("__getattr__", self.x)
            raise AttributeError(name)

    @jax.jit
    def f(v, w):
        {operation}
        return v.x

    f(Vector(jnp.ones(3), "a"), Vector(jnp.ones(3), "a"))
"""


def facts(tmp_path: Path, source: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Whether each function runs in a stage, and what its parameters are."""
    return {name: (fact.staged, fact.params) for name, fact in facts_of(tmp_path, source).items()}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_special_methods_run_where_python_runs_them(tmp_path: Path, operation: str) -> None:
    source = textwrap.dedent(VECTOR).format(operation=operation)
    method = OPERATIONS[operation]
    namespace: dict[str, object] = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), namespace)
    assert (method, True) in namespace["SEEN"]  # type: ignore[operator]
    found = facts(tmp_path, source)
    assert found[f"Vector.{method}"][0] == "yes"
    assert found[f"Vector.{method}"][1]["self"] == "traced"
    others = set(OPERATIONS.values()) - {method}
    assert [other for other in others if found[f"Vector.{other}"][0] == "yes"] == []


def test_objects_are_taken_apart_and_put_together_at_the_border_of_a_stage(tmp_path: Path) -> None:
    found = facts(tmp_path, textwrap.dedent(VECTOR).format(operation="pass"))
    assert found["Vector.tree_unflatten"][0] == "yes"
    assert found["Vector.tree_unflatten"][1]["children"] == "traced"
    assert found["Vector.tree_flatten"] == ("yes", {"self": "traced"})
    assert found["Meta.__call__"][1]["args"] == "traced"


def test_a_call_that_is_remembered_still_sets_attributes(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        """
        import jax
        import jax.numpy as jnp
        from flax import nnx

        class Block(nnx.Module):
            def __init__(self, size, rngs):
                self.linear = nnx.Linear(size, size, rngs=rngs)
                self.dropout = nnx.Dropout(0.1, rngs=rngs)

            def __call__(self, x):
                return self.after(self.dropout(self.linear(x)))

            def after(self, y):
                return y + 1

        class Model(nnx.Module):
            def __init__(self, rngs):
                self.first = Block(4, rngs)
                self.blocks = nnx.List([Block(4, rngs) for _ in range(3)])

            def __call__(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        @nnx.jit
        def predict(model, x):
            return model(x)

        predict(Model(nnx.Rngs(0)), jnp.ones((2, 4)))
        """,
    )
    assert found["Block.after"] == ("yes", {"self": "traced", "y": "traced"})
    assert found["Model.__call__"] == ("yes", {"self": "traced", "x": "traced"})


def test_a_wrapper_with_a_getattr_leads_to_what_it_returns(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        """
        import jax
        import jax.numpy as jnp

        class Env:
            def step(self, x):
                return x + 1

        class Wrapper:
            def __init__(self, env):
                self._env = env

            def __getattr__(self, name):
                return getattr(self._env, name)

        env = Wrapper(Env())

        @jax.jit
        def rollout(x):
            return env.step(x)

        rollout(jnp.ones(3))
        """,
    )
    assert found["Env.step"] == ("yes", {"self": "static", "x": "traced"})


STACKS = """
    import jax
    import jax.numpy as jnp

    class Stack:
        def __init__(self):
            self.items = []
        def push(self, item):
            self.items.append(item)
        def peek(self):
            return self.items[-1]

    names, arrays = Stack(), Stack()

    def named(name):
        return name

    def used(array):
        return array

    @jax.jit
    def step(x):
        names.push("x")
        arrays.push(x)
        named(names.peek())
        return used(arrays.peek())

    step(jnp.ones(3))
"""


def test_objects_made_by_calls_alike_keep_lists_of_their_own(tmp_path: Path) -> None:
    known = facts(tmp_path, STACKS)
    assert known["named"][1] == {"name": "static"}
    assert known["used"] == ("yes", {"array": "traced"})


PREDICATES = """
    import jax
    import jax.numpy as jnp

    class Named:
        def __init__(self, name):
            self.name = name
        def __call__(self, path, leaf):
            return self.name in path

    class OfType:
        def __init__(self, kind):
            self.kind = kind
        def __call__(self, path, leaf):
            return isinstance(leaf, self.kind)

    class Always:
        def __call__(self, path, leaf):
            return True

    class Never:
        def __call__(self, path, leaf):
            return False

    def predicate(given):
        if isinstance(given, str):
            return Named(given)
        elif isinstance(given, type):
            return OfType(given)
        elif given is Ellipsis:
            return Always()
        elif given is None:
            return Never()
        elif callable(given):
            return given
        raise TypeError(given)

    def chosen(leaves, *given):
        predicates = tuple(map(predicate, given))
        return {k: v for k, v in leaves.items() if any(p(k, v) for p in predicates)}

    class Kept: ...

    @jax.jit
    def step(x):
        return chosen({"a": x}, FILTER)

    step(jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("filter", "called"),
    [("'a'", "Named"), ("Kept", "OfType"), ("...", "Always"), ("None", "Never"), ("Always()", "Always")],
)
def test_what_an_object_is_decides_what_is_made_of_it(tmp_path: Path, filter: str, called: str) -> None:
    known = facts(tmp_path, PREDICATES.replace("FILTER", filter))
    for cls in ("Named", "OfType", "Always", "Never"):
        staged, params = known[f"{cls}.__call__"]
        assert (staged == "yes", params["leaf"] == "traced") == (cls == called, cls == called)


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
    known = facts(tmp_path, WRITTEN.replace("MAKE", make))
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
    known = facts(tmp_path, PLAIN)
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
    known = facts(tmp_path, FLATTENING.replace("BASES", bases))
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
    known = facts(tmp_path, DECORATED_TWICE.replace("OUTER", outer))
    assert known["advance"][1] == {"state": given}


NAMED_TUPLES = """
    from typing import NamedTuple
    import jax
    import jax.numpy as jnp

    class Position(NamedTuple):
        row: jax.Array
        column: jax.Array

        def __eq__(self, other):
            return equal(self.row, other.row) & equal(self.column, other.column)

        def __add__(self, other):
            return Position(moved(self.row, other.row), moved(self.column, other.column))

    def equal(here, there):
        return here == there

    def moved(here, by):
        return here + by

    @jax.jit
    def reached(row, column):
        here = Position(row, column)
        return here + Position(1, 0) == Position(column, row)

    reached(jnp.ones(()), jnp.ones(()))
"""


def test_a_named_tuple_says_what_operators_do_with_it(tmp_path: Path) -> None:
    known = facts(tmp_path, NAMED_TUPLES)
    runpy.run_path(str(tmp_path / "program.py"))
    assert known["equal"] == ("yes", {"here": "traced", "there": "traced"})
    assert known["moved"] == ("yes", {"here": "traced", "by": "static"})
    assert not findings_in(tmp_path, {"program.py": NAMED_TUPLES})


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
    known = facts(tmp_path, source)
    assert known["total"] == ("yes", {"pairs": "traced"})
    assert known["fill"][1] == {"pairs": "static", "keys": "static", "values": "traced"}  # as it gets it


def test_what_a_number_s_new_makes_is_no_object_of_the_project(tmp_path: Path) -> None:
    known = facts(tmp_path, textwrap.dedent(BARE).replace("MADE", "int.__new__(Pairs)"))
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
    known = facts(tmp_path, source)
    assert known["flatten"] == ("yes", {"kept": "traced"})
    assert known["flatten_never"] == ("no", {"kept": "static"})


ABLE = """
    import jax
    import jax.numpy as jnp
    from collections.abc import Iterable, Mapping, Sequence

    class Pairs(BASE):
        def __init__(self, keys, values):
            self._keys, self._values = keys, values
        def __len__(self):
            return len(self._keys)
        def __getitem__(self, i):
            return self._keys[i], self._values[i]
        def __iter__(self):
            return iter(zip(self._keys, self._values))

    def nested(pairs):
        if not isinstance(pairs, Mapping):
            pairs = dict(pairs)
        if isinstance(pairs, Mapping):
            pairs = pairs.items()
        result = {}
        for path, value in pairs:
            inner = result
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner[path[-1]] = value
        return result

    def read(tree):
        return jax.tree.leaves(tree)

    @jax.jit
    def step(x):
        return read(nested(Pairs([("a", "b")], [x])))

    if __name__ == "program":
        step(jnp.ones(3))
"""


def test_containers_are_what_the_abstract_classes_say_they_can_do(tmp_path: Path) -> None:
    source = textwrap.dedent(ABLE).replace("BASE", "Sequence")
    exec(compile(source, "program.py", "exec"), {"__name__": "program"})
    assert facts(tmp_path, source)["read"] == ("yes", {"tree": "traced"})


@pytest.mark.parametrize("base", ["Mapping", "Base"])
def test_what_derives_from_a_mapping_or_from_what_is_not_known_may_be_one(tmp_path: Path, base: str) -> None:
    source = textwrap.dedent(ABLE).replace("BASE", base)
    source = source.replace("import jax\n", "import jax\nfrom elsewhere import Base\n", 1)
    assert facts(tmp_path, source)["read"][0] == "unknown"


def test_an_array_can_be_gone_through_and_is_no_sequence(tmp_path: Path) -> None:
    source = """
        import jax
        from collections.abc import Iterable, Sequence

        def parts(x): return x
        def items(x): return x

        @jax.jit
        def step(x, y):
            x, y = x + 1, y + 1
            return parts(x) if isinstance(x, Iterable) else None, items(y) if isinstance(y, Sequence) else None

        step(jax.numpy.ones(3), jax.numpy.ones(3))
    """
    known = facts(tmp_path, source)
    assert known["parts"] == ("yes", {"x": "traced"})
    assert known["items"][0] == "unknown"


HOLDING = """
    import jax
    import jax.numpy as jnp
    from collections import deque
    from typing import TypeVar

    T = TypeVar("T")

    class Held(BASE): ...

    def flatten(held):
        return tuple(held), None

    REGISTER

    def fill(held, x):
        FILL

    def read(held):
        return READ

    @jax.jit
    def step(x):
        held = Held()
        fill(held, x)
        return read(held)

    step(jnp.ones(3))
"""
HOLDS = {
    "list": ("list", "held.append(x)", "held[0] + 1"),
    "deque": ("deque[T]", "held.appendleft(x)", "sum(held)"),
    "dict": ("dict", "held['a'] = x", "held.get('a') + 1"),
}
REGISTER = "jax.tree_util.register_pytree_node(Held, flatten, lambda _, parts: Held(parts))"


@pytest.mark.parametrize("base", HOLDS)
def test_an_object_whose_class_derives_from_a_container_holds_what_is_put_into_it(
    tmp_path: Path, base: str
) -> None:
    name, fill, read = HOLDS[base]
    source = textwrap.dedent(HOLDING).replace("BASE", name).replace("FILL", fill).replace("READ", read)
    registered = source.replace("REGISTER", REGISTER)
    exec(compile(registered, "program.py", "exec"), {"__name__": "program"})
    known = facts(tmp_path, registered)
    assert known["read"] == ("yes", {"held": "traced"})
    assert known["fill"][1] == {"held": "static", "x": "traced"}  # it is empty
    # What JAX was not told about is a leaf, whatever it holds.
    assert facts(tmp_path, source.replace("REGISTER", ""))["read"][1] == {"held": "static"}


def test_a_list_of_functions_keeps_those_that_are_known(tmp_path: Path) -> None:
    source = """
        import jax
        from elsewhere import hook

        def double(x):
            return 2 * x

        def number(x):
            return x

        def hooks(*more):
            found = []
            for given in (double, *more):
                found.append(given)
            found.insert(0, hook())
            return found

        @jax.jit
        def step(x):
            for made in hooks():
                x = made(x)
            kept = []
            for _ in range(3):
                kept.append(0)
            kept.insert(0, hook())
            return x, number(kept[0])
    """
    known = facts(tmp_path, source)
    assert known["double"] == ("yes", {"x": "traced"})
    assert known["number"][1] == {"x": "unknown"}


def test_what_object_makes_is_itself_and_nothing_else(tmp_path: Path) -> None:
    source = """
        import functools
        import jax
        import jax.numpy as jnp

        MISSING = object()
        OTHER = object()

        def rule(function=MISSING, *, scale=1.0):
            if function is MISSING:
                return functools.partial(rule, scale=scale)

            def wrapped(x):
                return function(given(x * scale))

            return wrapped

        def given(x):
            return x

        def left_out(x):
            return x

        @rule(scale=2.0)
        def double(x):
            return 2 * x

        def value(x, y=MISSING):
            if y is OTHER:
                return left_out(x)
            return x if y is MISSING else x + y

        @jax.jit
        def step(x):
                return double(value(x)) + value(x, 1.0 * x)

        step(jnp.ones(3))
    """
    exec(compile(textwrap.dedent(source), "program.py", "exec"), {"__name__": "program"})
    known = facts(tmp_path, source)
    assert known["rule"] == ("no", {"function": "static", "scale": "static"})
    assert known["rule.<locals>.wrapped"] == ("yes", {"x": "traced"})
    assert known["given"] == ("yes", {"x": "traced"})
    assert known["double"] == ("yes", {"x": "traced"})
    assert known["left_out"][0] == "unknown"


def test_a_name_that_is_set_elsewhere_may_be_what_object_made(tmp_path: Path) -> None:
    source = """
        import jax
        from elsewhere import MISSING

        OWN = object()

        def maybe(x): return x

        @jax.jit
        def step(x, y=OWN):
            if y is MISSING:
                return maybe(x)
            return x
    """
    assert facts(tmp_path, source)["maybe"] == ("yes", {"x": "traced"})
