# source: jax-ml/jax#2765
# blind: first

import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

IGNORE = -100


def masked_xent(logits, labels):
    keep = labels != IGNORE
    logits, labels = logits[keep], labels[keep]  # finding
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


class State(train_state.TrainState):
    step_rng: jax.Array


@jax.jit
def train_step(state, tokens, labels):
    def compute(params):
        return masked_xent(state.apply_fn(params, tokens), labels)

    loss, grads = jax.value_and_grad(compute)(state.params)
    return state.apply_gradients(grads=grads), loss


if __name__ == "__main__":
    st = State.create(
        apply_fn=lambda p, t: p[t], params=jnp.ones((5, 5)), tx=optax.sgd(0.1), step_rng=jax.random.key(0)
    )
    print(train_step(st, jnp.array([1, 2]), jnp.array([1, -100]))[1])
