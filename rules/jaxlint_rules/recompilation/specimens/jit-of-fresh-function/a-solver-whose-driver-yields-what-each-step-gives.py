# a solver of a library: its driver runs it on the host, a part of another solver may be compiled

import jax
import jax.numpy as jnp

class Solver:
    def __init__(self, y, dt):
        self.state = (y, dt)

    def step(self):
        self.state = self.advance(self.state)
        return self.state[1] > 0.1

    @staticmethod
    def advance(state):
        y, dt = state
        small = jnp.linalg.norm(y) < dt
        return jax.lax.cond(small, lambda: (y + dt, dt), lambda: (y, 0.5 * dt))  # finding

class Driver:
    def __init__(self, y):
        self.solver = Solver(y, 0.1)
        self.time = 0.0

    def iterate(self, end):
        while self.time < end:
            accepted = False
            while not accepted:
                accepted = self.solver.step()
            self.time += 0.1
            yield self.time

def integrate(y, steps):
    def body(i, y):
        return y - 0.1 * y

    for _ in range(steps):
        y = jax.lax.fori_loop(0, 10, body, y)
    return y

def halve_again_and_again(y, steps):
    for _ in range(steps):
        y = jax.lax.cond(y.sum() > 1, lambda y: 0.5 * y, lambda y: y, y)  # a caller may compile all of it
    return y
