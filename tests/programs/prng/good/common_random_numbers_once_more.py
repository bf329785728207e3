# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def payoff(spot, strike):
    return jnp.maximum(spot - strike, 0.0)


@functools.partial(jax.jit, static_argnames=("paths", "steps"))
def asian_price(vol, key, paths, steps, s0=100.0, strike=100.0, rate=0.02):
    dt = 1.0 / steps
    z = jax.random.normal(key, (paths, steps))
    z = jnp.concatenate([z, -z], axis=0)
    drift = (rate - 0.5 * vol ** 2) * dt
    log_path = jnp.cumsum(drift + vol * jnp.sqrt(dt) * z, axis=1)
    average = (s0 * jnp.exp(log_path)).mean(axis=1)
    return jnp.exp(-rate) * payoff(average, strike).mean()


def vega_bump(vol, key, bump):
    up = asian_price(vol + bump, key, 4000, 24)
    down = asian_price(vol - bump, key, 4000, 24)
    return (up - down) / (2.0 * bump)


def main():
    key = jax.random.key(0)
    k_price, k_vega = jax.random.split(key)
    price = asian_price(0.3, k_price, 4000, 24)
    bumped = vega_bump(0.3, k_vega, 0.01)
    pathwise = jax.grad(asian_price)(0.3, k_vega, 4000, 24)
    print("price", float(price), "vega by bumping", float(bumped), "pathwise", float(pathwise))


if __name__ == "__main__":
    main()
