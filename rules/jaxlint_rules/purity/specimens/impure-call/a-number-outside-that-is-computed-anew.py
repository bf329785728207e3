# a number outside that is computed anew

import jax

class Meter:
    def __init__(self):
        self.calls = 0

def annealed(rate):
    temperature = 1.0
    meter = Meter()

    @jax.jit
    def loss(x):
        nonlocal temperature
        temperature = temperature * 0.9  # finding
        meter.calls = meter.calls + 1  # finding
        scale = 1.0
        scale = scale * 0.5
        own = Meter()
        own.calls = own.calls + 1
        return x * temperature * scale * own.calls

    def on_the_host(x):
        nonlocal rate
        rate = rate * 0.9
        return loss(x) * rate

    return on_the_host
