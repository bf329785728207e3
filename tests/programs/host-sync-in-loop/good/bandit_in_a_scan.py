# blind: seventeenth

"""Thompson sampling on Bernoulli arms, compiled as a whole."""
import jax
import jax.numpy as jnp
import numpy as np


def run(key, probs, steps):
    def step(carry, key):
        wins, losses = carry
        k_theta, k_reward = jax.random.split(key)
        theta = jax.random.beta(k_theta, 1.0 + wins, 1.0 + losses)
        arm = jnp.argmax(theta)
        reward = jax.random.bernoulli(k_reward, probs[arm])
        wins = wins.at[arm].add(reward)
        losses = losses.at[arm].add(1 - reward)
        return (wins, losses), (arm, probs.max() - probs[arm])

    zeros = jnp.zeros(probs.shape[0])
    _, (arms, regret) = jax.lax.scan(step, (zeros, zeros), jax.random.split(key, steps))
    return arms, jnp.cumsum(regret)


def main():
    probs = jnp.array([0.1, 0.25, 0.5, 0.55, 0.6])
    many = jax.jit(jax.vmap(run, in_axes=(0, None, None)), static_argnums=2)
    arms, curves = many(jax.random.split(jax.random.key(0), 5), probs, 500)
    arms = np.asarray(arms)
    counts = np.zeros((5, len(probs)), int)
    for row in range(5):
        counts[row] = np.bincount(arms[row], minlength=len(probs))
    print(counts, curves[:, -1].mean())


if __name__ == "__main__":
    main()
