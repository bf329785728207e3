import jax
import jax.numpy as jnp
import numpy as np


def log_prior(theta):
    return -0.5 * jnp.sum(theta["w"] ** 2) - 0.5 * theta["b"] ** 2


def log_likelihood(theta, x, y):
    logits = x @ theta["w"] + theta["b"]
    return jnp.sum(y * logits - jnp.logaddexp(0.0, logits))


class SGLD:
    def __init__(self, log_prior, log_likelihood, data, batch_size, step_size, seed=0):
        self.log_prior = log_prior
        self.log_likelihood = log_likelihood
        self.x, self.y = data
        self.batch_size = batch_size
        self.step_size = step_size
        self.grad = jax.grad(self.log_posterior)
        self.key = jax.random.PRNGKey(seed)
        self.iteration = 0

    def log_posterior(self, theta, x, y):
        scale = len(self.x) / self.batch_size
        return self.log_prior(theta) + scale * self.log_likelihood(theta, x, y)

    def minibatch(self):
        self.key, subkey = jax.random.split(self.key)
        rows = jax.random.randint(subkey, (self.batch_size,), 0, len(self.x))
        return self.x[rows], self.y[rows]

    def step(self, theta):
        x, y = self.minibatch()
        grads = self.grad(theta, x, y)
        self.iteration += 1
        eps = self.step_size * (1 + self.iteration) ** -0.33
        leaves, treedef = jax.tree_util.tree_flatten(theta)
        self.key, *keys = jax.random.split(self.key, len(leaves) + 1)
        moved = []
        for leaf, grad, key in zip(leaves, jax.tree_util.tree_leaves(grads), keys):
            noise = jnp.sqrt(eps) * jax.random.normal(key, leaf.shape)
            moved.append(leaf + 0.5 * eps * grad + noise)
        return jax.tree_util.tree_unflatten(treedef, moved)

    def run(self, theta, steps, burn_in, thin):
        samples = []
        for i in range(steps):
            theta = self.step(theta)
            if i >= burn_in and (i - burn_in) % thin == 0:
                samples.append(np.concatenate([np.asarray(theta["w"]), [float(theta["b"])]]))
            if (i + 1) % 100 == 0:
                value = jax.jit(self.log_posterior)(theta, self.x, self.y)
                print(f"step {i + 1}: log posterior {float(value):.3f}")
        return np.stack(samples)


def predict(samples, x):
    probabilities = []
    for sample in samples:
        probabilities.append(jax.nn.sigmoid(x @ sample[:-1] + sample[-1]))
    return jnp.stack(probabilities).mean(axis=0)


def main():
    rng = np.random.default_rng(5)
    true_w = rng.normal(size=8)
    x = rng.normal(size=(1000, 8))
    y = (rng.uniform(size=1000) < 1 / (1 + np.exp(-(x @ true_w - 0.5)))).astype(float)
    sampler = SGLD(log_prior, log_likelihood, (jnp.array(x[:800]), jnp.array(y[:800])), 50, 4e-3)
    theta = {"w": jnp.zeros(8), "b": jnp.zeros(())}
    samples = sampler.run(theta, 600, 200, 4)
    accuracy = np.mean((np.asarray(predict(samples, x[800:])) > 0.5) == (y[800:] > 0.5))
    print(f"posterior mean {np.round(samples.mean(axis=0), 2)[:3]} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
