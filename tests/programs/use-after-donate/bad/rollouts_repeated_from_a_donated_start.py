# blind: thirteenth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnames=("carry",))
def rollout(params, carry, length=64):
    def body(state, _):
        state = jnp.tanh(state @ params)
        return state, state.mean(axis=-1)

    return jax.lax.fori_loop(0, length, lambda i, s: body(s, None)[0], carry)


def evaluate(params, initial, n):
    results = []
    for _ in range(n):
        final = rollout(params, carry=initial)  # finding
        results.append(final.mean())
    return jnp.stack(results)


def main():
    params = 0.1 * jax.random.normal(jax.random.key(0), (16, 16))
    initial = jnp.ones((8, 16))
    print(evaluate(params, initial, 3))


if __name__ == "__main__":
    main()
