# source: patrick-kidger/equinox#498
# blind: twentieth

"""Text-feature classifier with dropout, flax linen and a custom TrainState."""
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class TrainState(train_state.TrainState):
    rng: jax.Array


class Classifier(nn.Module):
    hidden: int = 64
    classes: int = 4
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, train):
        for _ in range(2):
            x = nn.relu(nn.Dense(self.hidden)(x))
            x = nn.Dropout(self.rate, deterministic=not train)(x)
        return nn.Dense(self.classes)(x)


def create_state(model, features, lr, seed):
    k_params, k_state = jax.random.split(jax.random.key(seed))
    variables = model.init(k_params, jnp.zeros((1, features)), train=False)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        tx=optax.adamw(lr),
        rng=k_state,
    )


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, labels):
    rng, dropout_rng = jax.random.split(state.rng)  # finding-also

    def loss_fn(params):
        logits = state.apply_fn(
            {"params": params}, x, train=True, rngs={"dropout": dropout_rng}
        )
        return cross_entropy(logits, labels)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss  # finding


@jax.jit
def eval_step(state, x, labels):
    logits = state.apply_fn({"params": state.params}, x, train=False)
    return jnp.mean(jnp.argmax(logits, axis=-1) == labels)


def main(steps=100, batch=64):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((512, 20)).astype(np.float32)
    labels = x[:, :4].argmax(axis=1).astype(np.int32)
    state = create_state(Classifier(), x.shape[1], 3e-3, seed=0)
    for _ in range(steps):
        rows = rng.choice(len(x), batch, replace=False)
        state, loss = train_step(state, x[rows], labels[rows])
    print("loss", float(loss), "accuracy", float(eval_step(state, x, labels)))


if __name__ == "__main__":
    main()
