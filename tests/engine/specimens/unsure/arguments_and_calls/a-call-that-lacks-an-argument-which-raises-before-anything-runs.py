# a call that lacks an argument, which raises before anything runs
import jax

def simulate(model, props, history, steps=10):
    update = jax.jit(model.update)
    return update(history(0.0), props)

class Model:
    def update(self, strain, props):
        return strain * 2

def history(t):
    return 0.1 * t

def main():
    return simulate(Model(), history, steps=20)
