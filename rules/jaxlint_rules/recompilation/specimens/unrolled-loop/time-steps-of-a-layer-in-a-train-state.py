# the time steps of a layer that a train state holds

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Encoder(nn.Module):
    hidden: int

    def setup(self):
        self.embedding = nn.Embed(40, 64)
        self.cell = nn.LSTMCell(self.hidden)

    def __call__(self, tokens):
        embedded = self.embedding(tokens)
        batch, length, _ = embedded.shape
        carry = jnp.zeros((batch, self.hidden)), jnp.zeros((batch, self.hidden))
        outputs = []
        for t in range(length):  # finding
            carry, output = self.cell(carry, embedded[:, t, :])
            outputs.append(output)
        return jnp.stack(outputs, axis=1)


@jax.jit
def train_step(state: train_state.TrainState, tokens, targets):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))


def train(loader):
    model = Encoder(64)
    variables = model.init(jax.random.key(0), jnp.ones((2, 30), jnp.int32))
    state = train_state.TrainState.create(apply_fn=model.apply, tx=optax.adam(0.1), params=variables["params"])
    for tokens, targets in loader:
        state = train_step(state, tokens, targets)
    return state
