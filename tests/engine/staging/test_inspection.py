"""What `inspect` says of functions that are reached through the tables, fixtures and variants of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.staging import analyze
from jaxlint.staging.inspection import FunctionFacts, inspect_files
from tests.helpers.projects import facts_of, write_project

LIBRARY = """
    from typing import NamedTuple
    from collections import namedtuple

    import jax.numpy as jnp

    Plain = namedtuple("Plain", ["init", "update"])

    class Transformation(NamedTuple):
        init: object
        update: object

    def sgd(rate):
        def sgd_init(params):
            return ()
        def sgd_update(grads, state):
            return rate * grads, state
        return Transformation(sgd_init, sgd_update)

    def sign(rate):
        def sign_init(params):
            return jnp.zeros_like(params)
        def sign_update(grads, state):
            return rate * jnp.sign(grads), state + 1
        return Plain(sign_init, sign_update)

    def chain(*args):
        inits, updates = zip(*args)
        def chain_init(params):
            return tuple(fn(params) for fn in inits)
        def chain_update(grads, state):
            new = []
            for s, fn in zip(state, updates):
                grads, s = fn(grads, s)
                new.append(s)
            return grads, tuple(new)
        return Transformation(chain_init, chain_update)

    def untouched(grads):
        return grads
"""

TESTS = {
    "absl parameters": """
        import jax
        import jax.numpy as jnp
        from absl.testing import parameterized
        import library

        class TestAll(parameterized.TestCase):
            @parameterized.parameters((library.sgd, 0.1), (library.sign, 0.2))
            def test_update(self, make, rate):
                opt = make(rate)
                jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "absl named_parameters, by name, in a table of the module": """
        import jax
        import jax.numpy as jnp
        from absl.testing import parameterized
        import library

        ALL = [dict(testcase_name="a", make=library.sgd), dict(testcase_name="b", make=library.sign)]

        class TestAll(parameterized.TestCase):
            @parameterized.named_parameters(*ALL)
            def test_update(self, make):
                opt = make(0.1)
                jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "absl product, functions by their names": """
        import jax
        import jax.numpy as jnp
        from absl.testing import parameterized
        import library

        class TestAll(parameterized.TestCase):
            @parameterized.product([{"name": "sgd"}, {"name": "sign"}], rate=(0.1, 0.2))
            def test_update(self, name, rate):
                opt = getattr(library, name)(rate)
                jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "pytest parametrize": """
        import jax
        import jax.numpy as jnp
        import pytest
        import library

        @pytest.mark.parametrize("rate", [0.1, 0.2])
        @pytest.mark.parametrize("make, size", [(library.sgd, 3), pytest.param(library.sign, 4, id="sign")])
        def test_update(make, size, rate):
            opt = make(rate)
            jax.jit(opt.update)(jnp.ones(size), opt.init(jnp.ones(size)))
    """,
    "pytest fixtures that ask for another": """
        import jax
        import jax.numpy as jnp
        import pytest
        import library

        @pytest.fixture
        def rate():
            return 0.1

        @pytest.fixture(scope="module")
        def opts(rate):
            yield [library.sgd(rate), library.sign(rate)]

        def test_update(opts):
            for opt in opts:
                jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "pytest fixtures of the class and of its base": """
        import jax
        import jax.numpy as jnp
        import pytest
        import library

        class Rates:
            @pytest.fixture
            def rate(self):
                return 0.1

        class TestAll(Rates):
            @pytest.fixture(scope="class")
            def opts(self, rate):
                return [library.sgd(rate), library.sign(rate)]

            def test_update(self, opts):
                for opt in opts:
                    jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "a product whose rows leave a parameter out": """
        import jax
        import jax.numpy as jnp
        from absl.testing import parameterized
        import library

        CASES = ({"name": "sgd"}, {"name": "sign"}, {"name": "sgd", "wrapper": "chain"})

        class TestAll(parameterized.TestCase):
            @parameterized.product(CASES, rate=[0.1, 0.2])
            def test_update(self, name, rate, wrapper=None):
                if wrapper is None:
                    opt = getattr(library, name)(rate)
                else:
                    opt = getattr(library, wrapper)()
                jax.jit(opt.update)(jnp.ones(3), opt.init(jnp.ones(3)))
    """,
    "a factory whose arguments are sorted by its signature": """
        import inspect
        import jax
        import jax.numpy as jnp
        import pytest
        import library

        def injected(factory, fixed=()):
            signature = inspect.signature(factory)
            def make(*args, **kwargs):
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                numbers, others = {}, {}
                for name, value in bound.arguments.items():
                    if name in fixed or isinstance(value, bool):
                        others[name] = value
                    else:
                        numbers[name] = value
                def init(params):
                    rates = {name: jnp.asarray(value) for name, value in numbers.items()}
                    return rates, factory(**others, **rates).init(params)
                def update(grads, state):
                    return factory(**others, **state[0]).update(grads, state[1])
                return library.Transformation(init, update)
            return make

        @pytest.mark.parametrize("factory", [library.sgd, library.sign])
        def test_update(factory):
            opt = injected(factory)(0.1)
            state = jax.jit(opt.init)(jnp.ones(3))
            jax.jit(opt.update)(jnp.ones(3), state)
    """,
    "chex variants, with what setUp made": """
        import chex
        import jax.numpy as jnp
        import library

        class TestAll(chex.TestCase):
            def setUp(self):
                super().setUp()
                self.opt = library.chain(library.sgd(0.1), library.sign(0.2))

            @chex.all_variants
            def test_update(self):
                state = self.variant(self.opt.init)(jnp.ones(3))
                self.variant(self.opt.update)(jnp.ones(3), state)
    """,
}


