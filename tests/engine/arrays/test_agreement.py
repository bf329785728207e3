"""What `inspect --arrays` concludes from what JAX demands: loops return what they began with, branches agree."""

from __future__ import annotations

from pathlib import Path

from jaxlint.source import read_source
from jaxlint.staging.inspection.arrays import inspect_arrays

BEGINNING = """
import jax
import jax.numpy as jnp
from other import unknown

"""


def written(program: str, tmp_path: Path) -> dict[str, str]:
    """What each variable of a program is, the last binding of a name alone."""
    path = tmp_path / "program.py"
    path.write_text(BEGINNING + program)
    facts, analysis = inspect_arrays([read_source(path, "program.py")])
    assert not analysis.errors
    return {fact.name: fact.written().removesuffix(" tracer") for fact in facts}


def test_loops_return_what_they_began_with(tmp_path: Path) -> None:
    said = written(
        """
def main():
    start = (jnp.zeros((3, 4)), {"n": jnp.ones(2, jnp.int32)})
    a, held = jax.lax.fori_loop(0, 5, lambda i, c: unknown(c), start)
    n = held["n"]
    b, _ = jax.lax.while_loop(lambda c: unknown(c), lambda c: unknown(c), start)
    (c, _), ys = jax.lax.scan(unknown, start, jnp.zeros((7, 2)))
""",
        tmp_path,
    )
    assert (said["a"], said["n"], said["b"], said["c"]) == ("f32[3, 4]", "i32[2]", "f32[3, 4]", "f32[3, 4]")
    assert "ys" not in said


def test_a_weak_start_becomes_what_the_body_returns(tmp_path: Path) -> None:
    said = written(
        """
def main():
    x = jax.lax.fori_loop(0, 5, lambda i, c: c + jnp.float16(1), 0.0)
    y = jax.lax.fori_loop(0, 5, lambda i, c: unknown(c), 0.0)
""",
        tmp_path,
    )
    assert said["x"] == "f16[]"
    assert "y" not in said or said["y"].startswith("?")


def test_what_is_known_of_one_branch_is_known_of_both(tmp_path: Path) -> None:
    said = written(
        """
def main():
    p = jnp.array(True)
    a, b = jax.lax.cond(p, lambda x: (x, jnp.zeros(2)), lambda x: unknown(x), jnp.ones((3, 4)))
    c = jax.lax.switch(1, [lambda x: x.sum(), lambda x: unknown(x)], jnp.ones((3, 4)))
    d = jax.lax.cond(p, lambda: 1.0, lambda: jnp.float32(2))
""",
        tmp_path,
    )
    assert (said["a"], said["b"], said["c"], said["d"]) == ("f32[3, 4]", "f32[2]", "f32[]", "f32[]")


def test_cotangents_are_like_the_primals(tmp_path: Path) -> None:
    said = written(
        """
def main():
    out, pull = jax.vjp(lambda x, y: unknown(x, y), jnp.ones((3, 4)), {"y": jnp.zeros(2, jnp.bfloat16)})
    gx, gy = pull(out)
    g = gy["y"]
""",
        tmp_path,
    )
    assert (said["gx"], said["g"]) == ("f32[3, 4]", "bf16[2]")


def test_vmap_over_trees(tmp_path: Path) -> None:
    said = written(
        """
def main():
    batch = {"x": jnp.ones((5, 3)), "y": jnp.ones((2, 5))}
    out = jax.vmap(lambda b, k: b["x"] * b["y"][0] * k, in_axes=({"x": 0, "y": 1}, None))(batch, jnp.ones(()))
    also = jax.vmap(lambda b, n: b["x"].sum() + n, in_axes=(0,))({"x": jnp.ones((5, 3))}, n=jnp.arange(5))
""",
        tmp_path,
    )
    assert (said["out"], said["also"]) == ("f32[5, 3]", "f32[5]")


