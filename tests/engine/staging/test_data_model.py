"""What Python and JAX call on their own: special methods, metaclasses, flattening; and what a call does to its objects."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import answers_of

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


@pytest.mark.parametrize("operation", OPERATIONS)
def test_special_methods_run_where_python_runs_them(tmp_path: Path, operation: str) -> None:
    source = textwrap.dedent(VECTOR).format(operation=operation)
    method = OPERATIONS[operation]
    namespace: dict[str, object] = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), namespace)
    assert (method, True) in namespace["SEEN"]  # type: ignore[operator]
    found = answers_of(tmp_path, source)
    assert found[f"Vector.{method}"][0] == "yes"
    assert found[f"Vector.{method}"][1]["self"] == "traced"
    others = set(OPERATIONS.values()) - {method}
    assert [other for other in others if found[f"Vector.{other}"][0] == "yes"] == []


def test_objects_are_taken_apart_and_put_together_at_the_border_of_a_stage(tmp_path: Path) -> None:
    found = answers_of(tmp_path, textwrap.dedent(VECTOR).format(operation="pass"))
    assert found["Vector.tree_unflatten"][0] == "yes"
    assert found["Vector.tree_unflatten"][1]["children"] == "traced"
    assert found["Vector.tree_flatten"] == ("yes", {"self": "traced"})
    assert found["Meta.__call__"][1]["args"] == "traced"


def test_a_call_that_is_remembered_still_sets_attributes(tmp_path: Path) -> None:
    found = answers_of(
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
    found = answers_of(
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
    known = answers_of(tmp_path, STACKS)
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
    known = answers_of(tmp_path, PREDICATES.replace("FILTER", filter))
    for cls in ("Named", "OfType", "Always", "Never"):
        staged, params = known[f"{cls}.__call__"]
        assert (staged == "yes", params["leaf"] == "traced") == (cls == called, cls == called)
