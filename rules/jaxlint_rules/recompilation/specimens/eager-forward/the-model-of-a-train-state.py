# the model of a train state, in an evaluation and under jit

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


def eval_step(state: TrainState, tokens):
    logits = state.apply_fn({"params": state.params}, tokens[:, :-1])  # finding
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def evaluate(state: TrainState, dataset, steps):
    losses = []
    for _, tokens in zip(range(steps), dataset):
        losses.append(eval_step(state, tokens.numpy()))
    return jnp.mean(jnp.stack(losses))


@jax.jit
def compiled_step(state, tokens):
    return state.apply_fn({"params": state.params}, tokens)


def evaluate_compiled(state, dataset, steps):
    losses = []
    for _, tokens in zip(range(steps), dataset):
        losses.append(compiled_step(state, tokens.numpy()))
    return jnp.stack(losses)


def layers_that_a_trace_may_repeat(state, x, steps):
    for _ in range(steps):
        x = state.apply_fn({"params": state.params}, x)
    return x


def once(state, batch):
    return state.apply_fn({"params": state.params}, batch.numpy())
