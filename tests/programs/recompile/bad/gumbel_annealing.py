# source: cgiovanetti/LINX#13
# blind: nineteenth

import functools
import time

import jax
import jax.numpy as jnp
import optax


def init_params(key, dim, codes):
    k1, k2 = jax.random.split(key)
    return {
        "encode": jax.random.normal(k1, (dim, codes)) * dim ** -0.5,
        "codebook": jax.random.normal(k2, (codes, dim)) * 0.3,
    }


def gumbel_softmax(key, logits, temperature):
    noise = jax.random.gumbel(key, logits.shape)
    return jax.nn.softmax((logits + noise) / temperature, axis=-1)


def elbo_loss(params, key, x, temperature):
    logits = x @ params["encode"]
    code = gumbel_softmax(key, logits, temperature)
    recon = code @ params["codebook"]
    logq = jax.nn.log_softmax(logits, axis=-1)
    kl = jnp.sum(jnp.exp(logq) * (logq + jnp.log(logits.shape[-1])), axis=-1)
    return jnp.mean(jnp.sum((recon - x) ** 2, axis=-1) + 0.01 * kl)


tx = optax.adam(1e-2)


@functools.partial(jax.jit, static_argnames=("temperature",))  # finding
def train_step(params, opt_state, key, x, temperature):  # finding-also
    loss, grads = jax.value_and_grad(elbo_loss)(params, key, x, temperature)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    key = jax.random.key(0)
    key, k_init, k_x = jax.random.split(key, 3)
    x = jnp.sign(jax.random.normal(k_x, (512, 12)))
    params = init_params(k_init, 12, 32)
    opt_state = tx.init(params)
    start = time.perf_counter()
    for step in range(7):
        key, sub = jax.random.split(key)
        temperature = max(0.3, 2.0 * 0.8 ** step)  # finding-also
        params, opt_state, loss = train_step(params, opt_state, sub, x, temperature=temperature)  # finding-also
    print("loss", float(loss), "temperature", round(temperature, 3), "seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
