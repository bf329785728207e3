# two runners and two carries that one setting chooses
import jax
import jax.numpy as jnp

def make_short():
    def run(carry, xs):
        def body(carry, x):
            key, state, env = carry
            return (key, state + x, env), None
        return jax.lax.scan(body, carry, xs)
    return jax.jit(run)

def make_long():
    def run(carry, xs):
        def body(carry, x):
            key, state, env, buffer = carry
            return (key, state + x, env, buffer), None
        return jax.lax.scan(body, carry, xs)
    return jax.jit(run)

def train(config, key, state, env, steps):
    on_policy = config.rollout is not None
    if on_policy:
        buffer = None
        run = make_short()
    else:
        buffer = jnp.zeros(3)
        run = make_long()
    done = 0
    while done < steps:
        if not on_policy:
            (key, state, env, buffer), _ = run((key, state, env, buffer), jnp.ones(3))
        else:
            (key, state, env), _ = run((key, state, env), jnp.ones(3))
        done += 3
    return state
