# the epoch of a loop above the loop over batches

import jax


def make_step(several):
    def step(state, batch, epoch, warm):
        return state + batch if epoch < warm else state - batch

    if several:
        return jax.pmap(step, static_broadcasted_argnums=(2, 3))
    return jax.jit(step, static_argnums=(2, 3))


def run_epoch(state, batches, step, epoch, warm, mode="train"):
    for batch in batches:
        if mode == "train":
            state = step(state, batch, epoch, warm)  # finding
    return state


def train(state, args, batches):
    step = make_step(False)
    for epoch in range(args.epochs):
        state = run_epoch(state, batches, step, epoch, 5)
    return state
