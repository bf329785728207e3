# objects of the host that take the value and give what the next step works on

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def errors(w, batch):
    return jnp.abs(batch @ w)

@jax.jit
def step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    return w - 0.1 * batch.mean(0), loss

def priorities(w, buffer, steps):
    for _ in range(steps):
        batch, indices = buffer.sample(64)
        found = errors(w, batch)
        buffer.update_priorities(indices, np.array(found).flatten())
    return w

def evolution(strategy, steps):
    for _ in range(steps):
        candidates = strategy.ask()
        fitness = errors(jnp.array(candidates), jnp.ones(8))
        scores = np.asarray(fitness)
        strategy.tell(candidates, -scores)

def simulator(w, world, observed, steps):
    for _ in range(steps):
        action = errors(w, jnp.asarray(observed))
        chosen = int(action.argmax())
        observed = world.advance(chosen)
    return observed

def monitored(w, buffer, monitor, steps):
    for _ in range(steps):
        batch = buffer.sample(64)
        w, loss = step(w, batch)
        monitor.record(float(loss))  # finding
    return w

def through_a_trainer(trainer, w, batches):
    for batch in batches:
        batch = trainer.prepared(batch)
        w, loss = step(w, batch)
        print(float(loss))  # finding
    return w

def first_loud_excerpt(files, w, cutoff):
    best, most = None, -1.0
    for file in files:
        batch = file.read()
        loud = float(errors(w, batch).max())
        if loud > most:
            best, most = batch, loud
        if most > cutoff:
            return best
    return None

def until_it_diverges(w, batches):
    for batch in batches:
        w, loss = step(w, batch)
        if float(loss) > 1e3:  # finding
            break
    return w
