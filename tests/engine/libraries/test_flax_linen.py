"""flax.linen: lifted modules and tables, initialisers, variables."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_initialisers_are_traced(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax

        def scaled(key, shape, scale):
            return scale * jax.random.normal(key, shape)

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x):
                kernel = self.param("kernel", scaled, x.shape, 0.1)
                bias = self.param("bias", lambda key: jax.random.normal(key, x.shape))
                count = self.variable("state", "count", lambda: x.sum())
                return x * kernel + bias

        jax.jit(Layer().init)(jax.random.key(0), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["scaled"].staged, facts["scaled"].params["key"]) == ("yes", "traced")
    assert facts["scaled"].params["scale"] == "static"
    assert facts["Layer.__call__.<locals>.<lambda>"].staged == "yes"


def test_tables_of_linen_modules_trace_them(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax

        class Layer(nn.Module):
            def __call__(self, x, training):
                return x * 2 if training else x

        def test_table():
            print(Layer().tabulate(jax.random.key(0), jax.numpy.ones(3), training=True, depth=1))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Layer.__call__"].basis == "visible"
    assert facts["Layer.__call__"].params == {"self": "static", "x": "traced", "training": "static"}


def test_layers_lifted_with_axes_are_staged(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax
        from flax.linen import partitioning

        class Block(nn.Module):
            def __call__(self, x):
                return x, None

        class Model(nn.Module):
            @nn.compact
            def __call__(self, x):
                return partitioning.scan_with_axes(Block, length=3, axis_name="layers")()(x)

        class Branches(nn.Module):
            def first(self, x):
                return x

            def second(self, y):
                return y + 1

            def __call__(self, x):
                return nn.cond(x.sum() > 0, self.first, self.second, self, x)

        def main():
            Model().init(jax.random.key(0), jax.numpy.ones(3))
            Branches().init(jax.random.key(0), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["Block.__call__"].basis, facts["Block.__call__"].params["x"]) == ("visible", "traced")
    assert facts["Branches.first"].params["x"] == facts["Branches.second"].params["y"] == "traced"


def test_a_variable_of_linen_holds_arrays(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        def centred(x, mean, axis):
            return x - mean

        def kept(mean):
            return mean

        class Norm(nn.Module):
            def setup(self):
                self.mean = self.variable("stats", "mean", jnp.zeros, (3,))

            def __call__(self, x):
                return centred(x, self.mean.value, 0)

        norm = Norm()
        variables = norm.init(jax.random.key(0), jnp.ones(3))
        jax.jit(norm.apply)(variables, jnp.ones(3))
        kept(variables["stats"]["mean"])
    """
    facts = facts_of(tmp_path, program)
    assert facts["centred"].params == {"x": "traced", "mean": "traced", "axis": "static"}
    assert facts["kept"].staged == "no"


LAYERS = """
    import functools
    import flax.linen as nn
    import jax
    import jax.numpy as jnp

    class Cell(nn.Module):
        @nn.compact
        def __call__(self, carry, x, scale):
            return carry + x * scale, x

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.relu(x)

    class Plain(nn.Module):
        @nn.compact
        def __call__(self, x):
            return x

    class Loop(nn.Module):
        def run(self, x):
            def going(module, carry):
                return carry < 3
            def body(module, carry):
                return carry + 1
            def yes(module, carry):
                return carry
            def no(module, carry):
                return -carry
            x = nn.while_loop(going, body, self, x)
            return nn.cond(True, yes, no, self, x)

        def __call__(self, x):
            return self.run(x)

    class Stack(nn.Module):
        @nn.compact
        def __call__(self, x):
            cell = nn.scan(Cell, in_axes=(0, nn.broadcast), variable_broadcast="params", length=3)()
            x, _ = cell(x, jnp.ones(3), 2.0)
            x = nn.remat(Block)()(x)
            return Plain()(x)

    def test_layers():
        x = jnp.ones(3)
        variables = Stack().init(jax.random.key(0), x)
        Stack().apply(variables, x)
        Loop().apply({}, jnp.ones(()))
"""


def test_lifted_modules_are_staged_and_others_run_where_they_are_called(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"test_layers.py": LAYERS})
    cell = facts["Cell.__call__"]
    assert (cell.staged, cell.basis) == ("yes", "visible")
    assert cell.params["carry"] == cell.params["x"] == "traced"
    assert cell.params["scale"] == "static"  # `nn.broadcast` hands it over as it is
    assert facts["Block.__call__"].basis == "visible"
    assert "nn.remat" in facts["Block.__call__"].reason
    for name in ("going", "body", "yes", "no"):
        assert facts[f"Loop.run.<locals>.{name}"].params["carry"] == "traced"
    for name in ("Plain", "Stack", "Loop"):
        assert facts[f"{name}.__call__"].staged != "yes", name
