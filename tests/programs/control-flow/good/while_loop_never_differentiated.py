# source: google/jax#2129
# blind: sixth

"""A root found by iteration, with an implicit derivative."""
import jax
import jax.numpy as jnp


@jax.custom_jvp
def kepler(mean_anomaly, e):
    def unfinished(state):
        guess, delta, i = state
        return (jnp.abs(delta) > 1e-6) & (i < 50)

    def newton(state):
        guess, _, i = state
        delta = (guess - e * jnp.sin(guess) - mean_anomaly) / (1.0 - e * jnp.cos(guess))
        return guess - delta, delta, i + 1

    init = (mean_anomaly, jnp.ones_like(mean_anomaly), 0)
    return jax.lax.while_loop(unfinished, newton, init)[0]


@kepler.defjvp
def kepler_jvp(primals, tangents):
    m, e = primals
    dm, de = tangents
    big = kepler(m, e)
    return big, (dm + de * jnp.sin(big)) / (1.0 - e * jnp.cos(big))


if __name__ == "__main__":
    print(jax.jit(jax.grad(kepler))(jnp.float32(0.5), jnp.float32(0.3)))
