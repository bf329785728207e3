"""`jax.pmap` where `jit` with shardings does the same."""

from __future__ import annotations

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.finding import Severity


class PmapLegacy(Rule):
    """`jax.pmap` runs one program per local device.

    ## What it does
    Advises `jax.jit` with sharded arrays, or `jax.shard_map`, in place of `jax.pmap`.

    ## Why is this bad?
    `pmap` wants its arguments with a leading axis of devices, keeps a copy of the parameters for each of them, shards over one
    axis only, and is in maintenance: JAX itself now builds it on `jit` and `shard_map`.

    ## Example
    ```python
    step = jax.pmap(train_step, axis_name="batch")
    ```

    ## Use instead
    ```python
    mesh = jax.make_mesh((jax.device_count(),), ("batch",))
    batch = jax.device_put(batch, NamedSharding(mesh, P("batch")))
    step = jax.jit(train_step)  # without pmean over the axis: the mean over the whole batch is what is written
    ```
    `jaxlint verify --mesh batch=8` runs a program with `pmap` on simulated devices, compares its values with those of `jit` over whole
    arrays and of `jax.shard_map`, which keeps the collectives, and finds how to split the parameters.

    ## Fix safety
    There is no automatic fix: the shapes of all arguments change.

    ## When not to fix
    When the program works and is not to be scaled further. This is advice.

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