def of_library(folder: Path, test: str) -> dict[str, FunctionFacts]:
    """The functions of the library beside a file of its tests, by their names alone."""
    facts = facts_of(folder, {"library.py": LIBRARY, "test_library.py": test})
    return {name.rpartition(".")[2]: fact for name, fact in facts.items()}


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_functions_of_a_table_are_all_reached(tmp_path: Path, test: str) -> None:
    facts = of_library(tmp_path, test)
    for name in ("sgd_update", "sign_update"):
        assert (facts[name].staged, facts[name].params["grads"]) == ("yes", "traced"), facts[name]
    assert facts["untouched"].staged == "unknown"


def test_what_a_chain_calls_in_turn_is_staged(tmp_path: Path) -> None:
    facts = of_library(tmp_path, TESTS["chex variants, with what setUp made"])
    assert facts["chain_update"].staged == facts["chain_init"].staged == "yes"
    assert facts["sign_init"].staged == "yes"


def test_a_helper_without_tracers_is_not_said_to_be_staged(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def scale_of(n):
            return n ** 0.5

        def noise(shape):
            return jnp.zeros(shape)

        @jax.jit
        def step(x):
            return x * scale_of(3) + noise((3,))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["step"].staged, facts["step"].params) == ("yes", {"x": "traced"})
    for name in ("scale_of", "noise"):
        assert facts[name].staged == "unknown"
        assert facts[name].params == {next(iter(facts[name].params)): "static"}
        assert "while JAX traces" in facts[name].reason


def test_is_leaf_is_asked_about_the_leaves(tmp_path: Path) -> None:
    program = """
        import jax

        def is_none(node):
            return node is None

        def is_pair(node):
            return isinstance(node, tuple) and len(node) == 2

        @jax.jit
        def step(params, grads):
            leaves = jax.tree.leaves(params, is_leaf=is_pair)
            return jax.tree.map(lambda p, g: None if p is None else p - g, params, grads, is_leaf=is_none), leaves
    """
    (path,) = write_project(tmp_path, {"program.py": program})
    found, analysis = inspect_files([read_source(path, path.name)])
    facts = {fact.qualname: fact for fact in found}
    for name in ("is_none", "is_pair"):
        assert (facts[name].staged, facts[name].params["node"]) == ("yes", "traced")
    assert analysis.findings == []


