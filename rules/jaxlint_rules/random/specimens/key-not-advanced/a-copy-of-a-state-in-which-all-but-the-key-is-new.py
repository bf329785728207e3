# a copy of a state in which all but the key is new

from dataclasses import dataclass, replace
import jax
import jax.numpy as jnp

@jax.jit
def walk(state):
    move, accept = jax.random.split(state.key)  # finding
    return state._replace(x=state.x + jax.random.normal(move, state.x.shape))

def env_step(state, action):
    noise = jax.random.normal(state.rng, state.x.shape)  # finding
    return state.replace(x=state.x + action + noise), -state.x

step = jax.jit(env_step)

@dataclass
class Particles:
    x: jax.Array
    key: jax.Array

def resample(particles, weights):
    rows = jax.random.categorical(particles.key, weights, shape=weights.shape)  # finding
    return replace(particles, x=particles.x[rows])

def track(steps):
    particles = Particles(jnp.ones(8), jax.random.key(0))
    for _ in range(steps):
        particles = resample(particles, particles.x)
    return particles

track(10)

@jax.jit
def renewed(state):
    key, move = jax.random.split(state.key)
    return state.replace(x=state.x + jax.random.normal(move, state.x.shape), key=key)

@jax.jit
def by_parts(state):
    key, move = jax.random.split(state.key)
    state = state.replace(x=state.x + jax.random.normal(move, state.x.shape))
    return state._replace(key=key)

@jax.jit
def given(state, **changes):
    key, move = jax.random.split(state.key)
    return state.replace(x=jax.random.normal(move, state.x.shape), **changes)

@jax.jit
def folded(state):
    move = jax.random.fold_in(state.key, state.step)
    return state.replace(x=jax.random.normal(move, state.x.shape), step=state.step + 1)

def value_at(keys, step):
    return jax.vmap(lambda key: jax.random.normal(jax.random.fold_in(key, step)))(keys)

@jax.jit
def counted(state, grid):
    keys = jax.random.split(state.key, 4)
    values = grid.advance(state.core, keys, state.step)
    return state._replace(x=values, step=state.step + 1)

@jax.jit
def folded_later(state):
    keys = jax.random.split(state.key, 4)
    return state.replace(x=value_at(keys, state.age), age=state.age + state.dt)

@jax.jit
def unpacked(state):
    x, step, key = state
    key, move = jax.random.split(key)
    return state._replace(x=x + jax.random.normal(move, x.shape), key=key)

def critic(state):
    return state.replace(x=state.x + jax.random.normal(state.noise, state.x.shape))

@jax.jit
def update(state):
    key, noise = jax.random.split(state.key)
    return critic(state.replace(key=key, noise=noise))
