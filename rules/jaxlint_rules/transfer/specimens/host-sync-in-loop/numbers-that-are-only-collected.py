# numbers that are only collected

import jax

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, (w * batch).sum()

def train(w, batches, epochs):
    losses = []
    for _ in range(epochs):
        for batch in batches:
            w, loss = step(w, batch)
            losses.append(float(loss))  # finding
    return w, losses
