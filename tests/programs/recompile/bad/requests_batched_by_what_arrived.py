# source: google-deepmind/tapnet#44
# blind: eighth
# missed: how many requests have arrived is asked of a queue

import queue

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(weights, rows):
    return jax.nn.sigmoid(rows @ weights)


def drain(inbox, limit=32):
    rows = []
    while rows == [] or (len(rows) < limit and not inbox.empty()):
        rows.append(inbox.get())
    return np.stack(rows)


def serve(weights, inbox, rounds):
    for _ in range(rounds):
        batch = drain(inbox)
        print(score(weights, batch).shape)  # finding


if __name__ == "__main__":
    inbox = queue.Queue()
    for i in range(40):
        inbox.put(np.full(4, i, np.float32))
    serve(jnp.ones(4), inbox, 2)
