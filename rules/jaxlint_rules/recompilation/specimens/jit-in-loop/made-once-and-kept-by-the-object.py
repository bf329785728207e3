# made once and kept by the object

import jax

class Engine:
    def __init__(self, size):
        self.size = size
        self.start = None

    def state(self):
        if self.start is None:

            @jax.jit
            def initialise():
                return jax.numpy.zeros(self.size)

            self.start = initialise
        return self.start()

def run():
    engine = Engine(3)
    for _ in range(10):
        print(engine.state())
