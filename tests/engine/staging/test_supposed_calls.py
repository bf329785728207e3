"""What `inspect` supposes of functions that no call is seen to reach, and where a call that is seen says more."""

from __future__ import annotations

from pathlib import Path

from jaxlint.source.read import read_source
from jaxlint.staging.analysis import analyze
from jaxlint_rules.tracing.tracer_branch import TracerBranch
from tests.helpers.projects import facts_of

CARRIED = """
    from collections.abc import Callable

    import equinox as eqx
    import jax.numpy as jnp
    from elsewhere import integrate

    class Term(eqx.Module):
        field: Callable

    @eqx.filter_jit
    def solve(term, x):
        return integrate(term, x)

    def slope(t, y, args):
        if t.sum() > 0:
            return -y * t
        return y

    def printed(y):
        return y

    solve(Term(slope), jnp.ones(3))
    solve(Term(printed), jnp.ones(3))
    printed(jnp.ones(3))
"""


def test_what_an_object_carries_into_a_stage_is_called_there(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, CARRIED)
    assert (facts["slope"].staged, facts["slope"].basis) == ("yes", "visible")
    assert "eqx.filter_jit" in facts["slope"].reason
    # What it does not read may be anything.
    assert facts["slope"].params == {"t": "traced", "y": "traced", "args": "unknown"}


def test_a_call_that_is_seen_says_more(tmp_path: Path) -> None:
    assert facts_of(tmp_path, CARRIED)["printed"].staged != "yes"


def test_no_rule_hears_of_what_is_supposed(tmp_path: Path) -> None:
    facts_of(tmp_path, CARRIED)
    result = analyze([read_source(tmp_path / "program.py", "program.py")], [TracerBranch()])
    assert result.findings == []


UNRELATED = """
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    from elsewhere import choose

    class Euler(eqx.Module):
        weight: jax.Array

        def increment(self, x):
            return self.weight * x

        def describe(self, x):
            return x

    class Counter(eqx.Module):
        start: jax.Array

        def increment(self, x):
            return self.start + x

    class Purse(eqx.Module):
        coins: jax.Array

        def increment(self, x):
            return self.coins + x

    class Score(eqx.Module):
        points: jax.Array

        def increment(self, x):
            return self.points + x

    @eqx.filter_jit
    def step(solver, x):
        return choose(solver).increment(x)

    step(Euler(jnp.ones(3)), jnp.ones(3))
"""


def test_of_many_methods_of_a_name_that_of_what_is_in_the_stage_is_called(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, UNRELATED)
    assert facts["Euler.increment"].staged == "yes"
    assert facts["Euler.increment"].params == {"self": "traced", "x": "traced"}
    assert facts["Euler.describe"].staged != "yes"  # nothing asks for it
    assert {facts[f"{name}.increment"].staged for name in ("Counter", "Purse", "Score")} == {"unknown"}