def test_modules_and_records_of_one_shape_are_kept_apart(tmp_path: Path) -> None:
    sampler = """
        from typing import NamedTuple
        import jax.numpy as jnp

        class {name}State(NamedTuple):
            position: object
            density: object

        def init(position):
            return {name}State(position, jnp.sum(position))

        def {name}_step(state):
            return {name}State(state.position + 1, state.density)

        step = {name}_step
    """
    program = """
        import jax
        import jax.numpy as jnp
        import first
        import second

        def api(module):
            return module.init, module.step

        def run(algorithm, state):
            return jax.lax.scan(lambda carry, _: (algorithm[1](carry), None), state, None, length=3)

        run(api(first), api(first)[0](jnp.ones(2)))
        run(api(second), api(second)[0](jnp.ones(2)))
    """
    files = {
        "first.py": sampler.format(name="First"),
        "second.py": sampler.format(name="Second"),
        "program.py": program,
    }
    sources = [read_source(path, path.name) for path in write_project(tmp_path, files)]
    found, _ = inspect_files(sources)
    facts = {fact.qualname: fact for fact in found}
    assert (facts["First_step"].staged, facts["Second_step"].staged) == ("yes", "yes")
    assert analyze(sources, [rule() for rule in all_rules()]).findings == []


def test_the_reason_is_a_stage_that_hands_over_tracers(tmp_path: Path) -> None:
    program = """
        import jax

        def scale(x, factor):
            return x * factor

        @jax.jit
        def constant(y):
            return y + scale(2, 3)

        @jax.jit
        def step(x):
            return scale(x, 3)
    """
    (path,) = write_project(tmp_path, {"program.py": program})
    found, _ = inspect_files([read_source(path, path.name)])
    (fact,) = [fact for fact in found if fact.qualname == "scale"]
    assert fact.params["x"] == "traced"
    assert fact.reason == "`step` is decorated with `jax.jit` at line 10"


def test_what_is_called_on_the_host_is_not_staged_by_convention(tmp_path: Path) -> None:
    files = {
        "layers.py": """
            import flax.linen as nn

            def norm(x):
                return x / x.sum()

            def scale(x):
                return x * 2

            def shift(x):
                return x + 1

            class Norm(nn.Module):
                def __call__(self, x):
                    return shift(scale(x))
        """,
        "test_layers.py": """
            import flax.linen as nn
            import numpy as np
            from layers import norm, scale

            class Layer(nn.Module):
                @nn.compact
                def __call__(self, x):
                    return norm(x)

            def test_norm():
                assert norm(np.ones(3)).sum() == 1
                assert scale(np.ones(3)).sum() == 6
        """,
    }
    facts = facts_of(tmp_path, files)
    assert facts["norm"].staged != "yes"
    assert facts["scale"].staged != "yes"
    assert (facts["shift"].staged, facts["shift"].basis) == ("yes", "convention")


def test_the_calls_that_give_a_parameter_its_tracers_are_stated_on_request(tmp_path: Path) -> None:
    program = """
        import jax

        def scaled(x, n):
            return x * n

        @jax.jit
        def step(x, n):
            first = scaled(x, 2)
            return scaled(
                first, n
            )

        def host(x):
            return jax.vmap(scaled, (0, None))(x, 3)

        host(jax.numpy.ones(3))
    """
    (path,) = write_project(tmp_path, {"program.py": program})
    found, _ = inspect_files([read_source(path, path.name)], calls=True)
    (scaled,) = (fact for fact in found if fact.qualname == "scaled")
    assert scaled.calls is not None
    assert {(call.line, call.end, call.staged) for call in scaled.calls["x"] if call} == {
        (8, 8, True),
        (9, 11, True),
        (14, 14, False),
    }
    assert [(call.line, call.end) for call in scaled.calls["n"] if call] == [(9, 11)]
    assert "calls" in scaled.record()
    plain, _ = inspect_files([read_source(path, path.name)])
    assert all("calls" not in fact.record() for fact in plain)


def test_a_call_of_which_the_like_is_known_gives_tracers_as_well(tmp_path: Path) -> None:
    program = """
        import jax

        def scaled(x):
            return x * 2

        @jax.jit
        def first(x):
            return scaled(x)

        @jax.jit
        def second(x):
            return scaled(x)
    """
    (path,) = write_project(tmp_path, {"program.py": program})
    found, _ = inspect_files([read_source(path, path.name)], calls=True)
    (scaled,) = (fact for fact in found if fact.qualname == "scaled")
    assert [call and call.line for call in (scaled.calls or {})["x"]] == [8, 12]
