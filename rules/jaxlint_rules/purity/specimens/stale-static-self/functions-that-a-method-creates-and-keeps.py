# functions that a method creates, compiles and keeps; keys and numbers that are passed, or that stay

import jax
import jax.numpy as jnp


class Agent:
    def __init__(self, model, seed, rate):
        self.model = model
        self.key = jax.random.key(seed)
        self.rate = rate
        self.gamma = 0.99

        @jax.value_and_grad
        def loss(params, batch, key):
            noise = jax.random.normal(key, batch.shape)
            return jnp.mean(self.gamma * (batch + noise) * params)

        def update(params, batch):
            new_key, key = jax.random.split(self.key)  # finding
            value, grads = loss(params, batch, key)
            return params - grads, value, new_key

        def act(params, observation, key):
            return jax.random.categorical(key, observation @ params)

        def evaluate(params, batch):
            return jnp.mean(self.model(params, batch)) * self.gamma

        @jax.jit
        def scaled(params, batch):
            return params - self.rate * batch  # finding

        self.update = jax.jit(update)
        self.act = jax.jit(act)
        self.evaluate = jax.jit(evaluate)
        self.scaled = scaled

    def learn(self, params, batches):
        for batch in batches:
            params, value, self.key = self.update(params, batch)
        return params

    def play(self, params, observation):
        self.key, key = jax.random.split(self.key)
        return self.act(params, observation, key)

    def slow_down(self):
        self.rate = self.rate * 0.5


class Compiles:
    """It compiles the function again with each new rate."""

    def __init__(self, rate):
        self.set_rate(rate)

    def set_rate(self, rate):
        self.rate = rate
        self.step = jax.jit(lambda params, grads: params - self.rate * grads)