def test_habit_is_not_enough(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        from elsewhere import intercept

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x):
                def show(y):
                    return y
                return intercept(show, x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Layer.__call__"].basis == "convention"
    assert facts["Layer.__call__.<locals>.show"].staged != "yes"


REGISTERED = """
    import jax
    import jax.numpy as jnp

    class Pair:
        def __init__(self, first, second, label):
            self.first, self.second, self.label = first, second, label

    def flat(pair):
        return (pair.first, pair.second), pair.label

    def flat_with_keys(pair):
        return ((jax.tree_util.GetAttrKey("first"), pair.first), (jax.tree_util.GetAttrKey("second"), pair.second)), pair.label

    def built(label, leaves):
        return Pair(*leaves, label)

    jax.tree_util.register_pytree_with_keys(
        Pair, unflatten_func=built, flatten_func=flat, flatten_with_keys=flat_with_keys
    )

    @jax.jit
    def step(pair):
        return Pair(pair.first + 1, pair.second, pair.label)

    step(Pair(jnp.ones(3), jnp.ones(3), "a"))
"""


def test_what_takes_objects_apart_and_together_is_called_with_tracers(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, REGISTERED)
    assert {facts[name].staged for name in ("flat", "flat_with_keys", "built")} == {"yes"}
    assert facts["flat_with_keys"].params == {"pair": "traced"}
    assert facts["built"].params == {"label": "unknown", "leaves": "traced"}


def test_objects_that_stay_on_the_host_are_taken_apart_there(tmp_path: Path) -> None:
    program = REGISTERED.replace("    @jax.jit\n", "")
    assert facts_of(tmp_path, program)["flat_with_keys"].staged != "yes"


ASKED = """
    import functools

    import equinox as eqx
    import jax
    from elsewhere import choose

    def named(method):
        @functools.wraps(method)
        def wrapper(self, *args):
            with jax.named_scope("layer"):
                return method(self, *args)
        return wrapper

    class Layer(eqx.Module):
        weight: jax.Array

        @named
        def advance(self, x):
            return self.weight * x

        @named
        def describe(self, x):
            return x

        @property
        def scale(self):
            return self.weight

        @property
        def shape(self):
            return self.weight.shape

        @property
        def unread(self):
            return self.weight

    @jax.jit
    def step(layer: Layer, x):
        other = choose("layer")
        return other.advance(3), other.scale, other.shape

    def fill(weight):
        return jax.jit(lambda weight: choose(Layer(weight)))(weight)
"""


def test_what_decorators_made_of_a_method_is_called_by_its_name(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, ASKED)
    assert facts["Layer.advance"].staged == "yes"
    assert facts["Layer.advance"].params["self"] == "traced"
    assert facts["Layer.describe"].staged != "yes"


def test_a_property_is_read_by_its_name(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, ASKED)
    assert facts["Layer.scale"].staged == "yes"
    # Nobody reads the one, and arrays have the other, too.
    assert {facts[f"Layer.{name}"].staged for name in ("unread", "shape")} == {"unknown"}


def test_what_overrides_a_method_that_is_asked_for_may_be_meant(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax
        from elsewhere import choose

        class Layer(eqx.Module):
            weight: jax.Array

            def advance(self, x):
                return self.weight * x

        class Other(Layer):
            def advance(self, x):
                return self.weight + x

            def describe(self, x):
                return x

        class Stranger(eqx.Module):
            def advance(self, x):
                return x

        @jax.jit
        def step(weight, x):
            return choose(Layer(weight)), choose("layer").advance(3)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Layer.advance"].staged == facts["Other.advance"].staged == "yes"
    assert {facts[name].staged for name in ("Other.describe", "Stranger.advance")} == {"unknown"}


def test_a_library_calls_the_methods_of_what_derives_from_its_classes(tmp_path: Path) -> None:
    program = """
        import abc

        import jax
        from elsewhere import AbstractSolver, solve
        from unrelated import AbstractReport

        class Newton(AbstractSolver):
            @property
            def order(self):
                return 2

            def advance(self, y, state, options: dict):
                return self._damped(y), state * y

            def _damped(self, y):
                return y / 2

        class Report(AbstractReport):
            def advance(self, y):
                return y

        class Named(abc.ABC):
            def advance(self, y):
                return y

        @jax.jit
        def step(y):
            return solve(y)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Newton.advance"].staged == facts["Newton._damped"].staged == "yes"
    assert facts["Newton.advance"].params == {
        "self": "static",
        "y": "traced",
        "state": "traced",
        "options": "unknown",
    }
    # What no library that is called in a stage knows of, and what is not called at all.
    assert {facts[name].staged for name in ("Report.advance", "Named.advance", "Newton.order")} == {"unknown"}


def test_what_stands_before_a_parameter_that_is_read_is_passed_too(tmp_path: Path) -> None:
    program = CARRIED.replace("if t > 0:\n            return -y * t\n        return y", "return -y")
    facts = facts_of(tmp_path, program)
    assert facts["slope"].params == {"t": "traced", "y": "traced", "args": "unknown"}


STAND_IN = """
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    from elsewhere import solve

    class Buffer(eqx.Module):
        array: jax.Array

        def __getitem__(self, item):
            return self.array[item]

        @property
        def at(self):
            return At(self)

        @property
        def shape(self):
            return self.array.shape

        @property
        def dtype(self):
            return self.array.dtype

        def written(self, item, x):
            return Buffer(self.array)

    class At(eqx.Module):
        buffer: Buffer

        def __getitem__(self, item):
            return Item(self.buffer, item)

        def unused(self, x):
            return x

    class Item(eqx.Module):
        buffer: Buffer
        item: int

        def set(self, x):
            return self.buffer.written(self.item, x)

    class Record(eqx.Module):
        array: jax.Array

        def __getitem__(self, name):
            return self.array

        def sum(self, name):
            return name

    @jax.jit
    def run(x):
        return solve(Buffer(x), Record(x))

    run(jnp.ones(3))
"""


def test_what_stands_for_an_array_is_used_as_one(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, STAND_IN)
    assert facts["Buffer.__getitem__"].params == {"self": "traced", "item": "traced"}
    assert facts["Buffer.at"].params == {"self": "traced"}
    assert facts["At.__getitem__"].staged == facts["Item.set"].staged == "yes"
    assert facts["Buffer.written"].params == {"self": "traced", "item": "traced", "x": "traced"}


def test_what_has_no_shape_stands_for_no_array(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, STAND_IN)
    assert facts["Record.__getitem__"].staged == facts["Record.sum"].staged == "unknown"
    assert facts["At.unused"].staged == "unknown"
