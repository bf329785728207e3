# blind: seventeenth

"""Thompson sampling on Bernoulli arms with a NumPy table."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def choose(key, wins, losses):
    theta = jax.random.beta(key, 1.0 + wins, 1.0 + losses)
    return jnp.argmax(theta)


def run(probs, steps, seed=0):
    rng = np.random.default_rng(seed)
    key = jax.random.key(seed)
    wins = np.zeros(len(probs), np.float32)
    losses = np.zeros(len(probs), np.float32)
    regret = np.zeros(steps, np.float32)
    best = probs.max()
    for t in range(steps):
        key, sub = jax.random.split(key)
        arm = choose(sub, wins, losses)
        reward = rng.random() < probs[arm]  # finding
        if reward:
            wins[arm] += 1  # finding-also
        else:
            losses[arm] += 1  # finding-also
        regret[t] = best - probs[arm]  # finding-also
    return regret.cumsum()


def main():
    probs = np.array([0.1, 0.25, 0.5, 0.55, 0.6])
    curves = [run(probs, 2000, seed) for seed in range(5)]
    print("mean final regret", np.mean([c[-1] for c in curves]))


if __name__ == "__main__":
    main()
