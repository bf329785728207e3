"""What `inspect` says of parameters that some calls leave out: keywords that are collected, None, trees without leaves."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


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
