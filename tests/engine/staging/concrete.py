"""What stays concrete under a trace: where a linter that guesses cries wolf. Each program runs, or fails where marked."""

PROGRAMS = {
    "what shard_map replicates has its value outside jit": """
        import jax
        import jax.numpy as jnp
        from jax.sharding import PartitionSpec as P

        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

        def body(x, scale):
            if scale > 1:
                x = x * scale
            return x

        def alone(scale):
            return 1 if scale.sum() > 0 else 2

        jax.shard_map(body, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))(jnp.ones(4), jnp.float32(2))
        jax.shard_map(lambda s: s * alone(s), mesh=mesh, in_specs=P(None), out_specs=P(None))(jnp.ones(4))
    """,
    "configuration from a closure": """
        import jax
        import jax.numpy as jnp

        class Config:
            anneal = True
            steps = 100

        cfg = Config()
        options = {"clip": 1.0, "mode": "linear"}

        def schedule(step):
            return step / cfg.steps

        @jax.jit
        def step(s, b):
            lr = 0.1
            if cfg.anneal:
                lr = schedule(s)
            if options["clip"] is not None and options["mode"] == "linear":
                b = jnp.clip(b, -options["clip"], options["clip"])
            return s + lr * b

        step(1.0, jnp.ones(3))
    """,
    "attributes of an nnx module, layers in a list": """
        import jax
        import jax.numpy as jnp
        from flax import nnx

        class Net(nnx.Module):
            def __init__(self, depth, rngs):
                self.depth = depth
                self.norm = depth > 2
                self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(depth)])

            def __call__(self, x):
                for layer in self.layers:
                    x = layer(x)
                if self.norm:
                    x = x / (1 + jnp.abs(x))
                return x

        nnx.jit(lambda model, x: model(x))(Net(3, nnx.Rngs(0)), jnp.ones((1, 2)))
    """,
    "is None is static, whatever it asks of": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def attend(q, mask=None, bias=None):
            if mask is not None:
                q = jnp.where(mask, q, -1e9)
            if bias is None:
                bias = jnp.zeros_like(q)
            scale = 1.0 if mask is None else 2.0
            assert q is not None
            return scale * q + bias

        attend(jnp.ones(3))
        attend(jnp.ones(3), jnp.array([True, False, True]))
    """,
    "shapes and dtypes are Python values": """
        import math

        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x):
            b, t = x.shape
            total = jnp.zeros(())
            for i in range(t // 2):
                total = total + x[0, i]
            if b > 1 and x.ndim == 2 and x.dtype == jnp.float32:
                total = total * b
            scale = 1 / np.sqrt(x.shape[-1]) + math.sqrt(t)
            n = int(np.prod(x.shape))
            y = x.reshape(n // t, -1)
            while t > 1:
                t //= 2
            if len(x) > 1 or x.size % 2:
                y = y[: len(x) // 2]
            pad = jnp.zeros((max(b, t), x.shape[1]))
            return total * scale * float(n) + y.sum() + pad.sum()

        f(jnp.ones((2, 6)))
    """,
    "a flag that callers pass as a literal": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x, train: bool):
                if train:
                    x = x + 1
                return nn.Dropout(0.5, deterministic=not train)(x)

        net = Net()

        @jax.jit
        def evaluate(x):
            return net.apply({}, x, train=False)

        evaluate(jnp.ones(3))
    """,
    "the same flag as a parameter of the jitted function": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x, train: bool):
                if train:  # finding: tracer-branch
                    x = x + 1
                return x

        net = Net()

        @jax.jit
        def evaluate(x, train):
            return net.apply({}, x, train=train)

        evaluate(jnp.ones(3), True)
    """,
    "a default that nobody passes stays a Python value": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def smooth(p, keep=True, order=2):
            if keep:
                p = p * 2
            for _ in range(order):
                p = p + 1
            return p

        smooth(jnp.ones(3))
    """,
    "a default that a caller passes is traced": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def smooth(p, keep=True):
            if keep:  # finding: tracer-branch
                p = p * 2
            return p

        smooth(jnp.ones(3), keep=False)
    """,
    "in_axes=None keeps an argument, vmap alone is not abstract": """
        import jax
        import jax.numpy as jnp

        def loss(x, delta):
            if delta > 0:
                x = x + delta
            rows = jnp.arange(3) + 1
            if rows[0] > 0:
                x = x * 2
            return x

        jax.vmap(loss, in_axes=(0, None))(jnp.ones(3), 0.5)
    """,
    "in_axes=None under an outer jit is whatever it was": """
        import jax
        import jax.numpy as jnp

        def loss(x, delta):
            if delta > 0:  # finding: tracer-branch
                x = x + delta
            return x

        @jax.jit
        def outer(xs, delta):
            return jax.vmap(loss, in_axes=(0, None))(xs, delta)

        outer(jnp.ones(3), 0.5)
    """,
    "eager differentiation keeps values": """
        import jax
        import jax.numpy as jnp

        def loss(w, flag):
            if flag:
                w = w * 2
            if w.sum() > 0:
                return w.sum()
            return -w.sum()

        jax.grad(lambda a: a * 2 if a > 0 else a)(1.0)
        jax.value_and_grad(loss)(jnp.ones(3), True)
        jax.jvp(lambda x: x if x > 0 else -x, (1.0,), (1.0,))
        jax.jacfwd(lambda x: x if x.sum() > 0 else -x)(jnp.ones(2))
        jax.hessian(lambda x: (x * x).sum() if x[0] > 0 else x.sum())(jnp.ones(2))
    """,
    "differentiation under jit does not": """
        import jax
        import jax.numpy as jnp

        def loss(w):
            if w.sum() > 0:  # finding: tracer-branch
                return w.sum()
            return -w.sum()

        step = jax.jit(jax.grad(loss))
        step(jnp.ones(3))
    """,
    "equinox: filter_jit keeps Python arguments": """
        import equinox as eqx
        import jax.numpy as jnp

        class Net(eqx.Module):
            weight: jnp.ndarray
            use_bias: bool = eqx.field(static=True)

            def __call__(self, x):
                if self.use_bias:
                    x = x + 1
                return self.weight * x

        @eqx.filter_jit
        def step(model, x, rate):
            if rate > 0:
                x = x * rate
            if model.use_bias:
                x = x * 2
            return model(x)

        step(Net(jnp.ones(3), True), jnp.ones(3), 0.1)
    """,
    "containers are concrete, their leaves are not": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(params, batch):
            x = batch["x"]
            if "mask" in batch:
                x = x * batch["mask"]
            if params:
                for w, b in params[:-1]:
                    x = jnp.tanh(x @ w + b)
            for name, value in sorted(batch.items()):
                if name.startswith("x"):
                    x = x + value
            if len(params) > 1 and not batch.get("weights"):
                x = x * 2
            return x

        layer = (jnp.eye(2), jnp.zeros(2))
        step([layer, layer], {"x": jnp.ones((1, 2))})
    """,
    "a leaf of a container is traced": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(batch):
            if batch["x"].sum() > 0:  # finding: tracer-branch
                return batch["x"]
            return -batch["x"]

        step({"x": jnp.ones(2)})
    """,
    "a dataclass with data and metadata": """
        from dataclasses import dataclass
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["steps", "corrector"])
        @dataclass
        class Solver:
            x: jax.Array
            steps: int
            corrector: bool

        @jax.jit
        def run(solver):
            n = 1
            if solver.corrector:
                n = 1 + solver.steps
            for _ in range(n):
                solver = Solver(solver.x * 2, solver.steps, solver.corrector)
            return solver

        run(Solver(jnp.ones(2), 2, True))
    """,
    "a NamedTuple's fields are leaves": """
        from typing import NamedTuple

        import jax
        import jax.numpy as jnp

        class State(NamedTuple):
            x: jax.Array
            step: int = 0

        @jax.jit
        def advance(state: State):
            if len(state) == 2 and hasattr(state, "x"):
                state = state._replace(x=state.x + 1)
            if state.step > 1:  # finding: tracer-branch
                state = state._replace(x=state.x * 2)
            return state

        advance(State(jnp.ones(2), 3))
    """,
    "an inner function with a parameter of its own": """
        import enum

        import jax
        import jax.numpy as jnp

        class Dir(enum.Enum):
            UP = 0
            DOWN = 1

        @jax.jit
        def step(d):
            def move(d, scale):
                if d == Dir.UP:
                    return jnp.ones(2) * scale
                if scale > 1:
                    return jnp.zeros(2)
                return -jnp.ones(2)

            return move(Dir.UP, 1) + move(Dir.DOWN, 2) + d

        step(jnp.ones(2))
    """,
    "numpy on static things, and functions that call the array's method": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x):
            idx = np.arange(x.shape[0])
            n = np.prod(x.shape)
            mask = np.zeros(x.shape)
            mask[0] = 1
            y = np.sum(x) + np.mean(x, axis=0) + np.max(x)
            y = np.squeeze(np.reshape(x, (1, -1))) * n
            return (x * mask)[idx] + y.sum() + np.shape(x)[0] + np.pi

        f(jnp.ones(4))
    """,
    "numpy functions that need the numbers": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x):
            return np.sqrt(x)  # finding: tracer-to-numpy

        f(jnp.ones(4))
    """,
    "the alias decides, not the name": """
        import jax
        import jax.numpy as np
        import numpy as onp

        @jax.jit
        def f(x):
            y = np.exp(x) * onp.pi
            return np.where(y > 0, y, np.zeros_like(y)) + onp.log(2.0)

        f(np.ones(3))
    """,
    "numpy under another name": """
        import jax
        import jax.numpy as np
        import numpy as onp

        @jax.jit
        def f(x):
            y = np.exp(x)
            return onp.asarray(y)  # finding: tracer-to-numpy

        f(np.ones(3))
    """,
    "split and unpacking: lists of arrays are lists": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            parts = jnp.split(x, 2)
            parts[0] = parts[0] + 1
            if len(parts) > 1 and parts:
                x = parts[0]
            a, b = jnp.meshgrid(x, x)
            u, s, vt = jnp.linalg.svd(a)
            rows = jnp.unstack(b)
            rows = [row for row in rows if row is not None]
            return s.sum() + rows[0]

        f(jnp.ones(4))
    """,
    "the parts of such a list are traced": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            sign, logdet = jnp.linalg.slogdet(x)
            if logdet > 0:  # finding: tracer-branch
                return sign
            return -sign

        f(jnp.eye(3))
    """,
    "hasattr and isinstance on tracers": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def to_host(x):
            if hasattr(x, "block_until_ready"):
                return np.asarray(x).sum()
            return 0.0

        def to_array(x):
            if isinstance(x, (int, float)):
                return float(x)
            if isinstance(x, np.ndarray):
                return np.sqrt(x)
            if not hasattr(x, "shape"):
                return list(x)
            return x

        @jax.jit
        def f(x):
            return to_array(x) + to_array(2) + to_host(x) + (1 if isinstance(x, jax.core.Tracer) else float(x))

        f(jnp.ones(()))
    """,
    "comparison with None, strings and other structure": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, extras):
            if extras == ():
                x = x + 1
            if x is None or isinstance(x, str):
                return jnp.zeros(3)
            if callable(x) or type(x) is int:
                return x
            return x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)

        f(jnp.ones(3), ())
    """,
    "a callback runs on the host": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def check(x):
            if x.max() > 10:
                raise ValueError(f"too big: {float(x.max()):.2f}")
            return np.float32(np.sqrt(x).sum())

        @jax.jit
        def step(x):
            jax.debug.callback(lambda v: print(v.item() if v.ndim == 0 else v.tolist()), x)
            return jax.pure_callback(check, jax.ShapeDtypeStruct((), jnp.float32), x)

        step(jnp.ones(3))
    """,
    "compile-time evaluation": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            with jax.ensure_compile_time_eval():
                table = jnp.arange(4) * 2
                if table[1] > 1:
                    x = x + 1
            return x

        f(jnp.ones(3))
    """,
    "an error that the program handles": """
        import jax
        import jax.numpy as jnp

        def positive(x):
            try:
                return bool(x > 0)
            except jax.errors.TracerBoolConversionError:
                return None

        @jax.jit
        def f(x):
            if positive(x) is None:
                return x
            return -x

        f(jnp.ones(()))
    """,
    "outside of any trace arrays have values": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def f(x):
            return x * 2

        y = f(jnp.ones(3))
        if y.sum() > 0:
            print(float(y[0]), int(y.argmax()), np.asarray(y), y.tolist(), f"{y[0]:.3f}")
        table = [1, 2, 3]
        print(table[int(y.argmax())], jnp.zeros(int(y.sum())))
    """,
    "an array that is made under jit without traced inputs is traced": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            n = jnp.arange(3).sum()
            if n > 2:  # finding: tracer-branch
                x = x * 2
            return x

        f(jnp.ones(3))
    """,
    "a static argument given by position stays concrete": """
        import jax
        import jax.numpy as jnp

        def f(x, n, mode="a"):
            if mode == "a" and n > 2:
                x = x.reshape(n, -1)
            return jnp.zeros(n) + x.sum()

        g = jax.jit(f, static_argnums=(1, 2))
        g(jnp.ones(8), 4, "a")
    """,
}
