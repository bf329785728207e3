# source: Joshuaalbert/vmap#1
# blind: second
# missed: the results go into an object that stacks them elsewhere

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def network(x):
    return hk.Sequential([hk.Linear(32), jax.nn.relu, hk.Linear(4)])(x)


model = hk.without_apply_rng(hk.transform(network))
apply = jax.jit(model.apply)


class Report:
    def __init__(self, names):
        self.names = names
        self.rows = []

    def add(self, logits):
        self.rows.append(jax.nn.softmax(logits))

    def table(self):
        probs = jnp.stack(self.rows)
        return {name: probs[:, i].mean() for i, name in enumerate(self.names)}


def evaluate(params, images):
    report = Report(("cat", "dog", "bird", "fish"))
    for image in images:  # finding
        report.add(apply(params, image.reshape(1, -1))[0])  # finding-also
    return report.table()


def main():
    images = jnp.asarray(np.random.default_rng(0).normal(size=(64, 8, 8)), jnp.float32)
    params = model.init(jax.random.key(0), images[:1].reshape(1, -1))
    print(sorted(evaluate(params, images)))


if __name__ == "__main__":
    main()
