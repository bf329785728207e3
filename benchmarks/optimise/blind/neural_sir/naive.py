"""Learn how people change their contacts during an epidemic: an SIR model whose contact rate is a small network."""
from dataclasses import dataclass

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
        self.step = jax.jit(self.rk4_step)

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
        states = [initial]
        for day in range(self.config.days):
            states.append(self.step(params, states[-1], float(day), 1.0))
        return jnp.stack(states)


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
    epidemics = make_epidemics(config)
    model = EpidemicModel(config)
    params = model.network.init(jax.random.key(config.seed))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate))
    opt_state = tx.init(params)

    def loss_fn(params):
        error = 0.0
        for initial, observed in epidemics:
            infected = model.simulate(params, initial)[1:, 1]
            error = error + jnp.mean((infected - observed) ** 2)
        penalty = config.smoothness * sum(jnp.sum(params[name] ** 2) for name in ("w1", "w2", "w3"))
        return 1e3 * error / len(epidemics) + penalty

    history = []
    for iteration in range(1, config.iterations + 1):
        loss, grads = jax.value_and_grad(loss_fn)(params)
        norm = optax.global_norm(grads)
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        history.append((float(loss), float(norm)))
        if iteration % config.report_every == 0:
            print(f"iteration {iteration}: loss {history[-1][0]:.3g}, gradient norm {history[-1][1]:.3g}")

    for i, (initial, observed) in enumerate(epidemics):
        states = model.simulate(params, initial)
        peak = int(jnp.argmax(states[:, 1]))
        print(f"region {i}: peak on day {peak}, infected {float(states[peak, 1]):.3f}, recovered at the end {float(states[-1, 2]):.3f}")
    for infected in (0.01, 0.05, 0.1, 0.2):
        print(f"contact rate at {infected:.2f} infected: {float(model.network(params, jnp.array(infected), 10.0)):.3f}")


if __name__ == "__main__":
    main()
