"""What `inspect` says of parameters that are given objects: modules, records, and classes that hold arrays or none."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_a_module_that_crossed_into_a_stage_is_traced(tmp_path: Path) -> None:
    program = """
        import jax
        from flax import nnx

        class Block(nnx.Module):
            def __init__(self, rngs):
                self.scale = nnx.Param(jax.random.normal(rngs.params(), (3,)))

            def __call__(self, x):
                return x * self.scale

        @nnx.jit
        def step(model, x):
            return model(x)

        step(Block(nnx.Rngs(0)), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["step"].params == {"model": "traced", "x": "traced"}
    assert facts["Block.__call__"].params == {"self": "traced", "x": "traced"}


def test_a_module_without_a_field_for_arrays_holds_no_tracer(tmp_path: Path) -> None:
    program = """
        from collections.abc import Callable

        import equinox as eqx
        import jax

        class Solver(eqx.Module):
            rtol: float
            norm: Callable = eqx.field(static=True)
            names: tuple[str, ...] = ()

            def compute(self, x):
                return x * self.rtol

        class Linear(eqx.Module):
            weight: jax.Array

            def compute(self, x):
                return x @ self.weight

        def solve(solver: Solver, linear: Linear, x):
            return linear.compute(solver.compute(x))

        eqx.filter_jit(solve)(Solver(0.1), Linear(jax.numpy.ones((3, 3))), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Solver.compute"].params == {"self": "unknown", "x": "traced"}
    assert facts["Linear.compute"].params["self"] == "traced"


def test_an_object_made_of_tracers_holds_them_where_a_choice_is_not_certain(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        from flax import struct

        @struct.dataclass
        class State:
            x: jax.Array

        class Game:
            def step(self, x):
                raise NotImplementedError

            @jax.jit
            def run(self, x):
                return self.step(x)

        class Walk(Game):
            def step(self, x):
                return shown(State(x=x * 2))

        def shown(state):
            return state.x
    """
    facts = facts_of(tmp_path, program)
    assert facts["shown"].params == {"state": "traced"}


def test_what_a_class_keeps_beside_its_leaves_is_no_tracer(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        class Path(eqx.Module):
            shape: object = eqx.field(static=True)
            key: jax.Array

            @eqx.filter_jit
            def evaluate(self, t):
                return drawn(t, self.shape) + scaled(t, self.key)

        def drawn(t, shape):
            return jax.numpy.broadcast_to(t, shape)

        def scaled(t, key):
            return t * jax.random.normal(key)

        class Cloud:
            def __init__(self, x, batch):
                self.x = x
                self.batch = batch

            def tree_flatten(self):
                return (self.x,), {"batch": self.batch}

            @classmethod
            def tree_unflatten(cls, aux, children):
                return cls(*children, **aux)

            def drawn(self):
                return shown(self.batch, self.x)

        @jax.jit
        def moved(cloud, others):
            return cloud.x, [other.drawn() for other in others]

        def shown(batch, x):
            return x

        moved(Cloud(jax.numpy.ones(3), 2), load())
    """
    facts = facts_of(tmp_path, program)
    assert facts["drawn"].params["shape"] == "unknown"
    assert facts["scaled"].params["key"] == "traced"
    assert facts["shown"].params == {"batch": "unknown", "x": "traced"}
    assert facts["Cloud.tree_unflatten"].params == {"cls": "static", "aux": "static", "children": "traced"}


def test_a_registered_class_all_of_whose_fields_are_kept_holds_no_tracer(tmp_path: Path) -> None:
    program = """
        import dataclasses

        import jax
        import library

        @library.pytree
        @dataclasses.dataclass(frozen=True)
        class Rename(library.Struct):
            old: tuple = dataclasses.field(metadata={"pytree_node": False})

            def tree_flatten(self):
                return library.flatten(self)

            def __call__(self, x):
                return x

        @library.pytree
        @dataclasses.dataclass(frozen=True)
        class Scale(library.Struct):
            old: tuple = dataclasses.field(metadata={"pytree_node": False})
            factor: jax.Array = None

            def tree_flatten(self):
                return library.flatten(self)

            def __call__(self, x):
                return x * self.factor

        @jax.jit
        def run(rename: Rename, scale: Scale, x):
            return scale(rename(x))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Rename.__call__"].params == {"self": "unknown", "x": "traced"}
    assert facts["Scale.__call__"].params == {"self": "traced", "x": "traced"}


def test_one_tracer_stands_for_no_pair_of_settings(tmp_path: Path) -> None:
    program = """
        import jax

        BETAS = (0.9, 0.99)

        def update(x, betas=BETAS, steps=(5, 6), rate=0.1):
            return x * rate

        @jax.jit
        def step(x, settings):
            return update(x, settings.betas, settings.steps, settings.rate)
    """
    found = facts_of(tmp_path, program)["update"].params
    assert found == {"x": "traced", "betas": "unknown", "steps": "unknown", "rate": "traced"}


def test_a_class_that_holds_no_array_is_no_tracer_where_it_is_declared(tmp_path: Path) -> None:
    program = """
        import dataclasses
        from collections import deque
        from typing import NamedTuple, Protocol

        import jax
        from flax import nnx, struct

        Index = int

        class Axes(NamedTuple):
            rows: tuple[int, ...]
            at: Index

        class Pair(NamedTuple):
            first: jax.Array
            at: int

        class Energy(Protocol):
            def __call__(self, x): ...

        @dataclasses.dataclass
        class Call:
            name: str

        @struct.dataclass
        class State:
            count: jax.Array

        class Base: ...

        class Derived(Base):
            def tree_flatten(self):
                return (self.x,), None

        def used(x, axes: Axes, index: "Index | None", energy: Energy, calls: list[Call], defs: deque[nnx.GraphDef[int]]):
            return x

        def kept(pair: Pair, state: State, base: Base):
            return pair

        @jax.jit
        def step(x, s):
            kept(s.pair, s.state, s.base)
            return used(x, s.axes, s.index, s.energy, s.calls, s.defs)
    """
    facts = facts_of(tmp_path, program)
    assert facts["used"].params == {"x": "traced"} | dict.fromkeys(
        ("axes", "index", "energy", "calls", "defs"), "unknown"
    )
    assert facts["kept"].params == dict.fromkeys(("pair", "state", "base"), "traced")


def test_a_method_that_overrides_another_takes_what_that_declares(tmp_path: Path) -> None:
    program = """
        import jax

        class Variable:
            def moved(self, axis: int, by):
                return self.value

        class Own(Variable):
            def moved(self, axis, by):
                return self.value * by

        @jax.jit
        def step(x, s):
            return Own().moved(s.axis, s.by)
    """
    found = facts_of(tmp_path, program)["Own.moved"].params
    assert found["axis"] == "unknown"
    assert found["by"] == "traced"


def test_what_alone_can_hold_the_tracers_holds_them(tmp_path: Path) -> None:
    program = """
        import equinox as eqx

        class Scale(eqx.Module):
            factor: float = 2.0

            def __call__(self, x):
                return scaled(x, self.factor)

        def scaled(x, factor):
            return x

        eqx.filter_jit(Scale().__call__)(load())
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled"].params["x"] == "traced"


SEVERAL_KERNELS = """
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Kernel(eqx.Module):
        scale: jax.Array | float

        def evaluate(self, x):
            return x / self.scale

    def value(kernel, x):
        return jax.jit(lambda y: kernel.evaluate(y))(x)

    value(Kernel(1.0), jnp.ones(3))
    value(Kernel(2.0), jnp.ones(3))
    value(Kernel(3.0), jnp.ones(3))
    value(Kernel(4.0), jnp.ones(3))
    value(Kernel(5.0), jnp.ones(3))
"""


def test_an_object_that_holds_a_tracer_in_few_contexts_is_left_open(tmp_path: Path) -> None:
    crossed = "    jax.jit(lambda kernel, x: kernel.evaluate(x))(Kernel(jnp.ones(())), jnp.ones(3))\n"
    assert facts_of(tmp_path, SEVERAL_KERNELS + crossed)["Kernel.evaluate"].params == {
        "self": "unknown",
        "x": "traced",
    }
    alone = SEVERAL_KERNELS.partition("    value(Kernel(1.0)")[0] + crossed
    assert facts_of(tmp_path, alone)["Kernel.evaluate"].params == {"self": "traced", "x": "traced"}


def test_a_method_is_bound_whatever_the_branches_of_the_class_made_of_it(tmp_path: Path) -> None:
    program = """
        import sys

        import equinox as eqx
        import jax.numpy as jnp

        class Model(eqx.Module):
            increment: float

            def shift(self, x):
                return x + self.increment

            if "quick" in sys.argv:
                shift = eqx.filter_jit(shift)

            def plain(x):
                return x

            plain = staticmethod(plain)

        Model(5.0).shift(jnp.ones(2))
        eqx.filter_jit(Model(5.0).plain)(jnp.ones(2))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Model.shift"].params == {"self": "static", "x": "traced"}
    assert facts["Model.plain"].params == {"x": "traced"}


def test_a_metaclass_makes_of_the_names_in_a_class_what_it_likes(tmp_path: Path) -> None:
    program = """
        import jax

        class Numbered(type):
            def __new__(mcs, name, bases, namespace):
                items = {key: item(key) for key in namespace}
                return super().__new__(mcs, name, bases, items)

        class Counted(type):
            def __new__(mcs, name, bases, namespace):
                return super().__new__(mcs, name, bases, namespace)

        class Results(metaclass=Numbered):
            success = ""

        class Names(metaclass=Counted):
            success = ""

        @jax.jit
        def run(result):
            return result

        @jax.jit(static_argnames="name")
        def run_named(x, name):
            return x

        def helped(name):
            return len(name)

        def item(key):
            return key

        run(Results.success)
        run_named(1.0, Names.success)
        helped(Names.success)
    """
    facts = facts_of(tmp_path, program)
    assert facts["run"].params == {"result": "traced"}
    assert facts["run_named"].params == {"x": "traced", "name": "static"}
    assert facts["helped"].params == {"name": "static"}
