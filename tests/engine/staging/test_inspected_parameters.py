"""What `inspect` says of single parameters: objects that hold tracers, arguments that are collected, calls that differ."""

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


def test_collected_arguments_are_traced(tmp_path: Path) -> None:
    program = """
        import jax

        def call(fn, *args, **kwargs):
            return fn(*args, **kwargs)

        @jax.jit
        def step(*xs):
            return call(sum, *xs, **{})
    """
    facts = facts_of(tmp_path, program)
    assert facts["call"].params == {"fn": "static", "args": "traced", "kwargs": "static"}


def test_what_one_call_gives_as_a_setting_is_not_said_to_be_traced(tmp_path: Path) -> None:
    program = """
        import jax
        import settings

        @jax.jit
        def step(x):
            return scaled(x, settings.read(x)) + scaled(x, ("a", "b"))

        def scaled(x, axes):
            return x
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled"].params == {"x": "traced", "axes": "unknown"}


def test_a_tree_that_is_only_handed_on_may_be_empty(tmp_path: Path) -> None:
    program = """
        import jax

        def stateless(updates, state, params):
            return jax.tree.map(lambda u: 2 * u, updates), state

        def stateful(updates, state, params):
            return jax.tree.map(lambda u, s: u + s, updates, state), state

        def one_leaf(updates, state, params):
            return updates * 2, state

        @jax.jit
        def step(grads, state, params):
            first, _ = stateless(grads, state, params)
            second, _ = stateful(first, state, params)
            return one_leaf(second, jax.numpy.sum(params), params)
    """
    facts = facts_of(tmp_path, program)
    assert facts["stateless"].params == {"updates": "traced", "state": "unknown", "params": "traced"}
    assert facts["stateful"].params["state"] == "traced"
    assert facts["one_leaf"].params["state"] == "traced"


def test_what_is_left_over_of_keywords_is_mostly_nothing(tmp_path: Path) -> None:
    program = """
        import jax

        def update(grads, value, **extra):
            return grads * value

        def other(grads, **extra):
            return grads * extra["value"]

        def run(grads, **keywords):
            return jax.jit(update)(grads, **keywords)

        @jax.jit
        def named(grads, x):
            return other(grads, value=x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["update"].params["extra"] == "unknown"
    assert facts["other"].params["extra"] == "traced"


def test_a_switch_at_every_call_seen_is_no_tracer_by_convention(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax.numpy as jnp

        class Quantizer(hk.Module):
            def __call__(self, inputs, is_training):
                return inputs

        class Scaled(hk.Module):
            def __call__(self, inputs, factor):
                return inputs * factor

        def forward(x):
            return Quantizer()(x, is_training=False), Scaled()(x, 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Quantizer.__call__"].params["inputs"] == "traced"
    assert facts["Quantizer.__call__"].params["is_training"] == "unknown"
    assert facts["Scaled.__call__"].params["factor"] == "traced"


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


def test_an_annotation_of_a_container_of_names_says_that_it_holds_no_tracer(tmp_path: Path) -> None:
    program = """
        from collections.abc import Sequence

        import jax

        def check(x, messages: Sequence[str], scales: Sequence[float], axis: "tuple[int, ...] | None"):
            return x

        @jax.jit
        def outer(x, options):
            return check(x, options.messages, options.scales, options.axis)
    """
    params = facts_of(tmp_path, program)["check"].params
    assert params == {"x": "traced", "messages": "unknown", "scales": "traced", "axis": "unknown"}


def test_a_wrapper_that_takes_everything_hands_a_method_its_object(tmp_path: Path) -> None:
    program = """
        import dataclasses
        import functools

        import jax

        def copies(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                args, kwargs = jax.tree.map(lambda leaf: leaf, (args, kwargs))
                return f(*args, **kwargs)

            return wrapper

        @dataclasses.dataclass(eq=False)
        class Call:
            function: object
            factor: int

            @copies
            def __call__(self, *args):
                return scaled(self.function(*args), self.factor)

        @copies
        def plain(self, x):
            return self * x

        def scaled(x, factor):
            return x

        def run(function, *args):
            return jax.jit(Call(function, 2))(*args), jax.jit(plain)(*args)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Call.__call__"].params == {"self": "static", "args": "traced"}
    assert facts["scaled"].params["factor"] == "static"
    assert facts["plain"].params == {"self": "traced", "x": "traced"}


def test_a_branch_that_is_given_nothing_and_has_captured_tracers_is_staged(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(state, update):
            width = 3

            def reject(_):
                return state

            def sizes(_):
                return (width, 2 * width)

            def show(verbose):
                jax.lax.cond(jnp.any(update), lambda _: jax.debug.print("{}", update), lambda _: None, None)

            show(True)
            return jax.lax.cond(jnp.all(update > 0), lambda _: state + update, reject, None), sizes(None)
    """
    facts = facts_of(tmp_path, program)
    assert facts["step.<locals>.reject"].staged == "yes"
    assert facts["step.<locals>.reject"].params == {"_": "static"}
    assert facts["step.<locals>.show"].staged == "yes"
    assert facts["step.<locals>.sizes"].staged == "unknown"  # no tracer reaches it


def test_what_is_not_none_is_an_array_where_none_was_the_default(tmp_path: Path) -> None:
    program = """
        import jax

        class Game:
            @property
            def usual(self):
                return load()

        @jax.jit
        def step(state, speed=None, mode=None):
            if speed is None:
                speed = Game().usual
            return moved(state, speed) + faster(state, mode)

        def moved(state, speed):
            return state + speed

        def faster(state, mode):
            return state
    """
    facts = facts_of(tmp_path, program)
    assert facts["moved"].params == {"state": "traced", "speed": "traced"}
    assert facts["faster"].params["mode"] == "unknown"  # nothing says that it is given


def test_leaves_that_a_loop_collects_are_not_none_at_all(tmp_path: Path) -> None:
    program = """
        import jax

        class Tree:
            def __init__(self, x):
                self.x = x

            def tree_flatten(self):
                children = []
                for name in sorted(vars(self)):
                    children.append(getattr(self, name))
                return children, None

        class Named:
            def __init__(self, x, size):
                self.x = x
                self.size = size

            def tree_flatten(self):
                children = [self.x]
                return children, self.size

        def collected(x):
            return x

        def told(x, size):
            return x * size

        jax.jit(lambda tree: collected(tree.x))(Tree(jax.numpy.ones(3)))
        jax.jit(lambda tree: told(tree.x, tree.size))(Named(jax.numpy.ones(3), 3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["collected"].params == {"x": "traced"}
    assert facts["told"].params["x"] == "traced"
    assert facts["Tree.tree_flatten"].params == {"self": "traced"}


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


def test_the_leaf_of_a_tree_inside_a_stage_is_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def scaled(tree):
            return jax.tree.map(lambda leaf: 2 * leaf, tree)

        @jax.jit
        def step(x):
            return x, scaled(load())
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled.<locals>.<lambda>"].params == {"leaf": "traced"}


def test_a_tree_that_one_call_gives_as_nothing_is_a_tree_all_the_same(tmp_path: Path) -> None:
    program = """
        import jax

        def stateless(updates, state):
            return jax.tree.map(lambda u: 2 * u, updates), state

        @jax.jit
        def step(grads, state):
            first, _ = stateless(grads, ())
            return stateless(first, state)
    """
    assert facts_of(tmp_path, program)["stateless"].params == {"updates": "traced", "state": "unknown"}


def test_keywords_that_one_call_in_many_gives_are_mostly_nothing(tmp_path: Path) -> None:
    program = """
        import jax

        def update(grads, **extra):
            return jax.tree.map(lambda g: g, grads)

        @jax.jit
        def step(x, value):
            update(x), update((x,)), update((x, x)), update((x, x, x)), update((x, (x,))), update((x, [x]))
            update([x]), update([x, x]), update([x, x, x]), update([x, (x,)]), update([x, [x]])
            return update(x, value=value)
    """
    assert facts_of(tmp_path, program)["update"].params == {"grads": "traced", "extra": "unknown"}


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


def test_what_python_is_asked_for_the_truth_of_is_hardly_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def kept(x, mask, scale):
            return x * scale if not mask else None

        @jax.jit
        def step(x, settings):
            return kept(x, settings.mask, settings.scale)
    """
    assert facts_of(tmp_path, program)["kept"].params == {"x": "traced", "mask": "unknown", "scale": "traced"}


def test_what_is_called_or_compared_is_hardly_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def solved(x, kernel, order, rate, table):
            assert order == 2
            rate = rate(x) if callable(rate) else rate
            return kernel(x * rate) if order > 1 else x

        @jax.jit
        def step(x, settings):
            return solved(x, settings.kernel, settings.order, settings.rate, settings.table)
    """
    assert facts_of(tmp_path, program)["solved"].params == {
        "x": "traced",
        "kernel": "unknown",
        "order": "unknown",
        "rate": "traced",
        "table": "traced",
    }


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


def test_what_calls_hand_over_says_more_than_the_signature_that_is_lifted(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        from flax import linen as nn

        class Inner(nn.Module):
            def __call__(self, x):
                return x

        class Outer(nn.Module):
            @nn.jit
            def through(self, inner, x, extra):
                return inner(x)

            @nn.compact
            def __call__(self, x):
                return self.through(Inner(), x, ())

        Outer().apply({}, jnp.ones(3))
    """
    found = facts_of(tmp_path, program)["Outer.through"].params
    assert found["inner"] == found["extra"] == "static"
    assert found["x"] == "traced"


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


def test_static_positions_that_come_first_are_known_where_the_rest_is_not(tmp_path: Path) -> None:
    program = """
        import functools
        import jax

        def lift(fn, static_argnums):
            @functools.partial(jax.jit, static_argnums=(0,) + tuple(i + 2 for i in static_argnums if i > 0))
            @functools.wraps(fn)
            def jitted(fingerprint, x, y):
                return fn(fingerprint, x, y)

            return jitted

        def inner(key, x, y):
            return x

        def main(positions):
            return lift(inner, positions)("a", jax.numpy.ones(3), 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert facts["lift.<locals>.jitted"].params == {"fingerprint": "static", "x": "traced", "y": "traced"}
    assert facts["inner"].params["key"] != "traced"


def test_what_may_be_a_setting_is_an_array_where_the_function_computes_with_it(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax
        from elsewhere import load

        @eqx.filter_jit
        def step(x, key: jax.Array, mode, scale):
            return 2 * x, jax.random.split(key), choose(mode), scale * 2

        def choose(mode):
            return mode

        step(load("x"), load("key"), load("mode"), scale=load("scale"))
        step(load("x"), load("key"), load("mode"), scale=None)
    """
    facts = facts_of(tmp_path, program)
    assert facts["step"].params == {"x": "traced", "key": "traced", "mode": "unknown", "scale": "unknown"}


def test_whether_an_argument_is_perturbed_is_no_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def weighted(x, asked, of):
            return x * of

        @jax.jit
        def step(x):
            return jax.tree.map(lambda leaf: weighted(x, leaf.perturbed, leaf.value), x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["weighted"].params["asked"] == "static"
    assert facts["weighted"].params["of"] == "traced"


def test_what_describes_an_array_by_its_name_is_not_said_to_be_traced(tmp_path: Path) -> None:
    program = """
        import jax
        from elsewhere import tree, specs

        @jax.jit
        def step(x):
            return jax.tree.map(lambda axis, leaf: axis + leaf, tree(x), x) + moved(tree(x), tree(x))

        def moved(leaf, axis):
            return leaf + axis

        @jax.jit
        def rolled(x):
            return turned(x)

        def turned(axis):
            return axis + 1
    """
    facts = facts_of(tmp_path, program)
    assert facts["turned"].params == {"axis": "traced"}  # by what is certain
    assert facts["moved"].params["axis"] != "traced"


def test_a_tracer_in_one_context_of_many_does_not_speak_against_an_annotation(tmp_path: Path) -> None:
    program = """
        import jax

        def layer(size: int, x):
            return x * size

        @jax.jit
        def step(n, x):
            return layer(n, x) + layer(1, x) + layer(2.0, x) + layer(True, x)

        def scaled(size: int, x):
            return x * size

        @jax.jit
        def other(n, x):
            return scaled(n, x) + scaled(1, x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["layer"].params == {"size": "unknown", "x": "traced"}
    assert facts["scaled"].params == {"size": "traced", "x": "traced"}


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


def test_objects_among_the_rest_of_keywords_hold_tracers(tmp_path: Path) -> None:
    program = """
        import dataclasses
        import jax
        import jax.numpy as jnp

        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class Named:
            data: jax.Array

        def layer(x, **side_inputs):
            return x + side_inputs["positions"].data

        def plain(x, **side_inputs):
            return x

        @jax.jit
        def step(x, positions):
            return layer(x, positions=positions) + plain(x) + plain(x, mode="fast")

        step(jnp.ones(3), Named(jnp.ones(3)))
    """
    facts = facts_of(tmp_path, program)
    assert facts["layer"].params["side_inputs"] == "traced"
    assert facts["plain"].params["side_inputs"] == "static"


def test_none_in_some_calls_speaks_against_a_tracer_that_is_not_certain(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def shifted(x, condition):
            return x, condition

        @jax.jit
        def step(x, condition):
            return shifted(x, None), shifted(x, load(condition)), shifted(x, load(0))

        step(jnp.ones(3), jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["shifted"].params == {"x": "traced", "condition": "unknown"}
    certain = program.replace("load(condition)", "condition")
    assert facts_of(tmp_path, certain)["shifted"].params == {"x": "traced", "condition": "traced"}


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


def test_what_a_function_puts_among_its_keywords_was_not_given_to_it(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def inner(*args, **options):
            return options["state"] + args[0]

        def outer(*args, **options):
            options["state"] = args[0]
            return inner(*args, **options)

        jax.jit(lambda x: outer(x))(jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["inner"].params == {"args": "traced", "options": "traced"}
    assert facts["outer"].params == {"args": "traced", "options": "static"}


def test_a_literal_without_leaves_gives_no_tracers(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def kernel(x, settings, scale):
            return x * 2.0

        def update(x, settings, scale):
            return kernel(x, settings, scale)

        x = jnp.ones(3)
        jax.jit(update)(x, {}, scale=None)

        def kernel_of(x, settings):
            return x * 2.0

        def update_with(x, settings):
            return kernel_of(x, settings)

        jax.jit(update_with)(x, {"step": x})
    """
    facts = facts_of(tmp_path, program)
    assert facts["kernel"].params == {"x": "traced", "settings": "static", "scale": "static"}
    assert facts["kernel_of"].params == {"x": "traced", "settings": "traced"}


def test_the_one_operand_of_a_transposition_is_no_tracer(tmp_path: Path) -> None:
    program = """
        from jax.extend.core import Primitive
        from jax.interpreters import ad

        doubled = Primitive("doubled")
        scaled = Primitive("scaled")

        def transposed(ct, x):
            return [2 * ct]

        def of_two(ct, x, scale):
            return [scale * ct, None]

        ad.primitive_transposes[doubled] = transposed
        ad.primitive_transposes[scaled] = of_two
    """
    facts = facts_of(tmp_path, program)
    assert facts["transposed"].params == {"ct": "traced", "x": "unknown"}
    assert facts["of_two"].params == {"ct": "traced", "x": "traced", "scale": "traced"}


def test_what_a_layer_can_do_without_is_not_said_to_be_traced_by_habit(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax

        class Scale(hk.Module):
            def __call__(self, x, by: jax.Array | None = None):
                return x if by is None else x * by

        class Shift(hk.Module):
            def __call__(self, x, by: jax.Array):
                return x + by
    """
    facts = facts_of(tmp_path, program)
    assert facts["Scale.__call__"].params == {"self": "static", "x": "traced", "by": "unknown"}
    assert facts["Shift.__call__"].params == {"self": "static", "x": "traced", "by": "traced"}


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


def test_a_function_that_captures_tracers_in_a_stage_is_staged_whoever_runs_it_last(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def norm(x):
            def squared():
                return jnp.sum(x * x)

            return jnp.sqrt(squared())

        norm(1.0)

        def test_step():
            @jax.jit
            def step(x):
                return norm(x)

            step(jnp.ones(3))

        def test_norm():
            assert norm(np.ones(3)) > 0
    """
    assert facts_of(tmp_path, program)["norm.<locals>.squared"].staged == "yes"
    others = program.replace("return norm(x)", "return x * norm(np.ones(4))")
    assert facts_of(tmp_path, others)["norm.<locals>.squared"].staged != "yes"
