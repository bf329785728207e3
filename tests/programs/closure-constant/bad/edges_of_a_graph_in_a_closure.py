# source: jax-ml/jax#14655
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def build_laplacian(num_nodes, degree):
    rng = np.random.default_rng(0)
    senders = jnp.asarray(rng.integers(0, num_nodes, num_nodes * degree))
    receivers = jnp.asarray(rng.integers(0, num_nodes, num_nodes * degree))

    def apply(x):
        flow = x[senders] - x[receivers]
        return jax.ops.segment_sum(flow, receivers, num_segments=num_nodes)  # finding-also

    return apply


def make_diffusion(apply, dt):
    @jax.jit
    def step(x):
        return x + dt * apply(x)  # finding

    return step  # finding-also


def main(num_nodes=200_000):
    step = make_diffusion(build_laplacian(num_nodes, 16), 1e-3)
    x = jnp.ones(num_nodes)
    for _ in range(10):
        x = step(x)
    return x.mean()


if __name__ == "__main__":
    print(main())
