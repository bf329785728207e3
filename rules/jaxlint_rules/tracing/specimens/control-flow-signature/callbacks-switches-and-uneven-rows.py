# callbacks, float indices and rows that do not match

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback

HISTORY = []

def record(loss):
    HISTORY.append(float(loss))

def keep(*values):
    HISTORY.extend(values)

def labelled(value, name="loss"):
    HISTORY.append((name, value))

@jax.jit
def told(x):
    io_callback(record, x.sum(), ordered=True)  # finding
    io_callback(record, None, x.sum(), ordered=True)
    jax.debug.callback(record, x.sum(), x.mean())  # finding
    jax.debug.callback(record, x.sum())
    jax.debug.callback(keep, x.sum(), x.mean())
    jax.debug.callback(labelled, x.sum(), name="total")
    jax.debug.callback(lambda: HISTORY.clear())
    return x

@jax.jit
def scheduled(step):
    phase = jnp.floor(step / 100.0)
    a = lax.switch(phase, [jnp.sin, jnp.cos], step)  # finding
    b = lax.switch(phase.astype(jnp.int32), [jnp.sin, jnp.cos], step)
    return a + b

def advantages(rewards, values):
    def body(total, item):
        reward, value = item
        return total + reward - value, total

    a = lax.scan(body, 0.0, (rewards, values))  # finding
    b = lax.scan(body, 0.0, (rewards, values[:-1]))
    c = lax.scan(body, 0.0, (rewards, values[1:]), length=100)  # finding
    d = lax.scan(body, 0.0, (rewards, values[1:]), length=128)
    return a, b, c, d

advantages(jnp.ones(128), jnp.zeros(129))

def collected(state, key, steps):
    def body(s, k):
        moved = s + jax.random.normal(k, s.shape)
        return moved, (s, moved.sum())

    last, (states, rewards) = lax.scan(body, state, jax.random.split(key, steps))
    return jnp.concatenate([states, last[None]]), rewards

def targets(values, rewards, key, steps):
    def body(total, item):
        reward, value = item
        return reward + value.sum() + 0.9 * total, total

    states, gains = collected(jnp.zeros(2), key, steps)
    a = lax.scan(body, 0.0, (gains, states))  # finding
    b = lax.scan(body, 0.0, (gains, states[:-1]))
    c = lax.scan(body, 0.0, (rewards, values))
    d = lax.map(lambda row: row[0] + row[1].sum(), (gains, states))  # finding
    return a, b, c, d, lax.map(lambda row: row[0] + row[1].sum(), (gains, states[1:]))
