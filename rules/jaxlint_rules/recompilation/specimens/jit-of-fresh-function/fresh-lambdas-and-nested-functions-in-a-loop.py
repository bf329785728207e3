# fresh lambdas and nested functions, in a loop or below one

import jax
import jax.numpy as jnp

def mix(i, x, y):
    return jax.lax.switch(i, [lambda _: x + y, lambda _: x - y], None)  # finding

def simulate(x, y, n):
    total = x
    for t in range(n):
        total = total + mix(t % 2, x, y)
    return total

print(simulate(jnp.ones(3), jnp.ones(3), 10))

def rollouts(x, n):
    ends = []
    for _ in range(n):
        def body(carry, _):
            return carry * 0.5, None
        x, _ = jax.lax.scan(body, x, None, length=10)  # finding
        ends.append(jax.lax.while_loop(lambda c: c.sum() > 1, lambda c: c / 2, x))  # finding
    return ends

if __name__ == "__main__":
    rollouts(jnp.ones(3), 5)
