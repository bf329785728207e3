"""Keys, shapes, stores and effects under a trace. Warnings are of programs that run; errors fail where they are marked."""

PROGRAMS = {
    "split before each use, in a loop and through a carry": """
        import jax
        from jax import lax

        def sample(rng, n):
            values = []
            for _ in range(n):
                rng, key = jax.random.split(rng)
                values.append(jax.random.normal(key))
            return values

        def scanned(rng):
            def body(rng, _):
                rng, key = jax.random.split(rng)
                return rng, jax.random.uniform(key)

            return lax.scan(body, rng, None, length=3)

        def parts(rng):
            keys = jax.random.split(rng, 3)
            a = jax.random.normal(keys[0])
            b = jax.random.normal(keys[1])
            rest = [jax.random.normal(k) for k in keys]
            return a + b, len(rest)

        sample(jax.random.key(0), 3)
        scanned(jax.random.key(1))
    """,
    "the same key twice": """
        import jax

        def sample(key):
            a = jax.random.normal(key)
            b = jax.random.uniform(key)  # finding: key-reuse
            return a + b

        sample(jax.random.key(0))
    """,
    "a parent used, then split": """
        import jax

        def loader(key, n):
            perm = jax.random.permutation(key, n)
            (key,) = jax.random.split(key, 1)  # finding: key-reuse
            return perm, key

        loader(jax.random.key(0), 4)
    """,
    "the same key in every iteration": """
        import jax

        def sample(key):
            total = 0.0
            for _ in range(4):
                total = total + jax.random.normal(key)  # finding: key-reuse
            return total

        sample(jax.random.key(0))
    """,
    "reuse through a constructor": """
        import jax
        import jax.numpy as jnp

        class Block:
            def __init__(self, dim, key):
                self.weight = jax.random.normal(key, (dim, dim))

        def build(key, depth):
            return [Block(4, key) for _ in range(depth)]  # finding: key-reuse

        build(jax.random.key(0), 2)
    """,
    "one key in each of two branches is used once": """
        import jax

        def sample(key, gaussian):
            if gaussian:
                return jax.random.normal(key)
            else:
                return jax.random.uniform(key)

        def folded(key):
            return [jax.random.normal(jax.random.fold_in(key, i)) for i in range(3)]

        sample(jax.random.key(0), True)
        folded(jax.random.key(0))
    """,
    "keys of dicts and of attention are no keys": """
        import jax
        import jax.numpy as jnp

        def attention(query, key, value):
            scores = query @ key.T
            return (scores @ value) + (key * 2).sum()

        def merge(table):
            return {key: table[key] for key in sorted(table)}

        jax.jit(attention)(jnp.eye(2), jnp.eye(2), jnp.eye(2))
        merge({"a": 1, "b": 2})
    """,
    "local lists, dicts and the traced copy may be changed": """
        import jax
        import jax.numpy as jnp
        from jax import lax

        @jax.jit
        def forward(layers, x, batch):
            outs = []
            for w in layers:
                x = jnp.tanh(x @ w)
                outs.append(x)
            batch.pop("unused", None)
            batch["x"] = x
            outs += [x]
            return outs, batch

        def scanned(xs):
            def body(s, x):
                s["total"] = s["total"] + x
                s = {**s, "last": x}
                return s, x

            return lax.scan(body, {"total": jnp.zeros(()), "last": jnp.zeros(())}, xs)

        forward([jnp.eye(2)], jnp.ones((1, 2)), {"x": jnp.zeros(2)})
        scanned(jnp.ones(3))
    """,
    "a tracer in a global list outlives the trace": """
        import jax
        import jax.numpy as jnp

        history = []

        @jax.jit
        def step(x):
            history.append(x * 2)  # finding: tracer-leak
            return x

        step(jnp.ones(3))
    """,
    "a tracer in an attribute outlives the trace": """
        import jax
        import jax.numpy as jnp

        class Model:
            def __init__(self):
                self.last = None
                self.step = jax.jit(self._step)

            def _step(self, x):
                self.last = x * 2  # finding: tracer-leak
                return x

        Model().step(jnp.ones(3))
    """,
    "a global that a jitted function rebinds": """
        import jax
        import jax.numpy as jnp

        total = 0.0

        @jax.jit
        def step(x):
            global total
            total = total + x.sum()  # finding: tracer-leak
            return x

        step(jnp.ones(3))
    """,
    "a Python counter is no tracer": """
        import jax
        import jax.numpy as jnp

        calls = []
        traces = 0

        @jax.jit
        def step(x):
            global traces
            traces += 1
            calls.append(x.shape)
            return x

        step(jnp.ones(3))
    """,
    "arrays cannot be assigned to": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def clear(x):
            x[0] = 0  # finding: array-item-assignment
            return x

        clear(jnp.ones(3))
    """,
    "at, and what may be assigned to": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def clear(x):
            table = np.zeros(3)
            table[0] = 1
            rows = [x, x]
            rows[0] = x.at[0].set(0)
            rows[1] += 1
            scaled = {}
            scaled["x"] = x.at[jnp.array([0])].multiply(2)
            return rows[0] + table + scaled["x"]

        clear(jnp.ones(3))
    """,
    "a shape that depends on the data": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, n):
            return jnp.zeros(n) + x  # finding: dynamic-shape

        f(1.0, 3)
    """,
    "nonzero without a size": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            (rows,) = jnp.nonzero(x)  # finding: dynamic-shape
            return rows

        f(jnp.ones(3))
    """,
    "nonzero with a size, where with three arguments": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            (rows,) = jnp.nonzero(x, size=2)
            return jnp.where(x > 0, x, 0)[rows], jnp.unique(x, size=3), jnp.argwhere(x, size=1)

        f(jnp.ones(3))
    """,
    "a traced mask as an index": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            return x[x > 0]  # finding: dynamic-shape

        f(jnp.ones(3))
    """,
    "a Python list indexed by a tracer": """
        import jax
        import jax.numpy as jnp

        weights = [0.1, 0.2]

        @jax.jit
        def f(i, x):
            return x * weights[i]  # finding: tracer-index

        f(0, jnp.ones(3))
    """,
    "an array indexed by a tracer": """
        import jax
        import jax.numpy as jnp

        table = jnp.array([0.1, 0.2])

        @jax.jit
        def f(i, x):
            return x * table[i] + x[i] + jnp.asarray([1.0, 2.0])[i]

        f(0, jnp.ones(3))
    """,
    "a slice with a traced bound": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(n, x):
            return x[:n].sum()  # finding: tracer-index

        f(2, jnp.ones(3))
    """,
    "range over a tracer": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(n, x):
            for _ in range(n):  # finding: tracer-index
                x = x + 1
            return x

        f(2, jnp.ones(3))
    """,
    "a list as a static argument": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.jit, static_argnames="axes")
        def f(x, axes):
            return x.sum(axes)

        f(jnp.ones((2, 2)), axes=[0, 1])  # finding: unhashable-static-argument
    """,
    "a tuple as a static argument": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.jit, static_argnames="axes")
        def f(x, axes):
            return x.sum(axes)

        f(jnp.ones((2, 2)), axes=(0, 1))
    """,
    "a tracer as a static argument": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.jit, static_argnames="n")
        def inner(x, n):
            return jnp.zeros(n) + x

        @jax.jit
        def outer(x, n):
            return inner(x, n)  # finding: tracer-as-static

        outer(1.0, 3)
    """,
    "a clock and NumPy's generator under jit": """
        import time

        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x):
            started = time.time()  # finding: impure-call
            noise = np.random.normal(size=3)  # finding: impure-call
            return x + started + noise

        f(jnp.ones(3))
    """,
    "clocks and generators on the host": """
        import time

        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x, noise):
            return x + noise

        started = time.time()
        y = f(jnp.ones(3), np.random.normal(size=3))
        y.block_until_ready()
        print(time.time() - started)
    """,
    "a match statement on a tracer": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, mode):
            match mode:  # finding: tracer-branch
                case 0:  # fails
                    return x
                case _:
                    return -x

        f(jnp.ones(3), 1)
    """,
    "builtins that compare": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            return max(x, 0.0)  # finding: tracer-branch

        f(1.0)
    """,
    "builtins that do not": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, y):
            z = abs(x) + sum([x, y]) + round(x) + pow(x, 2) + divmod(x, 2)[0]
            return z + max(x.shape[0], 2) + min(len(x), 3) + sum(x)

        f(jnp.ones(3), jnp.ones(3))
    """,
    "formatting a tracer with a precision": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            label = f"{x:.3f}"  # finding: tracer-concretization
            return x, len(label)

        f(1.0)
    """,
}
