# the program loads weights between two calls
import jax
import jax.numpy as jnp


class Server:
    def __init__(self, weights):
        self.weights = weights
        self.score = jax.jit(self._score)

    def _score(self, x):
        return jnp.tanh(x @ self.weights)  # finding

    def load(self, weights):
        self.weights = weights


class Table:
    def __init__(self, rows):
        self.rows = rows

        def look_up(i):
            return self.rows[i]  # finding

        self._look_up = jax.jit(look_up)

    def row(self, i):
        return self._look_up(i)

    def restore(self, path):
        self.rows = jnp.load(path)


class Job:
    def __init__(self):
        self.table = Table(jnp.ones((4, 2)))

    def run(self, paths):
        for path in paths:
            self.table.restore(path)
            print(self.table.row(0))


server = Server(jnp.ones((4, 2)))
first = server.score(jnp.ones((3, 4)))
server.load(jnp.zeros((4, 2)))
print(first - server.score(jnp.ones((3, 4))))
Job().run(["a.npy", "b.npy"])
