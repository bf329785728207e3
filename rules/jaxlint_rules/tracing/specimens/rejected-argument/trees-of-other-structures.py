# variables beside the gradient of their parameters, dicts with other keys, and trees that fit
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

model = nn.Dense(4)
tx = optax.adamw(1e-3)


def loss_fn(params, x, y):
    return jnp.mean((model.apply({"params": params}, x) - y) ** 2)


@jax.jit
def adapt(variables, x, y):
    grads = jax.grad(loss_fn)(variables["params"], x, y)
    fits = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads)
    return fits, jax.tree.map(lambda p, g: p - 0.1 * g, variables, grads)  # finding


@jax.jit
def step(variables, opt_state, x, y):
    grads = jax.grad(loss_fn)(variables["params"], x, y)
    updates, opt_state = tx.update(grads, opt_state, variables)  # finding
    return optax.apply_updates(variables, updates), opt_state  # finding


@jax.jit
def fine(variables, opt_state, x, y):
    grads = jax.grad(loss_fn)(variables["params"], x, y)
    updates, opt_state = tx.update(grads, opt_state, variables["params"])
    return {"params": optax.apply_updates(variables["params"], updates)}, opt_state


def mix(scale, shift):
    a = {"w": scale, "b": shift}
    b = {"w": scale, "bias": shift}
    pairs = jax.tree.map(jnp.add, a, {"b": shift, "w": scale})
    return pairs, jax.tree.map(jnp.add, a, b)  # finding


def by_prefix(tree, lr):
    return jax.tree.map(lambda rate, part: jax.tree.map(lambda x: rate * x, part), lr["adam"], tree)


def rows(x):
    return jax.tree.map(jnp.add, x, x[0])


slow = optax.chain(optax.clip(1.0), optax.lookahead(optax.adam(1e-3), 5, 0.5))


@jax.jit
def synced(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params.fast, x, y)
    updates, opt_state = slow.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state
