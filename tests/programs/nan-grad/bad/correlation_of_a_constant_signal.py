# source: gbionics/jaxsim#319
# blind: ninth

import jax
import jax.numpy as jnp


def standardise(x):
    centered = x - x.mean()
    return centered / jnp.linalg.norm(centered)  # finding


def correlation(a, b):
    return jnp.sum(standardise(a) * standardise(b))


def loss(params, inputs, target):
    prediction = jnp.tanh(inputs @ params["w"]) * params["gain"]
    return 1.0 - correlation(prediction, target)


def fit(inputs, target, steps=3):
    params = {"w": jnp.zeros(inputs.shape[1]), "gain": jnp.asarray(1.0)}
    step = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 0.1 * g, p, jax.grad(loss)(p, inputs, target)))
    for _ in range(steps):
        params = step(params)
    return params


if __name__ == "__main__":
    print(fit(jnp.ones((16, 3)), jnp.arange(16.0)))
