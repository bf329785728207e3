"""Calls that pass through wrappers: what decorators hand on, what is unwrapped, and functions that either of two factories gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, facts_of, findings_in, reported

# `make` gives one of two wrappers; which, the calls do not say.
FACTORY = """
    import jax
    import jax.numpy as jnp

    def make(f, fast):
        def plain(x):
            return f(x)

        def quick(x):
            return f(x)

        if fast:
            return quick
        return plain
"""


def test_one_of_two_functions_is_staged_where_several_callers_hand_it_tracers(tmp_path: Path) -> None:
    program = (
        FACTORY
        + """
    @jax.jit
    def first(x):
        return make(jnp.cos, load())(x)

    @jax.jit
    def second(x):
        return make(jnp.tan, load())(x)

    first(jnp.ones(3))
    second(jnp.ones(3))
    make(jnp.cos, load())(jnp.ones(3))
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["make.<locals>.plain"].staged == facts["make.<locals>.quick"].staged == "yes"
    assert facts["make.<locals>.plain"].params == {"x": "traced"}


def test_one_of_two_functions_is_likely_staged_though_it_runs_on_the_host_too(tmp_path: Path) -> None:
    program = (
        FACTORY
        + """
    @jax.jit
    def first(x):
        return make(jnp.cos, load())(x)

    first(jnp.ones(3))
    make(jnp.cos, load())(jnp.ones(3))
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["make.<locals>.plain"].staged == facts["make.<locals>.quick"].staged == "yes"


def test_an_object_that_is_made_in_a_stage_of_settings_is_no_tracer_to_its_maker(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax
        import jax.numpy as jnp
        from elsewhere import choose

        class Plain(eqx.Module):
            size: int

            def __init__(self, size):
                self.size = size

        class Filled(eqx.Module):
            x: jax.Array

            def __init__(self, x):
                self.x = x

        @jax.jit
        def step(x):
            choose(Plain, Plain)(3)
            return (Plain if choose() else Filled)(3), (Filled if choose() else tuple)(x)

        step(jnp.ones(3))
        Plain(3)
        Filled(jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["Plain.__init__"].staged, facts["Filled.__init__"].staged) == ("unknown", "yes")


def test_what_type_checkers_read_in_a_class_is_no_method(tmp_path: Path) -> None:
    program = """
        import typing
        import jax
        import jax.numpy as jnp
        from flax import linen as nn

        class Base(nn.Module):
            if typing.TYPE_CHECKING:
                def __init__(self, *args, **kwargs):
                    pass

        class Inner(Base):
            def __call__(self, x):
                return self.scaled(x)

            def scaled(self, x):
                return 2 * x

        class Outer(Base):
            inner: nn.Module

            def __call__(self, x):
                return self.inner(x)

        @jax.jit
        def forward(x):
            return Outer(Inner()).apply({}, x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Inner.scaled"].staged == "yes"
    assert facts["Inner.scaled"].params["x"] == "traced"
    assert facts["Inner.scaled"].basis == "visible"


WRAPPED = """
    import functools
    import jax
    import jax.numpy as jnp

    def copying(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            args, kwargs = {copy}
            return f(*args, **kwargs)
        return wrapper

    class Scaled:
        def __init__(self, f):
            self.f = f

        @copying
        def __call__(self, *args):
            return self.f(*args)

    def double(x):
        return 2 * x

    @jax.jit
    def forward(xs):
        return Scaled(double)(*xs)
"""


def test_a_wrapper_hands_on_the_object_in_front_of_arguments_that_are_not_counted(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, WRAPPED.replace("{copy}", "jax.tree.map(lambda x: x, (args, kwargs))"))
    assert facts["double"].staged == "yes"
    assert facts["double"].params == {"x": "traced"}


def test_a_map_that_changes_the_leaves_is_no_copy(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, WRAPPED.replace("{copy}", "jax.tree.map(load(), (args, kwargs))"))
    assert facts["double"].staged == "unknown"


def test_the_first_of_arguments_that_are_not_counted_is_known(tmp_path: Path) -> None:
    program = """
        import jax

        def square(x):
            return x * x

        def apply(*args):
            return args[0](args[1])

        def apply_rest(*args):
            return args[1](args[0])

        @jax.jit
        def forward(xs):
            apply_rest(square, *xs)
            return apply(square, *xs)

        def cube(x):
            return x * x * x

        @jax.jit
        def backward(xs):
            return apply_rest(cube, *xs)

        cube(2.0)  # so that a call in a stage has to be seen
    """
    facts = facts_of(tmp_path, program)
    assert facts["square"].params == {"x": "traced"}
    assert facts["cube"].staged == "no"


UNWRAPPED = """
    import functools
    import inspect
    import jax
    import jax.numpy as jnp

    class Missing:
        pass

    def unwrapped(f):
        taken = []
        g = f
        while isinstance(g, functools.partial):
            taken.append(g.args)
            g = g.func
        if inspect.ismethod(g):
            g = g.__func__
        return g

    def staged(f=Missing()):
        if isinstance(f, Missing):
            return functools.partial(staged)
        return jax.jit({taken})

    def step(x, n):
        return helper(x)

    def helper(x):
        return x + 1

    class Model:
        def step(self, x, n):
            return self.helper(x)

        def helper(self, x):
            return x + 1
"""


@pytest.mark.parametrize(
    ("given", "name"),
    [("step", "helper"), ("functools.partial(step)", "helper"), ("Model().step", "Model.helper")],
)
def test_a_function_that_is_unwrapped_is_the_one_inside(tmp_path: Path, given: str, name: str) -> None:
    program = UNWRAPPED.replace("{taken}", "unwrapped(f)")
    first = "Model(), " if name.startswith("Model") else ""
    facts = facts_of(tmp_path, program + f"\n    staged({given})({first}jnp.ones(3), 2)\n")
    assert facts[name].staged == "yes"
    assert facts[name].params["x"] == "traced"


def test_of_a_type_that_could_be_anything_nothing_is_said(tmp_path: Path) -> None:
    program = """
        import functools
        import typing
        import jax

        @typing.runtime_checkable
        class Callable(typing.Protocol):
            def __call__(self, x): ...

        class Registered(type):
            def __instancecheck__(cls, value):
                return callable(value)

        class Anything(metaclass=Registered):
            pass

        def by_protocol(x):
            return x

        def by_metaclass(x):
            return x

        def choose(f):
            if isinstance(f, (Callable, Anything)):
                return jax.jit(f)
            return f

        choose(by_protocol)(load())
        choose(by_metaclass)(load())
    """
    facts = facts_of(tmp_path, program)
    assert facts["by_protocol"].staged == facts["by_metaclass"].staged == "yes"


def test_the_method_of_a_base_is_found_behind_parameters_without_a_name(tmp_path: Path) -> None:
    program = """
        import jax

        class Base:
            def update(self, model, gradient, /):
                return self.scaled(gradient)

            def scaled(self, gradient):
                return gradient

        class Both(Base):
            def update(self, gradient, /):
                return super().update(None, gradient)

        @jax.jit
        def step(gradient):
            return Both().update(gradient)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Base.scaled"].staged == "yes"
    assert facts["Base.scaled"].params == {"self": "static", "gradient": "traced"}


@pytest.mark.parametrize("rules", ["forward, backward", "fwd=forward, bwd=backward"])
def test_rules_of_a_derivative_by_position_or_by_name(tmp_path: Path, rules: str) -> None:
    program = f"""
        import jax
        import jax.numpy as jnp

        @jax.custom_vjp
        def f(x):
            return 2 * x

        def forward(x):
            return 2 * x, x

        def backward(kept, g):
            return (2 * g,)

        f.defvjp({rules})
        jax.jit(f)(jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["forward"].params == {"x": "traced"}
    assert facts["backward"].params["g"] == "traced"


@pytest.mark.parametrize(("axis", "mark"), [("chips", ""), ("hosts", "  # finding: unbound-axis")])
def test_a_jitted_function_that_another_file_calls_under_a_partial_pmap_has_its_axis(
    tmp_path: Path, axis: str, mark: str
) -> None:
    files = {
        "chain.py": f"""
            import jax

            @jax.jit
            def walk(x):
                return jax.lax.pmean(x, axis_name="chips"){mark}
        """,
        "sampling.py": f"""
            from functools import partial
            import jax
            from chain import walk

            @partial(jax.pmap, axis_name="{axis}", in_axes=(0, None))
            def sample(x, steps):
                return walk(x) * steps
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("axis", "mark"), [("devices", ""), ("hosts", "  # finding: unbound-axis")])
def test_a_method_that_another_file_maps_by_its_name_has_its_axis(
    tmp_path: Path, axis: str, mark: str
) -> None:
    files = {
        "solver.py": f"""
            from functools import partial

            import jax

            class Solver:
                @partial(jax.jit, static_argnums=0)
                def update(self, grads):
                    return jax.lax.pmean(grads, axis_name="devices"){mark}
        """,
        "train.py": f"""
            import jax

            def train(trainer, grads):
                update = jax.pmap(
                    trainer.update,
                    in_axes=(0,),
                    axis_name="{axis}",
                )
                return update(grads)
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("made", "mark"), [("loss", ""), ("module", "  # finding: tracer-leak")])
def test_what_a_closure_keeps_lives_as_long_as_the_call_that_made_it(
    tmp_path: Path, made: str, mark: str
) -> None:
    inside, outside = (
        ("with_keys(rng)(sample)", "") if made == "loss" else ("noisy", "noisy = with_keys(KEY)(sample)")
    )
    files = {
        "program.py": f"""
            import jax

            KEY = jax.random.key(0)

            def with_keys(rng):
                def wrap(function):
                    def wrapped(*args):
                        nonlocal rng
                        rng, key = jax.random.split(rng){mark}
                        return function(key, *args)
                    return wrapped
                return wrap

            def sample(key, x):
                return x + jax.random.normal(key, x.shape)

            {outside}

            @jax.jit
            def step(params, rng, x):
                def loss(params):
                    draw = {inside}
                    return (draw(params) * draw(x)).sum()

                return jax.grad(loss)(params)
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("binds", "mark"), [("devices", ""), ("hosts", "  # finding: unbound-axis")])
def test_an_axis_of_a_mesh_that_another_file_maps_over_is_bound(
    tmp_path: Path, binds: str, mark: str
) -> None:
    files = {
        "agent.py": f"""
            import jax

            @jax.jit
            def update(grads):
                return jax.lax.pmean(grads, "devices"){mark}
        """,
        "runner.py": f"""
            import jax
            from jax.sharding import Mesh, PartitionSpec as P

            class Runner:
                def __init__(self, agent):
                    self.mesh = Mesh(jax.devices(), axis_names=("{binds}",))
                    self.run = jax.shard_map(agent.run, mesh=self.mesh, in_specs=P(), out_specs=P())
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


BY_LIBRARY = """
    import jax
    import jax.numpy as jnp
    import some_library

    class Heat:
        def change(self, u, rate):
            return -rate * doubled(u)

    def doubled(u):
        return 2 * u

    def make_step(equation):
        change = some_library.on_vectors(equation.change)

        def step(u):
            return u + change(u, 0.5)

        return step
"""


def test_what_a_library_has_wrapped_runs_where_the_wrapper_is_called(tmp_path: Path) -> None:
    program = BY_LIBRARY + "    jax.jit(make_step(Heat()))(jnp.ones(3))\n"
    facts = facts_of(tmp_path, program)
    assert facts["Heat.change"].staged == facts["doubled"].staged == "yes"
    assert facts["Heat.change"].params == {"self": "static", "u": "traced", "rate": "static"}
    assert facts["doubled"].params == {"u": "traced"}


def test_what_a_library_has_wrapped_is_not_staged_by_a_call_on_the_host(tmp_path: Path) -> None:
    program = BY_LIBRARY + "    make_step(Heat())(jnp.ones(3))\n"
    facts = facts_of(tmp_path, program)
    assert facts["Heat.change"].staged == facts["doubled"].staged == "unknown"


def test_rules_hear_nothing_of_what_a_library_may_have_wrapped(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import some_library

        def positive(x):
            return x if x > 0 else 0.0

        on_elements = some_library.for_each_element(positive)

        @jax.jit
        def step(x):
            return on_elements(x)

        step(jnp.ones(3))
    """
    assert findings_in(tmp_path, {"program.py": program}) == []
    assert facts_of(tmp_path, program)["positive"].params == {"x": "unknown"}
