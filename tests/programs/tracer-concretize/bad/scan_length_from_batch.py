# source: jax-ml/jax#5017

import jax
import jax.numpy as jnp


def simulate(rate, y0, n_steps):
    def body(y, _):
        y = y + 0.1 * rate * y * (1 - y)
        return y, y

    return jax.lax.scan(body, y0, None, length=n_steps)  # finding


def final_population(params, experiment):
    final, _ = simulate(params["rate"], experiment["y0"], experiment["steps"])
    return final


@jax.jit
def misfit(params, experiment):
    return (final_population(params, experiment) - experiment["observed"]) ** 2


experiments = [{"y0": 0.1, "steps": 10, "observed": 0.4}, {"y0": 0.2, "steps": 20, "observed": 0.8}]
params = {"rate": jnp.array(1.0)}
print(sum(misfit(params, e) for e in experiments))
