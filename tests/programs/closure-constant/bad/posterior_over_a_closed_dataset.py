# source: blackjax-devs/blackjax#238
# blind: seventh
# missed: what is compiled is the kernel that a library makes of the function

import blackjax
import jax
import jax.numpy as jnp
import jax.scipy.stats as stats

N, D = 1_000_000, 20


def simulate(key):
    xkey, nkey = jax.random.split(key)
    x = jax.random.normal(xkey, (N, D))
    return x, x @ jnp.arange(D) + jax.random.normal(nkey, (N,))


X, Y = simulate(jax.random.key(0))


def logdensity(params):
    mean = X @ params["w"]  # finding
    likelihood = stats.norm.logpdf(Y, mean, jnp.exp(params["log_scale"])).sum()
    return likelihood + stats.norm.logpdf(params["w"]).sum()


def main():
    nuts = blackjax.nuts(logdensity, step_size=1e-3, inverse_mass_matrix=jnp.ones(D + 1))
    state = nuts.init({"w": jnp.zeros(D), "log_scale": jnp.array(0.0)})
    step = jax.jit(nuts.step)  # finding-also
    for key in jax.random.split(jax.random.key(1), 10):
        state, info = step(key, state)
    print(state.position["w"], info.acceptance_rate)


if __name__ == "__main__":
    main()
