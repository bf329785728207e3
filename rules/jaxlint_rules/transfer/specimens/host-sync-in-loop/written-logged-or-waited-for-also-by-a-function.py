# written, logged or waited for, also by a function that the loop calls

import logging
import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)

class Mean:
    def __init__(self):
        self.total, self.seen = 0.0, 0

    def add(self, value):
        self.total += value.item()  # finding
        self.seen += 1

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, jnp.mean(w * batch)

def show(number, loss):
    print(f"{number}: {loss:.3f}")  # finding

def numbers(metrics):
    return {name: float(value) for name, value in metrics.items()}  # finding

def finite(tree):
    return all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(tree))  # finding

class Trainer:
    def __init__(self, w):
        self.w, self.history = w, {"loss": []}

    def record(self, metrics):
        for name, value in metrics.items():
            self.history[name].append(value.item())  # finding

    def advance(self, batch):
        self.w = move(self.w, batch)
        self.w.block_until_ready()  # finding

    def run(self, batches):
        for batch in batches:
            self.advance(batch)

    def note(self, batches):
        for batch in batches:
            w, loss = step(self.w, batch)
            self.record({"loss": loss})

    def check(self, batches):
        for batch in batches:
            w, loss = step(self.w, batch)
            assert finite([w])

@jax.jit
def move(w, batch):
    return w - 0.1 * batch

def losses(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        yield loss

def curve(w, batches):
    return [(0, 0.0)], [float(loss) for loss in jax.device_get(list(losses(w, batches)))]

def points(w, batches):
    found = []
    for number, loss in enumerate(losses(w, batches)):
        found.append((number, float(loss)))  # finding
    return found

def logged(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        log.info("loss %s", loss)  # finding

def added(w, batches):
    mean = Mean()
    for batch in batches:
        w, loss = step(w, batch)
        mean.add(loss)

def shown(w, batches):
    for number, batch in enumerate(batches):
        w, loss = step(w, batch)
        show(number, loss)

def listed(w, batches):
    rows = []
    for batch in batches:
        w, loss = step(w, batch)
        rows.append(numbers({"loss": loss}))

def saved(w, batches, folder):
    for number, batch in enumerate(batches):
        w, loss = step(w, batch)
        np.save(f"{folder}/{number}.npy", w)  # finding

def wait(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        jax.block_until_ready(w)  # finding
    return w

batches = [jnp.ones(3)] * 9
logged(jnp.ones(3), batches)
added(jnp.ones(3), batches)
shown(jnp.ones(3), batches)
listed(jnp.ones(3), batches)
saved(jnp.ones(3), batches, ".")
trainer = Trainer(jnp.ones(3))
trainer.run(batches)
trainer.note(batches)
trainer.check(batches)
