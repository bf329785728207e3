# blind: sixteenth

"""Data-parallel evaluation with shard_map over all devices."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",))


def init_params(key, din=16, hidden=32, classes=5):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (din, hidden)) * 0.2,
        "b1": jnp.zeros((hidden,)),
        "w2": jax.random.normal(k2, (hidden, classes)) * 0.2,
        "b2": jnp.zeros((classes,)),
    }


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def local_metrics(params, x, y):
    logits = predict(params, x)
    logp = jax.nn.log_softmax(logits)
    nll = -jnp.take_along_axis(logp, y[:, None], axis=1).mean()
    correct = (logits.argmax(-1) == y).mean()
    return nll, correct


@jax.jit
@functools.partial(  # finding
    jax.shard_map,
    mesh=mesh,
    in_specs=(P(), P("data"), P("data")),
    out_specs=(P(), P()),  # finding-also
)
def eval_step(params, x, y):
    nll, acc = local_metrics(params, x, y)  # finding-also
    nll = jax.lax.pmean(nll, "data")
    return nll, acc  # finding-also


def evaluate(params, batches):
    sharding = NamedSharding(mesh, P("data"))
    results = []
    for x, y in batches:
        x, y = jax.device_put((x, y), sharding)
        results.append(eval_step(params, x, y))
    nll = jnp.stack([r[0] for r in results]).mean()
    acc = jnp.stack([r[1] for r in results]).mean()
    return nll, acc


def main():
    rng = np.random.default_rng(0)
    params = init_params(jax.random.key(0))
    batches = [
        (rng.normal(size=(64, 16)).astype(np.float32), rng.integers(0, 5, 64)) for _ in range(8)
    ]
    nll, acc = evaluate(params, batches)
    print(f"nll {nll:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
