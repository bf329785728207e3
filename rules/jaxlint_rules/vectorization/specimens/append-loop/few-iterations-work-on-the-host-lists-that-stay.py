# few iterations, work on the host, lists that stay lists, layers, scans

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(state, x):
    return state + x

@jax.jit
def few(h, w):
    out = []
    for i in range(3):
        h = jnp.tanh(h @ w)
        out.append(h)
    return jnp.stack(out)

def play(env, state, params):
    rewards = []
    for t in range(100):
        observation, reward, done, _ = env.step(np.asarray(state))
        state = step(state, jnp.asarray(observation))
        rewards.append(reward)
        if done:
            break
    return jnp.array(rewards)

@jax.jit
def train_step(w, key):
    x = jax.random.normal(key, (32, 3))
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * grad, loss

def train(w, key):
    losses = []
    for i in range(1000):
        w, loss = train_step(w, jax.random.fold_in(key, i))
        losses.append(loss)
    return w, jnp.stack(losses)

train(jnp.ones(3), jax.random.key(0))

def log(state, xs):
    losses = []
    for x in xs:
        state = step(state, x)
        losses.append(state.sum())
        print(losses[-1])
    return jnp.array(losses)

@jax.jit
def as_list(h, xs):
    out = []
    for x in xs:
        h = h + x
        out.append(h)
    return out

@jax.jit
def layers(params, h):
    hidden = []
    for layer in params:
        h = jnp.tanh(h @ layer["w"])
        hidden.append(h)
    return jnp.stack(hidden)

@jax.jit
def scanned(h, xs):
    return jax.lax.scan(lambda h, x: (h + x, h), h, xs)
