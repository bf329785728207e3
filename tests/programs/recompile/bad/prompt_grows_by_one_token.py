# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def logits_of(params, tokens):
    h = params["embed"][tokens]
    h = jnp.cumsum(h, axis=0) / jnp.arange(1, tokens.shape[0] + 1)[:, None]
    return h[-1] @ params["out"]


def generate(params, prompt, count):
    tokens = prompt
    for _ in range(count):
        nxt = jnp.argmax(logits_of(params, tokens))  # finding
        tokens = jnp.append(tokens, nxt)  # finding-also
    return tokens


params = {"embed": jnp.ones((50, 8)), "out": jnp.ones((8, 50))}
print(generate(params, jnp.array([1, 2, 3]), 6))
