"""`jax.pmap`, which `jit` with sharded arrays replaces."""

from __future__ import annotations

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.finding import Severity


class PmapLegacy(Rule):
    """`jax.pmap` is legacy.

    ## What it does
    Finds `jax.pmap` and recommends `jax.jit` with sharded arrays, or `jax.shard_map`.

    ## Why is this bad?
    `pmap` needs arguments with a leading device axis, keeps a copy of the parameters per device,
    and shards over one axis only. It is in maintenance mode: JAX now implements it with `jit` and
    `shard_map`.

    ## Example
    ```python
    step = jax.pmap(train_step, axis_name="batch")
    ```

    ## Use instead
    ```python
    auto = (jax.sharding.AxisType.Auto,)  # the compiler shards everything else
    mesh = jax.make_mesh((jax.device_count(),), ("batch",), axis_types=auto)
    batch = jax.device_put(batch, NamedSharding(mesh, P("batch")))
    step = jax.jit(train_step)  # without pmean: a mean over the batch already is the global mean
    ```
    Without `axis_types` the axes are `Explicit` since JAX 0.9, and gradients may raise
    `ShardingTypeError`. `jaxlint verify --mesh batch=8` runs a program with `pmap` on simulated
    devices and compares its values with those of `jit` over whole arrays and of `jax.shard_map`,
    which keeps the collectives. It also finds how to shard the parameters.

    ## Fix safety
    There is no automatic fix: the shapes of all arguments change.

    ## When not to fix
    Keep it if the program works and needs no further scaling. The finding is advice (`info`).

    ## References
    - [JAX: migrating from pmap](https://docs.jax.dev/en/latest/migrate_pmap.html)
    """

    code = "JAX1203"
    name = "pmap-legacy"
    category = "sharding"
    severity = Severity.INFO

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        if event.transformed.api != "jax.pmap" or report.module.is_test:
            return
        report(
            event.decorator or event.node,
            "`jax.pmap` is legacy; use `jax.jit` with sharded arrays, or `jax.shard_map`",
            reason="it shards one axis, keeps a copy of the parameters per device, and is in maintenance mode",
        )
