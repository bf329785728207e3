# source: jax-ml/jax#18311

import haiku as hk
import jax
import jax.numpy as jnp


def fixed_point(f, z0, tol=1e-4):
    def cond(state):
        z_old, z = state
        return jnp.linalg.norm(z - z_old) > tol

    def body(state):
        _, z = state
        return z, f(z)

    return jax.lax.while_loop(cond, body, (z0, f(z0)))[1]  # finding


def forward(x):
    w = hk.get_parameter("w", (4, 4), init=hk.initializers.RandomNormal(0.1))
    return fixed_point(lambda z: jnp.tanh(z @ w + x), jnp.zeros_like(x))


net = hk.without_apply_rng(hk.transform(forward))


def loss(params, x, y):
    return jnp.mean((net.apply(params, x) - y) ** 2)


params = net.init(jax.random.PRNGKey(0), jnp.ones(4))
grads = jax.grad(loss)(params, jnp.ones(4), jnp.zeros(4))  # finding-also
print(grads)
