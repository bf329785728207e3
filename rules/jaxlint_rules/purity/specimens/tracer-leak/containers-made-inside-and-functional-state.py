# containers made inside, and functional state

from collections import defaultdict, deque
import jax
import jax.numpy as jnp

@jax.jit
def f(layers, x):
    outputs = []
    named = defaultdict(list)
    recent = deque()
    for i, layer in enumerate(layers):
        x = jnp.tanh(x @ layer)
        outputs.append(x)
        named[i].append(x)
        recent.append(x)
    return outputs, named

class Fit:
    def fit(self, params, xs):
        def epoch(params, x):
            self.params = params * x
            return self.params, x.sum()

        params, losses = jax.lax.scan(epoch, params, xs)
        self.params = params
        return losses

    def branches(self, index, xs):
        def branch(function):
            def run(state):
                self.params, self.count = state
                self.params = function(self.params)
                return self.params, self.count + 1
            return run
        state = jax.lax.switch(index, [branch(jnp.sin), branch(jnp.cos)], (self.params, 0))
        self.params, self.count = state

def host(xs):
    results = []
    for x in xs:
        results.append(f([x], x))
    return results
