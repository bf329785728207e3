# source: gbionics/jaxsim#344
# blind: eighth

import time

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


@jax.jit
def step(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def throughput(params, x, steps=50):
    opt_state = tx.init(params)
    params, opt_state = jax.block_until_ready(step(params, opt_state, x))
    begin = time.perf_counter()
    for _ in range(steps):
        params, opt_state = step(params, opt_state, x)  # finding-also
    duration = time.perf_counter() - begin  # finding
    return steps * x.shape[0] / duration  # finding-also


if __name__ == "__main__":
    print(throughput(jnp.ones((16, 4)), jnp.ones((32, 16))), "samples/s")
