# a method that jits what it calls, in a loop over an object of unknown class, and a sampler that each iteration makes

import jax
import jax.numpy as jnp
from numpyro.infer import HMC, MCMC, NUTS


class Agent:
    def __init__(self, params):
        self.params = params
        self.score = jax.jit(lambda params, obs: jnp.sum(params * obs))

    def act(self, obs):
        @jax.jit
        def select(params, obs):  # finding
            return jnp.argmax(params * obs)

        return int(select(self.params, obs))

    def value(self, obs):
        return self.score(self.params, obs)


def run(env, agent):
    obs, done = env.reset(), False
    while not done:
        obs, done = env.step(agent.act(obs), agent.value(obs))


def coverage(model, data, key):
    for x in data:
        mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=500)  # finding
        mcmc.run(key, x)


def compare(models, x, key):
    for model in models:
        mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=500)
        mcmc.run(key, x)


def once(model, data, key):
    mcmc = MCMC(HMC(model), num_warmup=500, num_samples=500)
    for x in data:
        mcmc.run(key, x)


def fit(model, key, x):
    kernel = NUTS(model)
    mcmc = MCMC(kernel, num_warmup=500, num_samples=500)  # finding
    mcmc.run(key, x)
    return mcmc.get_samples()


def each_subject(model, data, key):
    return_values = []
    for i, x in enumerate(data):
        return_values.append(fit(model, jax.random.fold_in(key, i), x))
    return return_values


def fit_another(model, key, x):
    kernel = NUTS(model)
    mcmc = MCMC(kernel, num_warmup=500, num_samples=500)
    mcmc.run(key, x)
    return mcmc.get_samples()


def each_model(models, x, key):
    found = []
    for i, model in enumerate(models):
        found.append(fit_another(model, jax.random.fold_in(key, i), x))
    return found
