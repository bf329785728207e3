# statistics that a loss hands on from `state.apply_fn`, read and not read

import jax
import optax


@jax.jit
def dropped(state, batch):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, new = state.apply_fn(variables, batch["x"], train=True, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean(), new

    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)  # finding
    return state.apply_gradients(grads=grads), loss


@jax.jit
def kept(state, batch):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, new = state.apply_fn(variables, batch["x"], train=True, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean(), (logits, new)

    (loss, (logits, new)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), loss


@jax.jit
def watched(state, batch):
    def loss_fn(params):
        logits, seen = state.apply_fn({"params": params}, batch["x"], mutable=["intermediates"])
        return logits.mean(), seen

    (loss, seen), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), loss
