"""haiku: transformed functions, stacked layers, its own sources."""

from __future__ import annotations

from pathlib import Path

from jaxlint.source.read import read_source
from jaxlint.staging.inspection import inspect_files
from tests.helpers.projects import facts_of, write_project


def test_stacked_layers_and_tables_of_haiku_are_staged(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax
        import jax.numpy as jnp

        def layer(x):
            return x * 2

        def model(x):
            return hk.layer_stack(3)(layer)(x)

        def shown(x):
            return x + 1

        def test_model():
            hk.transform(model).init(jax.random.key(0), jnp.ones(3))
            with jax.disable_jit():
                print(hk.experimental.tabulate(hk.transform(shown))(jnp.ones(3)))
    """
    facts = facts_of(tmp_path, program)
    for name in ("layer", "shown"):
        assert (facts[name].basis, facts[name].params) == ("visible", {"x": "traced"})


def test_what_haiku_makes_of_a_function_is_a_pair(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax
        import jax.numpy as jnp

        def model(x):
            return x * hk.get_parameter("w", [3], init=jnp.ones)

        def other(x):
            return x

        def on_host(x):
            return x

        init, apply = hk.transform(model)
        params = init(jax.random.key(0), jnp.ones(3))
        jax.vmap(apply, in_axes=(None, None, 0))(params, None, jnp.ones((2, 3)))

        with_key = hk.transform(other)
        without_key = hk.without_apply_rng(with_key)
        jax.jit(with_key.apply)({}, None, jnp.ones(3))
        _, host = hk.transform(on_host)
        host({}, None, jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["model"].staged, facts["model"].params) == ("yes", {"x": "traced"})
    assert (facts["other"].staged, facts["other"].params) == ("yes", {"x": "traced"})
    assert facts["on_host"].staged == "no"


def test_a_library_evaluates_what_its_own_decorators_with_options_give(tmp_path: Path) -> None:
    project = {
        "haiku/__init__.py": "from ._src.layer_stack import layer_stack as layer_stack\n",
        "haiku/_src/__init__.py": "",
        "haiku/_src/layer_stack.py": """
            import jax

            def layer_stack(count):
                def iterate(f):
                    def wrapped(x):
                        def body(carry, _):
                            return f(carry), None
                        return jax.lax.scan(body, x, None, length=count)[0]
                    return wrapped
                return iterate
        """,
        "test_stack.py": """
            import jax.numpy as jnp
            from haiku._src import layer_stack

            def test_stack():
                layer_stack.layer_stack(3)(lambda x: x * 2)(jnp.ones(3))
        """,
    }
    facts = facts_of(tmp_path, project)
    body = facts["layer_stack.<locals>.iterate.<locals>.wrapped.<locals>.body"]
    assert (body.staged, body.params["carry"]) == ("yes", "traced")
    assert facts["layer_stack.<locals>.iterate.<locals>.wrapped"].staged != "yes"


def test_a_function_below_a_decorator_of_stacked_layers_is_staged(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax.numpy as jnp

        @hk.layer_stack(3, with_per_layer_inputs=True)
        def layer(x, y):
            return x * y, None

        def model(x, ys):
            return layer(x, ys)

        hk.transform(model).init(None, jnp.ones(3), jnp.ones((3, 3)))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["layer"].staged, facts["layer"].params) == ("yes", {"x": "traced", "y": "traced"})
    assert facts["model"].staged != "yes"


def test_what_layers_of_haiku_alone_call_runs_where_they_do(tmp_path: Path) -> None:
    layers = """
        import haiku as hk

        def normalised(x):
            return x / x.sum()

        def checked(x):
            return x

        class Norm(hk.Module):
            def __call__(self, x):
                return checked(normalised(x))
    """
    tests = """
        import haiku as hk
        import jax.numpy as jnp
        from layers import Norm, checked

        def test_norm():
            hk.transform(lambda x: Norm()(x)).init(None, jnp.ones(3))

        def test_checked():
            checked(jnp.ones(3))
    """
    paths = write_project(tmp_path, {"layers.py": layers, "tests/test_layers.py": tests})
    found, _ = inspect_files([read_source(path, str(path.relative_to(tmp_path))) for path in paths])
    facts = {fact.qualname: fact for fact in found}
    assert (facts["normalised"].staged, facts["normalised"].basis) == ("yes", "convention")
    assert facts["checked"].staged != "yes"


def test_a_library_is_known_in_its_own_sources(tmp_path: Path) -> None:
    project = {
        "haiku/__init__.py": "from haiku._src.module import Module\n",
        "haiku/_src/__init__.py": "",
        "haiku/_src/module.py": "class Module:\n    pass\n",
        "haiku/_src/linear.py": """
            from haiku._src import module

            class Linear(module.Module):
                def __init__(self, size):
                    self.size = size

                def __call__(self, inputs):
                    return inputs * scale_of(self.size)

            def scale_of(size):
                return size ** -0.5
        """,
    }
    facts = facts_of(tmp_path, project)
    call = facts["Linear.__call__"]
    assert (call.staged, call.basis, call.params["inputs"]) == ("yes", "convention", "traced")
    assert facts["scale_of"].staged == "unknown"
