"""Shapes, lengths and counts that depend on a tracer."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import IndexEvent, ShapeEvent
from jaxlint.staging.values import Array
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import certain_tracer, guarded, traced
from jaxlint_rules._static_sizes import static_size


class DynamicShape(Rule):
    """A shape depends on a traced value.

    ## What it does
    Finds traced values used as shapes, lengths, counts and axes (`jnp.zeros(n)`, `jnp.arange(n)`, `one_hot(x, n)`,
    `random.normal(key, (n,))`, `x.sum(axis=n)`), boolean masks as indices, in `x.at[mask]` too, and functions
    whose result has a data-dependent size (`jnp.nonzero`, `jnp.unique`, `jnp.where(mask)`, `jnp.repeat`, `jnp.bincount`,
    `segment_sum`) without the option that fixes it.

    ## Why is this bad?
    XLA compiles for fixed shapes, so a shape must be known while JAX traces: `ConcretizationTypeError`,
    `TracerIntegerConversionError` or `NonConcreteBooleanIndexError`.

    ## Example
    ```python
    @jax.jit
    def draw(key, n):
        return jax.random.normal(key, (n,))
    ```

    ## Use instead
    ```python
    @partial(jax.jit, static_argnames="n")
    def draw(key, n):
        return jax.random.normal(key, (n,))
    ```
    For masks, `jnp.where(mask, x, 0)` keeps the shape; `jnp.nonzero(mask, size=k)` fixes it.

    ## Fix safety
    Unsafe: `x.at[x > 1].set(v)` becomes `jnp.where(x > 1, v, x)`, which may
    have a wider dtype than `x`, and sums and means of `x[x > 0]` keep what is not chosen, as zeros or by `where=`. A
    parameter that is a size is declared static where its function is jitted, which compiles anew for each value. Other sizes
    have no automatic fix.

    ## When not to fix
    Sizes that come from shapes, constants and static arguments are fine, and not reported. Of loops over a traced `range`
    [tracer-index](tracer-index.md) speaks.

    ## References
    - [JAX: dynamic shapes](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#dynamic-shapes)
    """

    code = "JAX104"
    name = "dynamic-shape"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "unsafe"
    examples = (
        Example(
            "fields that a helper of the project makes static",
            """
import dataclasses
import flax.struct
import jax
import jax.numpy as jnp

def field(*, default, metadata=None, pytree_node=None):
    if pytree_node is None:
        pytree_node = not isinstance(default, int)
    metadata = {} if metadata is None else dict(metadata)
    metadata.setdefault("pytree_node", pytree_node)
    return dataclasses.field(default=default, metadata=metadata)

class Settings(flax.struct.PyTreeNode):
    steps: int = field(default=8)
    rate: float = field(default=0.1)
    size: int = 3

@jax.jit
def train(settings, x):
    return jnp.zeros(settings.steps) * settings.rate + x

@jax.jit
def wrong(settings):
    return jnp.zeros(settings.size)  # finding

def main(x):
    return train(Settings(), x), wrong(Settings())
""",
        ),
        Example(
            "sizes out of arguments",
            """
import jax
import jax.numpy as jnp

@jax.jit
def f(key, x, n):
    noise = jax.random.normal(key, (n,))  # finding
    grid = jnp.arange(n)  # finding
    kept = x[x > 0]  # finding
    where = jnp.nonzero(x)  # finding
    for _ in range(n):
        x = x * 2
    total = x.sum(axis=n)  # finding
    parts = jnp.repeat(x, n), jnp.split(x, n)  # finding
    clipped = x.at[(x > 1) & ~jnp.isnan(x)].set(1.0)  # finding
    sums = jax.ops.segment_sum(x, n)  # finding
    return noise, grid, kept, where, x, total, parts, clipped, sums
""",
            """
import functools

import jax
import jax.numpy as jnp

@functools.partial(jax.jit, static_argnames="n")
def f(key, x, n):
    noise = jax.random.normal(key, (n,))
    grid = jnp.arange(n)
    kept = x[x > 0]
    where = jnp.nonzero(x)
    for _ in range(n):
        x = x * 2
    total = x.sum(axis=n)
    parts = jnp.repeat(x, n), jnp.split(x, n)
    clipped = jnp.where((x > 1) & ~jnp.isnan(x), 1.0, x)
    sums = jax.ops.segment_sum(x, n)
    return noise, grid, kept, where, x, total, parts, clipped, sums
""",
        ),
        Example(
            "numbers that lie in an array, are bound anew or come through vmap",
            """
import jax
import jax.numpy as jnp

@jax.jit
def head(x, lengths):
    return jnp.zeros(lengths[0]), jnp.ones(lengths.max())  # finding

@jax.jit
def grown(x, n):
    n = n + 1
    return jnp.zeros(n)  # finding

rows = jax.jit(jax.vmap(lambda x, n: x + jnp.zeros(n)))  # finding
""",
        ),
        Example(
            "the values of a constant, which is staged out as everything is",
            """
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

MASK = jnp.arange(4) > 1
HOST = np.arange(4) > 1

def model(groups, y=None):
    count = jnp.unique(groups).size  # finding
    with numpyro.plate("groups", count):
        level = numpyro.sample("level", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(level[groups], 1.0), obs=y)

def guide(groups, y=None):
    numpyro.sample("level", dist.Normal(0.0, 1.0).expand([len(np.unique(groups))]))

def fit(key, y):
    svi = SVI(model, guide, numpyro.optim.Adam(0.1), Trace_ELBO())
    return svi.run(key, 100, jnp.array([0, 0, 1, 1]), y)

@jax.jit
def pick(x):
    return x[jnp.flatnonzero(MASK)], x[np.flatnonzero(HOST)]  # finding

def eager(x):
    rows = jnp.flatnonzero(MASK)
    return x[rows], jax.vmap(lambda row: row[jnp.nonzero(MASK)])(x)
""",
        ),
        Example(
            "sizes out of shapes and static arguments",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def f(key, x, n):
    noise = jax.random.normal(key, (n,) + x.shape[1:])
    grid = jnp.arange(x.shape[0] // 2)
    where = jnp.nonzero(x, size=3), jnp.repeat(x, x.astype(int), total_repeat_length=9), jnp.repeat(x, n)
    sums = jax.ops.segment_sum(x, x.astype(int), num_segments=n), jnp.bincount(x.astype(int), length=n)
    x = x.at[jnp.argmax(x)].set(0.0).sum(axis=n)
    for _ in range(n):
        x = x * 2
    return noise, grid, where, x, jnp.where(x > 0, x, 0.0)
""",
        ),
    )

    def on_shape(self, event: ShapeEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, Array) or not value.staged or not value.certain or guarded(event):
            return
        if event.function == "range":
            return  # no shape: tracer-index speaks of it
        name = event.function.replace("jax.numpy.", "jnp.")
        if event.function == "*":
            message = "a sequence is repeated as often as a traced value says, and Python needs the number"
        elif event.argument == "the data":
            message = f"the size of `{name}`'s result depends on traced values; give it `{event.option}=`"
        else:
            message = f"{event.argument} of `{name}` must be a static number, and this one is traced"
        advice, fix = static_size(event, value)
        message += advice
        report(event.node, message, reason=traced(event, value), fix=fix)

    def on_index(self, event: IndexEvent, report: Reporter) -> None:
        if event.how == "mask" and certain_tracer(event.index) and not guarded(event):
            assert isinstance(event.index, Array)
            message = "a traced boolean mask as an index selects an unknown number of items; use `jnp.where`"
            fix = propose(report, event.node, "mask-to-where", "Choose by `jnp.where`", safe=False)
            report(event.node, message, reason=traced(event, event.index), fix=fix)
