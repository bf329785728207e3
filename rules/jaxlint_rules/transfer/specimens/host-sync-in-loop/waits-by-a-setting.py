# waits under a setting that no iteration changes, and under a test that changes

import time

import jax
import jax.numpy as jnp
import tqdm
import wandb


@jax.jit
def train_step(params, batch):
    loss, gradient = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * gradient, loss


class Trainer:
    def __init__(self, params, loader, use_wandb):
        self.params = params
        self.loader = loader
        self.use_wandb = use_wandb
        self.due = False

    def train_epoch(self):
        for batch in self.loader:
            self.params, loss = train_step(self.params, batch)
            if self.use_wandb:
                wandb.log({"loss": loss})  # finding

    def train_quietly(self):
        for batch in self.loader:
            self.params, loss = train_step(self.params, batch)
            if self.due:
                wandb.log({"loss": loss})

    def tick(self, step):
        self.due = step % 100 == 0


def train(params, loader, config):
    losses = []
    for batch in loader:
        params, loss = train_step(params, batch)
        if config.keep_losses:
            losses.append(float(loss))  # finding
    return params, losses


def train_with_a_mark(params, loader):
    last = False
    for batch in loader:
        params, loss = train_step(params, batch)
        if last:
            print(float(loss))
        last = loader.is_last()
    return params


def train_talking(params, loader, verbose=False):
    for batch in loader:
        params, loss = train_step(params, batch)
        if verbose:  # advice: it is on to watch a run
            print(float(loss))  # finding
    return params


def train_profiled(params, loader, profile=False):
    total = 0.0
    start = time.perf_counter()
    for batch in loader:
        params, loss = train_step(params, batch)
        if profile:
            loss.block_until_ready()
        total += loss.item()  # finding
        if profile:
            print(time.perf_counter() - start)
            start = time.perf_counter()
    return params, total


def train_shown(params, loader):
    bar = tqdm.tqdm(loader)
    total = 0.0
    for batch in bar:
        params, loss = train_step(params, batch)
        total += loss
        shown = {"loss": f"{total:.3f}"}  # finding
        bar.set_postfix(shown)
    return params
