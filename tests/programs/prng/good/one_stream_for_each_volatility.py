# blind: fifth

import jax
import jax.numpy as jnp


def payoff(key, volatility, n_paths):
    z = jax.random.normal(key, (n_paths,))
    terminal = 100.0 * jnp.exp(-0.5 * volatility**2 + volatility * z)
    return jnp.mean(jnp.maximum(terminal - 100.0, 0.0))


def price_curve(key, volatilities, n_paths):
    """Prices for all volatilities; each has its own stream of random numbers."""
    keys = jax.random.split(key, volatilities.shape[0])
    return jax.vmap(payoff, in_axes=(0, 0, None))(keys, volatilities, n_paths)


price_curve = jax.jit(price_curve, static_argnums=2)


def main():
    key = jax.random.key(3)
    for day in range(3):
        prices = price_curve(jax.random.fold_in(key, day), jnp.linspace(0.1, 0.4, 4), 1000)
        print(prices)


if __name__ == "__main__":
    main()
