"""Which loops of a host function are proposed as one program of all steps, and that it computes and keeps the same."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.grown_arrays import from_growing
from jaxlint_runtime.rewrites.loop_steps import from_host_loops, is_inside
from jaxlint_runtime.rewrites.regions import from_regions

SAMPLER = """
import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.eye(5)


def sample(key, logits, steps):
    tokens, path, total, text = [], [], 0.0, ""
    for i in range(steps):
        key, sub = jax.random.split(key)
        token = int(jax.random.categorical(sub, logits))
        total += logits.max().item() / (i + 1)
        logits = jnp.tanh(logits + TABLE[token] * i)
        tokens.append(token)
        path.append(np.asarray(logits))
        text += f"{token}{float(logits[0]):.3f} "
    return key, logits, tokens, path, total, text


for n in (0, 3):
    key, logits, tokens, path, total, text = sample(jax.random.key(1), jnp.arange(5.0), n)
    kinds = [type(one).__name__ for one in (key, logits, tokens, path, total, text, *tokens, *path)]
    print(n, logits, tokens, path, f"{total:.4f}", text, kinds, logits.dtype, jax.random.key_data(key))
"""

TRAINER = """
import jax
import jax.numpy as jnp


@jax.jit
def update(params, x):
    loss, grads = jax.value_and_grad(lambda params: jnp.sum((params["w"] @ x - params["b"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def train(params, x, epochs):
    losses, best = [], 1e9
    for epoch in range(epochs):
        params, loss = update(params, x)
        losses.append(loss)
        best = min(best, float(loss))
        if epoch % 25 == 0 or epoch == epochs - 1:
            print(f"{epoch}: {loss:.4f}", best)
    return params, losses, best


for n in (0, 1, 24, 25, 26, 60):
    params = {"w": jnp.eye(3), "b": jnp.zeros(3)}
    params, losses, best = train(params, jnp.arange(3.0), n)
    print(n, params["w"], [str(one) for one in losses], [type(one).__name__ for one in losses], best)
"""
MODULE = """
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

model = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
optimizer = optax.adam(1e-2)
state = optimizer.init(eqx.filter(model, eqx.is_array))
x = jnp.linspace(0.0, 1.0, 10).reshape(5, 2)


@eqx.filter_jit
def make_step(model, state):
    loss, grads = eqx.filter_value_and_grad(lambda model: jnp.mean(jax.vmap(model)(x) ** 2))(model)
    updates, state = optimizer.update(grads, state, model)
    return eqx.apply_updates(model, updates), state, loss


losses = []
for step in range(130):
    model, state, loss = make_step(model, state)
    losses.append(loss)
    if step % 50 == 0:
        print(step, loss)
print(step, loss, [str(one) for one in losses], model.activation, model.layers[0].weight)
"""


def printed(text: str) -> str:
    """What a program prints."""
    found = io.StringIO()
    with contextlib.redirect_stdout(found):
        exec(compile(text, "sampler.py", "exec"), {"__name__": "__main__"})
    return found.getvalue()


def test_all_steps_keep_what_each_kept(tmp_path: Path) -> None:
    path = tmp_path / "sampler.py"
    line = next(node.lineno for node in ast.parse(SAMPLER).body if getattr(node, "name", "") == "sample")
    source = SourceFile(path, str(path), SAMPLER, "utf-8", False, "")
    steps = {"name": "steps", "type": "int", "value": "3"}
    entry = {
        "path": str(path),
        "function": "sample",
        "line": line,
        "calls": 2,
        "seconds": 1.0,
        "arguments": [steps],
    }
    (rewrite,) = from_host_loops([entry], {str(path): source})
    assert rewrite.name == "loop-to-steps"  # `steps` is known either way, and one edit is tried once
    assert rewrite.summary == "Compile all steps of the loop at line 11 of sample as one"
    workspace = Workspace({str(path): source}, strict=True)
    (plan,) = [workspace.plan(fix) for fix in rewrite.fixes]
    assert not isinstance(plan, str), plan
    edited = workspace.edited([plan])[str(path)].text
    assert "jax.lax.scan" in edited
    assert printed(edited) == printed(SAMPLER)
    (region,) = from_regions([entry], {str(path): source})
    assert is_inside(region, rewrite)
    assert not is_inside(rewrite, region)


@pytest.mark.parametrize(("text", "function", "part"), [(TRAINER, "train", 25), (MODULE, "<module>", 50)])
def test_what_is_printed_comes_in_parts(text: str, function: str, part: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = [node.lineno for node in ast.parse(text).body if getattr(node, "name", "") == function]
    source = SourceFile(path, str(path), text, "utf-8", False, "")
    entry = {"path": str(path), "function": function, "calls": 1, "seconds": 1.0, "arguments": None}
    (rewrite,) = from_host_loops([{**entry, "line": lines[0] if lines else 1}], {str(path): source})
    workspace = Workspace({str(path): source}, strict=True)
    (plan,) = [workspace.plan(fix) for fix in rewrite.fixes]
    assert not isinstance(plan, str), plan
    edited = workspace.edited([plan])[str(path)].text
    assert f"min(start + {part}, " in edited
    assert printed(edited) == printed(text)


LOOKED_AT = """
import jax
import jax.numpy as jnp


def move(x, rate):
    return jnp.floor(x * rate) + 8.5


def energy(x):
    return jnp.sum(x**2)


def simulate(x, rate, steps):
    for step in range(steps):
        x = move(x, rate)
        if step % 10 == 0:
            print(step, float(energy(x)), x.shape)
    return x


print(simulate(jnp.arange(5.0), 0.5, 35))
"""


def test_steps_between_looks_are_proposed_where_the_host_computes_on_what_it_sees(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOOKED_AT)
    source = SourceFile(path, str(path), LOOKED_AT, "utf-8", False, "")
    line = LOOKED_AT[: LOOKED_AT.index("def simulate")].count("\n") + 1
    arguments = [
        {"name": "x", "type": "ArrayImpl", "leaves": ["float32[5]"]},
        {"name": "rate", "type": "float"},
        {"name": "steps", "type": "int"},
    ]
    watched = [
        {
            "function": "simulate",
            "path": str(path.resolve()),
            "line": line,
            "calls": 1,
            "seconds": 3.0,
            "arguments": arguments,
        }
    ]
    (found,) = from_host_loops(watched, {str(path): source})
    assert found.name == "steps-between-looks"
    workspace = Workspace({source.display: source}, strict=True)
    plan = workspace.plan(found.fixes[0])
    assert not isinstance(plan, str), plan
    new = workspace.edited([plan])[source.display].text
    assert "fori_loop" in new
    lines = []
    for text in (LOOKED_AT, new):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
        lines.append(out.getvalue())
    assert lines[0] == lines[1]


MOMENTUM = """
import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
velocity = 0.0
total = 0.0
for step in range(35):
    if step % 10 == 0:
        print(step, float(jnp.sum(x)), total)
    velocity = 0.5 * velocity + x
    x = x - 0.25 * velocity
    total = total + jnp.sum(x)
print(x, velocity, total)
"""


def test_the_first_step_runs_apart_where_the_steps_do_not_compile_together(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    source = SourceFile(path, str(path), MOMENTUM, "utf-8", False, "")
    entry = {"path": str(path), "function": "<module>", "calls": 1, "seconds": 1.0, "arguments": None}
    (together,) = from_host_loops([{**entry, "line": 1}], {str(path): source})
    apart = together.instead
    assert apart is not None
    assert apart.instead is None
    assert apart.key != together.key, "an edit is tried once"
    for way, part in ((together, "fori_loop(start, stop"), (apart, "fori_loop(start + 1, stop")):
        workspace = Workspace({str(path): source}, strict=True)
        (plan,) = [workspace.plan(fix) for fix in way.fixes]
        assert not isinstance(plan, str), plan
        edited = workspace.edited([plan])[str(path)].text
        assert part in edited
    assert printed(edited) == printed(MOMENTUM)


GROWING = """
import jax
import jax.numpy as jnp


@jax.jit
def move(x):
    return x * 0.5 + 1.0


def simulate(x, steps):
    means = jnp.array([])
    for step in range(steps):
        x = move(x)
        means = jnp.append(means, x.mean() * 2)
    return x, means


print(simulate(jnp.arange(4.0), 12))
"""


@pytest.mark.parametrize("traced", [0, 1])
def test_a_growing_array_becomes_a_list_in_functions_that_the_host_runs(traced: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    source = SourceFile(path, str(path), GROWING, "utf-8", False, "")
    line = GROWING[: GROWING.index("def simulate")].count("\n") + 1
    entry = {"path": str(path), "function": "simulate", "line": line, "calls": 1, "seconds": 1.0}
    found = from_growing([{**entry, "inner_calls": traced, "arguments": None}], {str(path): source})
    assert bool(found) != bool(traced)
    for one in found:
        assert one.summary == "Keep the rows of `means` in a list in simulate"
        workspace = Workspace({str(path): source}, strict=True)
        (plan,) = [workspace.plan(fix) for fix in one.fixes]
        assert not isinstance(plan, str), plan
        edited = workspace.edited([plan])[str(path)].text
        assert "means_rows.append(x.mean() * 2)" in edited
        assert printed(edited) == printed(GROWING)
