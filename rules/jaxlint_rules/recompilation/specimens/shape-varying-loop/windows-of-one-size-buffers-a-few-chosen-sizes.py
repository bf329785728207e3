# windows of one size, buffers, a few chosen sizes, slices inside of jit

import jax
import jax.numpy as jnp

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

@jax.jit
def inside(x):
    return sum(score(x[:i]) for i in range(1, 5))

def windows(x, n, size):
    for i in range(n):
        end = i + size
        print(score(x[i:end]), score(x[i * size : (i + 1) * size]), score(x[i : i + 8]), score(x[i]))

def buffer(x, n):
    out = jnp.zeros(n)
    for i in range(n):
        out = out.at[i].set(score(x))
    return out

def sizes(x):
    for n in (10, 100, 1000):
        print(score(x[:n]))

def batches(xs, n):
    for epoch in range(n):
        batch = []
        for x in xs:
            batch.append(x)
            if len(batch) == 8:
                print(score(jnp.stack(batch)))
                batch = []

def last_batch_padded(data, n, size):
    for i in range(0, n, size):
        batch = data[i : i + size]
        if len(batch) < size:
            batch = jnp.concatenate([batch, jnp.zeros(size - len(batch))])
        print(score(batch))

def padded(texts, tokenizer, labels, x, label):
    for text in texts:
        print(score(jnp.array(tokenizer.encode(text, padding="max_length"))))
        print(score(jnp.where(labels == text, 1.0, 0.0)), score(x[labels == label]))
