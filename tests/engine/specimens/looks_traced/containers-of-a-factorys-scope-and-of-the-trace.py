# containers of a factory's scope and of the trace
import jax
import jax.numpy as jnp

def make(names):
    order = []
    index = {name: i for i, name in enumerate(names)}

    def collect(x, sink):
        sink.append(x)
        return sink

    @jax.jit
    def run(x):
        seen = []
        state = {"x": x}

        def add(y):
            nonlocal seen
            seen = [*seen, y]
            state["x"] = state["x"] + y
            return len(seen)

        for name in names:
            if name not in order:
                order.append(name)
            if add(x * index[name]) > 1:
                collect(state["x"], seen)
        return seen, state

    return run

make(("a", "b"))(jnp.ones(2))