def test_a_guess_does_not_hide_what_calls_show(tmp_path: Path) -> None:
    said = written(
        """
def step(params):
    doubled = params * 2
    return doubled

def main():
    fast = jax.jit(step)
    fast(jnp.ones(3))
""",
        tmp_path,
    )
    assert said["doubled"] == "f32[3]"


def test_operators_as_functions(tmp_path: Path) -> None:
    said = written(
        """
import operator

def main():
    a = jax.tree.map(operator.sub, {"x": jnp.ones((3, 1))}, {"x": jnp.ones(4)})["x"]
    b = operator.neg(a)
    c = operator.lt(a, 0)
""",
        tmp_path,
    )
    assert (said["a"], said["b"], said["c"]) == ("f32[3, 4]", "f32[3, 4]", "bool[3, 4]")


def test_the_rank_is_known_where_sizes_are_not(tmp_path: Path) -> None:
    said = written(
        """
def main():
    n = unknown()
    a = jnp.pad(jnp.ones((2, 3)), n)
    b = jnp.einsum("sd,Sd->sS", jnp.asarray(unknown()), jnp.ones((2, 3)))
    c = jax.lax.conv_general_dilated(lhs=jnp.ones((1, 3, 8)), rhs=unknown(), window_strides=n, padding=n)
    d = jnp.asarray(unknown(), jnp.float32).reshape(2, -1)
""",
        tmp_path,
    )
    assert (said["a"], said["b"], said["c"], said["d"]) == (
        "f32[?, ?]",
        "?[?, ?]",
        "f32[?, ?, ?]",
        "f32[2, ?]",
    )


def test_maps_over_a_known_and_an_unknown_tree(tmp_path: Path) -> None:
    said = written(
        """
def main():
    params = {"w": jnp.ones((3, 4)), "b": jnp.ones(4)}
    new = jax.tree.map(lambda p, u: (p + u).reshape(p.shape).astype(p.dtype), params, unknown())
    w, b = new["w"], new["b"]
""",
        tmp_path,
    )
    assert (said["w"], said["b"]) == ("f32[3, 4]", "f32[4]")


def test_protocols(tmp_path: Path) -> None:
    said = written(
        """
from typing import Any, NamedTuple, Protocol, runtime_checkable

@runtime_checkable
class Initable(Protocol):
    def init(self, params): ...

class Method(NamedTuple):
    init: Any

class Other(NamedTuple):
    start: Any

def begin(method):
    return method.init(jnp.ones(3)) if isinstance(method, Initable) else jnp.ones(4)

def main():
    a = begin(Method(lambda p: 2 * p))
    b = begin(Other(None))
""",
        tmp_path,
    )
    assert (said["a"], said["b"]) == ("f32[3]", "f32[4]")


def test_builtins_of_known_arguments(tmp_path: Path) -> None:
    said = written(
        """
def sized(values):
    kept = jax.tree.leaves(jax.tree.map(callable, values))
    n = max(v.shape[0] for v in values.values()) if not any(kept) and len(kept) > 0 else 1
    return jnp.zeros((n, sum([1, 2]), sorted((7, 5))[0]))

def main():
    held = {"a": jnp.ones(3), "b": jnp.ones(6)}
    a = sized(held)
    b = sum(jnp.sum(v, axis=[0]) for v in held.values())
    c = abs(held["a"])
    d = jnp.mean(a, [i for i in range(a.ndim) if i != 1], keepdims=True)
""",
        tmp_path,
    )
    assert (said["a"], said["b"], said["c"], said["d"]) == ("f32[6, 3, 5]", "f32[]", "f32[3]", "f32[1, 3, 1]")


def test_a_size_has_no_name_of_another_function(tmp_path: Path) -> None:
    said = written(
        """
def inner(value):
    z = jnp.concatenate([value, value], axis=1)
    return z

def main():
    y = jax.vmap(inner)(jnp.asarray(unknown(), jnp.float32).reshape(5, 2, -1))
""",
        tmp_path,
    )
    assert (said["z"], said["y"]) == ("f32[2, 2*value.1]", "f32[5, 2, ?]")
