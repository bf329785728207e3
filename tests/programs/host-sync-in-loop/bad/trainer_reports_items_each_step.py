# source: lnccbrown/LANfactory#120
# blind: fifth

import jax
import jax.numpy as jnp
from flax import nnx
import optax


class Policy(nnx.Module):
    def __init__(self, din, dout, rngs):
        self.hidden = nnx.Linear(din, 32, rngs=rngs)
        self.out = nnx.Linear(32, dout, rngs=rngs)

    def __call__(self, obs):
        return self.out(nnx.tanh(self.hidden(obs)))


@nnx.jit
def train_step(policy, optimizer, obs, actions):
    def loss_fn(policy):
        logits = policy(obs)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, actions).mean()
        return loss, {"loss": loss, "accuracy": (logits.argmax(-1) == actions).mean()}

    grads, metrics = nnx.grad(loss_fn, has_aux=True)(policy)
    optimizer.update(policy, grads)
    return metrics


class Trainer:
    def __init__(self, policy, logger):
        self.policy = policy
        self.optimizer = nnx.Optimizer(policy, optax.adam(1e-3), wrt=nnx.Param)
        self.logger = logger

    def run(self, demos):
        for step, (obs, actions) in enumerate(demos):
            metrics = train_step(self.policy, self.optimizer, obs, actions)
            self.logger({name: value.item() for name, value in metrics.items()} | {"step": step})  # finding


if __name__ == "__main__":
    demos = [(jnp.ones((4, 6)), jnp.zeros(4, jnp.int32))] * 3
    Trainer(Policy(6, 3, nnx.Rngs(0)), print).run(demos)
