"""Learn how people change their contacts during an epidemic: an SIR model whose contact rate is a small network."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    regions: int = 3
    days: int = 24
    hidden: int = 10
    recovery: float = 0.15
    noise: float = 0.004
    iterations: int = 24
    learning_rate: float = 2e-2
    smoothness: float = 1e-4
    report_every: int = 8
    seed: int = 21


class ContactNetwork:
    """Maps (infected share, day of the epidemic) to a positive contact rate."""

    def __init__(self, hidden):
        self.hidden = hidden

    def init(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        h = self.hidden
        return {
            "w1": jax.random.normal(k1, (2, h)),
            "b1": jnp.zeros(h),
            "w2": jax.random.normal(k2, (h, h)) / jnp.sqrt(h),
            "b2": jnp.zeros(h),
            "w3": 0.1 * jax.random.normal(k3, (h,)),
            "b3": jnp.array(-1.0),
        }

    def __call__(self, params, infected, day):
        x = jnp.stack([10.0 * infected, day / 24.0])
        x = jnp.tanh(x @ params["w1"] + params["b1"])
        x = jnp.tanh(x @ params["w2"] + params["b2"])
        return jax.nn.softplus(x @ params["w3"] + params["b3"])


class EpidemicModel:
    def __init__(self, config):
        self.config = config
        self.network = ContactNetwork(config.hidden)

    def derivative(self, params, state, day):
        susceptible, infected, _ = state
        infections = self.network(params, infected, day) * susceptible * infected
        recoveries = self.config.recovery * infected
        return jnp.stack([-infections, infections - recoveries, recoveries])

    def rk4_step(self, params, state, day, dt):
        k1 = self.derivative(params, state, day)
        k2 = self.derivative(params, state + 0.5 * dt * k1, day + 0.5 * dt)
        k3 = self.derivative(params, state + 0.5 * dt * k2, day + 0.5 * dt)
        k4 = self.derivative(params, state + dt * k3, day + dt)
        return state + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)

    def simulate(self, params, initial):
        def step(state, day):
            state = self.rk4_step(params, state, day, 1.0)
            return state, state

        _, states = jax.lax.scan(step, initial, jnp.arange(self.config.days, dtype=jnp.float32))
        return jnp.concatenate([initial[None], states])


def make_epidemics(config):
    rng = np.random.default_rng(config.seed)
    epidemics = []
    for _ in range(config.regions):
        state = np.array([1.0, 0.0, 0.0])
        state[1] = rng.uniform(0.005, 0.03)
        state[0] -= state[1]
        initial, infected = state.astype(np.float32), []
        for day in range(config.days):
            for _ in range(20):
                rate = 0.55 / (1 + 12 * state[1]) * (1 - 0.25 * np.sin(day / 5))
                new, recovered = rate * state[0] * state[1] / 20, config.recovery * state[1] / 20
                state = state + np.array([-new, new - recovered, recovered])
            infected.append(state[1])
        observed = np.array(infected) + config.noise * rng.normal(size=config.days)
        epidemics.append((jnp.asarray(initial), jnp.asarray(observed.astype(np.float32))))
    return epidemics


def main():
    config = Config()
    initials, observations = (jnp.stack(part) for part in zip(*make_epidemics(config)))
    model = EpidemicModel(config)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate))

    def loss_fn(params, initials, observations):
        infected = jax.vmap(model.simulate, (None, 0))(params, initials)[:, 1:, 1]
        penalty = config.smoothness * sum(jnp.sum(params[name] ** 2) for name in ("w1", "w2", "w3"))
        return 1e3 * jnp.mean((infected - observations) ** 2) + penalty

    @jax.jit
    def init(key):
        params = model.network.init(key)
        return params, tx.init(params)

    @partial(jax.jit, donate_argnums=0)
    def train(carry, initials, observations):
        def step(carry, _):
            params, opt_state = carry
            loss, grads = jax.value_and_grad(loss_fn)(params, initials, observations)
            norm = optax.global_norm(grads)
            updates, opt_state = tx.update(grads, opt_state)
            return (optax.apply_updates(params, updates), opt_state), (loss, norm)

        return jax.lax.scan(step, carry, None, length=config.report_every)

    @jax.jit
    def summarise(params, initials, shares):
        states = jax.vmap(model.simulate, (None, 0))(params, initials)
        peak = jnp.argmax(states[:, :, 1], axis=1)
        rates = jax.vmap(model.network, (None, 0, None))(params, shares, 10.0)
        return peak, states[:, :, 1].max(axis=1), states[:, -1, 2], rates

    carry = init(jax.random.key(config.seed))
    for iteration in range(config.report_every, config.iterations + 1, config.report_every):
        carry, (losses, norms) = train(carry, initials, observations)
        print(f"iteration {iteration}: loss {float(losses[-1]):.3g}, gradient norm {float(norms[-1]):.3g}")

    shares = np.array([0.01, 0.05, 0.1, 0.2], np.float32)
    peaks, heights, recovered, rates = jax.device_get(summarise(carry[0], initials, shares))
    for i, (peak, height, end) in enumerate(zip(peaks, heights, recovered)):
        print(f"region {i}: peak on day {peak}, infected {height:.3f}, recovered at the end {end:.3f}")
    for share, rate in zip(shares, rates):
        print(f"contact rate at {share:.2f} infected: {rate:.3f}")


if __name__ == "__main__":
    main()
