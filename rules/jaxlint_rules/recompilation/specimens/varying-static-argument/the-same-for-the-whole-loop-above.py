# static arguments that a loop above does not change, or that only some calls pass

import jax


def step(state, batch, warm):
    return state + batch if warm else state - batch


compiled = jax.jit(step, static_argnums=2)


def run_epoch(state, batches, warm):
    for batch in batches:
        state = compiled(state, batch, warm)
    return state


def train(state, args, batches):
    for epoch in range(args.epochs):
        state = run_epoch(state, batches, epoch < 5)
    return state


def every_tenth(state, batches, epoch):
    for batch in batches:
        if epoch % 10 == 0:
            state = compiled(state, batch, epoch)
    return state


def train_seldom(state, args, batches):
    for epoch in range(args.epochs):
        state = every_tenth(state, batches, epoch)
    return state


def set_again(state, batches, epoch):
    epoch = min(epoch, 3)
    for batch in batches:
        state = compiled(state, batch, epoch)
    return state


def train_bounded(state, args, batches):
    for epoch in range(args.epochs):
        state = set_again(state, batches, epoch)
    return state
