# source: Artur-Galstyan/jaxrl#3

import numpy as np


class RunningStats:
    """Statistics of observations that never leave the host."""

    def __init__(self, dim):
        self.count, self.mean, self.m2 = 0, np.zeros(dim), np.zeros(dim)

    def push(self, x):
        self.count += 1
        delta = x - self.mean
        self.mean = self.mean + delta / self.count
        self.m2 = self.m2 + delta * (x - self.mean)

    @property
    def std(self):
        return np.sqrt(self.m2 / max(self.count - 1, 1))


def collect(n_steps, seed=0):
    rng = np.random.default_rng(seed)
    stats, rewards = RunningStats(3), []
    for _ in range(n_steps):
        obs = rng.normal(size=3)
        stats.push(obs)
        rewards.append(float(np.tanh(obs).sum()))
        if rewards[-1] > 2.0:
            break
    return stats.std, np.mean(rewards)


if __name__ == "__main__":
    print(collect(100))
