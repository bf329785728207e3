"""The same mistakes as other authors write them, each beside what looks like it and is right."""

PROGRAMS = {
    "a tracer as a key of a dict": """
        import jax

        @jax.jit
        def f(x):
            sizes = {x.shape: 1, str(x.dtype): 2}
            return {x.argmax(): sizes}  # finding: tracer-concretization

        f(jax.numpy.ones(3))
    """,
    "a tracer as an argument of a cached function": """
        from functools import lru_cache
        import jax

        @lru_cache
        def doubled(n):
            return n * 2

        @jax.jit
        def f(x):
            return doubled(x.shape[0]) + doubled(x[0])  # finding: tracer-concretization

        f(jax.numpy.ones(3))
    """,
    "a NumPy table indexed by a tracer": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        TABLE = np.array([1, 0])

        @jax.jit
        def f(x, i):
            x = x + TABLE[0] + jnp.asarray(TABLE)[i]
            return x[TABLE[i]]  # finding: tracer-to-numpy

        f(jnp.ones(2), 1)
    """,
    "a positional axis that is traced": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, axis):
            return x.sum(0) + x.mean(axis)  # finding: dynamic-shape

        f(jnp.ones((2, 2)), 0)
    """,
    "a slice of `.at` with a traced bound": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, n):
            x = x.at[n].set(1.0).at[: x.shape[0] // 2].add(1.0)
            return x.at[:n].set(0.0)  # finding: tracer-index

        f(jnp.ones(8), 2)
    """,
    "a body with one parameter too few": """
        import jax.numpy as jnp
        from jax import lax

        class Model:
            def body(self, carry, x):
                return carry + x, None

            def step(self, carry):
                return carry, None

            def run(self, xs):
                total, _ = lax.scan(self.body, 0.0, xs)
                return total, lax.scan(self.step, 0.0, xs)  # finding: control-flow-signature

        Model().run(jnp.ones(3))
    """,
    "a condition that gives an array": """
        import jax.numpy as jnp
        from jax import lax

        def run(x):
            x = lax.while_loop(lambda v: jnp.any(v > 0), lambda v: v - 1, jnp.ones(3))
            return lax.while_loop(lambda v: v > 0, lambda v: v - 1, jnp.ones(3))  # finding: control-flow-signature

        run(1.0)
    """,
    "a static argument of a class without a hash": """
        from functools import partial
        import jax

        class Config:
            def __init__(self, lr):
                self.lr = lr

            def __eq__(self, other):
                return self.lr == other.lr

        class Plain:
            lr = 0.1

        @partial(jax.jit, static_argnums=1)
        def step(w, config):
            return w * config.lr

        step(1.0, Plain())
        step(1.0, Config(0.1))  # finding: unhashable-static-argument
    """,
    "leaks into what only looks local": """
        from collections import defaultdict, deque
        import jax

        class Meter:
            values = []

        def collect(x, into):
            into.append(x)  # finding: tracer-leak
            return x

        BY_NAME = defaultdict(list)

        @jax.jit
        def f(x):
            mine = defaultdict(list)
            mine["x"].append(x)
            last = deque(maxlen=2)
            last.append(x)
            BY_NAME["x"].append(x)  # finding: tracer-leak
            Meter.values.append(x)  # finding: tracer-leak
            return collect(x, results), mine, list(last)

        results = []
        f(1.0)
    """,
    "generators of NumPy, made outside and inside": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        class Noise:
            def __init__(self, seed):
                self.rng = np.random.RandomState(seed)

            def __call__(self, x):
                fixed = np.random.default_rng(0).normal(size=3)
                return x + fixed + self.rng.uniform()  # finding: impure-call

        noise = Noise(0)
        jax.jit(lambda x: noise(x))(jnp.ones(3))
    """,
    "an attribute that changes under a static self": """
        from functools import partial
        import jax

        class Agent:
            def __init__(self):
                self.training = True
                self.width = 2

            def eval(self):
                self.training = False

            @partial(jax.jit, static_argnames=("self",))
            def act(self, q):
                if self.training:  # finding: stale-static-self
                    return q + self.width
                return q

        agent = Agent()
        agent.act(1.0)
        agent.eval()
        assert agent.act(1.0) == 3.0
    """,
    "a variable that changes between calls": """
        import jax

        def train(w):
            lr, decay = 0.1, 0.5
            @jax.jit
            def scaled(x):
                return x * lr + decay  # finding: stale-capture
            total = 0.0
            for _ in range(3):
                total += scaled(w)
                lr = lr * decay
            return total

        train(1.0)
    """,
}
