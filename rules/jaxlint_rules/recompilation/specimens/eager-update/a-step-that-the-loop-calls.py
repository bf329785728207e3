# a step that the loop calls: a function, a method that keeps the state, and one of nnx

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import nnx

optimizer = optax.adam(1e-3)


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


def train_step(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = optimizer.update(grads, opt_state, params)  # finding
    return optax.apply_updates(params, updates), opt_state, loss


class Agent:
    def __init__(self, model):
        self.model = model
        self.tx = optax.sgd(1e-2)
        self.opt_state = self.tx.init(eqx.filter(model, eqx.is_array))

    def learn(self, x):
        grads = eqx.filter_grad(lambda model: jnp.mean(jax.vmap(model)(x) ** 2))(self.model)
        updates, self.opt_state = self.tx.update(grads, self.opt_state)  # finding
        self.model = eqx.apply_updates(self.model, updates)


def nnx_step(model, optimizer, x):
    grads = nnx.grad(lambda model: jnp.mean(model(x) ** 2))(model)
    optimizer.update(model, grads)  # finding


def main(batches):
    params = jnp.zeros(4)
    opt_state = optimizer.init(params)
    for x in batches:
        params, opt_state, loss = train_step(params, opt_state, x)
    agent = Agent(eqx.nn.Linear(4, 1, key=jax.random.key(0)))
    for x in batches:
        agent.learn(x)
    model = nnx.Linear(4, 1, rngs=nnx.Rngs(0))
    nnx_optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for x in batches:
        nnx_step(model, nnx_optimizer, x)
    return params, loss


if __name__ == "__main__":
    from loaders import batches

    main(batches)
