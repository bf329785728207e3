# an optimizer, a target network and a loss that get two arguments in the wrong order
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def loss_fn(params, x, y):
    logits = x @ params["w"] + params["b"]
    labels = jax.nn.one_hot(y, 10)
    return optax.softmax_cross_entropy(labels, logits).mean()  # finding


@jax.jit
def step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(params, opt_state, grads)  # finding
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def by_name(params, opt_state, x, y):
    value, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(params, opt_state, params=grads)  # finding
    return optax.apply_updates(params, updates), opt_state, value


class Agent:
    def __init__(self, params):
        self.params = params
        self.target = jax.tree.map(jnp.copy, params)

    def learn(self, params):
        self.params = params
        self.target = optax.incremental_update(self.target, self.params, 0.005)  # finding


def soft(target, params, tau=0.01):
    target = optax.incremental_update(new_tensors=params, old_tensors=target, step_size=tau)
    target = optax.incremental_update(target, params, step_size=0.01)  # finding
    return target
