# source: jax-ml/jax#347
# blind: sixth

"""Poisson likelihood of a binned count with templates that may be empty."""
import jax
import jax.numpy as jnp
import optax


def expected(params, templates):
    return jnp.einsum("k,kb->b", jax.nn.softplus(params["yields"]), templates)


def nll(params, counts, templates):
    mu = expected(params, templates)
    terms = jnp.where(mu > 0, mu - counts * jnp.log(mu), mu)  # finding
    return terms.sum()


def fit(counts, templates, steps=50):
    params = {"yields": jnp.ones(templates.shape[0])}
    opt = optax.adam(0.05)
    state = opt.init(params)

    @jax.jit
    def step(params, state):
        loss, grads = jax.value_and_grad(nll)(params, counts, templates)
        updates, state = opt.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    for _ in range(steps):
        params, state, loss = step(params, state)
    return params, loss


if __name__ == "__main__":
    templates = jnp.array([[1.0, 2.0, 0.0], [0.5, 0.5, 0.0]])
    print(fit(jnp.array([3.0, 5.0, 0.0]), templates))
