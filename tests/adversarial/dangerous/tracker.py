# function: train_step
# arguments: w=array, x=array, y=array
# refused: self.rows.append(values)

"""A tracker in the manner of the hosted ones, called from inside the step."""

import json
import tempfile

import jax
import jax.numpy as jnp


class Tracker:
    def __init__(self, project):
        self.project = project
        self.rows = []

    def log(self, values):
        self.rows.append(values)

    def finish(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump({"project": self.project, "rows": [str(row) for row in self.rows]}, file)


run = Tracker("regression")


def train_step(w, x, y):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(w)
    run.log({"loss": value, "norm": jnp.linalg.norm(gradient)})
    return w - 0.05 * gradient


def main():
    x = jax.random.normal(jax.random.key(0), (64, 8))
    y = x.sum(axis=1)
    w = jnp.zeros(8)
    for _ in range(100):
        w = train_step(w, x, y)
    print("rows", len(run.rows), "w", w)
    run.finish()


if __name__ == "__main__":
    main()
