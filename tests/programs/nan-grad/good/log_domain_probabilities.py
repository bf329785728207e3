# source: jax-ml/jax#5798
# blind: eighteenth

import jax
import jax.numpy as jnp


def masked_log_softmax(logits, mask):
    masked = jnp.where(mask, logits, -1e9)
    return jax.nn.log_softmax(masked, axis=-1)


def forward_algorithm(log_init, log_trans, log_obs):
    """HMM evidence; everything stays in log space."""

    def body(alpha, obs):
        alpha = jax.nn.logsumexp(alpha[:, None] + log_trans, axis=0) + obs
        return alpha, None

    alpha, _ = jax.lax.scan(body, log_init + log_obs[0], log_obs[1:])
    return jax.nn.logsumexp(alpha)


def loss_fn(params, obs, mask):
    log_trans = masked_log_softmax(params["trans"], mask)
    log_init = jax.nn.log_softmax(params["init"])
    var = jax.nn.softplus(params["raw_var"]) + 1e-4
    log_obs = -0.5 * (obs[:, None] - params["mean"]) ** 2 / var - 0.5 * jnp.log(var)
    return -forward_algorithm(log_init, log_trans, log_obs)


def main():
    params = {
        "trans": jnp.zeros((3, 3)),
        "init": jnp.zeros(3),
        "mean": jnp.array([-1.0, 0.0, 1.0]),
        "raw_var": jnp.zeros(3),
    }
    mask = jnp.tril(jnp.ones((3, 3), bool), 1)
    obs = jnp.sin(jnp.linspace(0.0, 6.0, 30))
    value, grads = jax.jit(jax.value_and_grad(loss_fn))(params, obs, mask)
    print(value, jax.tree.map(lambda g: bool(jnp.isfinite(g).all()), grads))


if __name__ == "__main__":
    main()
