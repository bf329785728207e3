# unpacked from a dict whose names are known, and are not

import jax
import jax.numpy as jnp

def jitted(function, static):
    run = jax.jit(function, static_argnames=static)

    def wrapper(x, **options):
        named = {name: value for name, value in options.items() if value is not None}
        return run(x, **named)

    return wrapper

def scaled(x, mode="up"):
    return x * 2 if mode == "up" else x / 2

fast = jitted(scaled, ["mode"])
print(fast(jnp.ones(3), mode="down"))
print(jax.jit(scaled)(jnp.ones(3), **{"mode": "down"}))  # finding
