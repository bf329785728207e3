# slices up to the loop variable, arrays and lists that grow

import jax
import jax.numpy as jnp

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def prefixes(x, n):
    total = 0.0
    for i in range(1, n):
        total += score(x[:i])  # finding
    return total

def decode(tokens, n):
    i = 1
    while i < n:
        head = tokens[:, :i]
        logit = score(head)  # finding
        i += 1
    return logit

def generate(tokens, n):
    for _ in range(n):
        nxt = score(tokens)  # finding
        tokens = jnp.concatenate([tokens, nxt[None]])
    return tokens

def history(xs, n):
    seen = []
    for x in xs:
        seen.append(x)
        print(score(jnp.stack(seen)))  # finding
