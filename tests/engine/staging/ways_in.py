"""How a function becomes traced: each program either runs, or fails in JAX at the line that is marked."""

PROGRAMS = {
    "a nested def handed to scan, with a closure that stays concrete": """
        import jax.numpy as jnp
        from jax import lax

        def run(w, c0, ts):
            def body(c, t):
                if w > 1:
                    c = c + w * t
                return c, None

            out, _ = lax.scan(body, c0, ts)
            return out

        run(2.0, jnp.zeros(()), jnp.arange(3.0))
    """,
    "what a scan runs over is traced": """
        import jax.numpy as jnp
        from jax import lax

        def run(c0, ts):
            def body(c, t):
                if t > 1:  # finding: tracer-branch
                    c = c + t
                return c, None

            return lax.scan(body, c0, ts)

        run(jnp.zeros(()), jnp.arange(3.0))
    """,
    "the carry of a while_loop is traced": """
        import jax.numpy as jnp
        from jax import lax

        def body(state):
            i, x = state
            if i == 2:  # finding: tracer-branch
                x = x + 1
            return i + 1, x

        lax.while_loop(lambda s: s[0] < 4, body, (0, jnp.ones(2)))
    """,
    "both branches of a cond are traced, what they close over is not": """
        from jax import lax

        def pick(done, k, s):
            return lax.cond(done, lambda: k if k > 0 else -k, lambda: s)

        pick(True, 2.0, 3.0)
    """,
    "the operand of a cond is traced": """
        from jax import lax

        def pick(done, k):
            return lax.cond(done, lambda v: v if v > 0 else -v, lambda v: v, k)  # finding: tracer-branch

        pick(True, 2.0)
    """,
    "a branch of a switch": """
        import jax.numpy as jnp
        from jax import lax

        def first(x):
            return x * 2

        def second(x):
            assert x.sum() > 0  # finding: tracer-branch
            return x

        lax.switch(1, [first, second], jnp.ones(3))
    """,
    "the index of a fori_loop": """
        import jax.numpy as jnp
        from jax import lax

        rates = [0.1, 0.2, 0.3]

        def body(i, x):
            return x * rates[i]  # finding: tracer-index

        lax.fori_loop(0, 3, body, jnp.ones(()))
    """,
    "a linen module under jit": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Net(nn.Module):
            width: int = 4
            use_bias: bool = True

            @nn.compact
            def __call__(self, x, train=False):
                if train:
                    x = x * 0.5
                if self.use_bias and x.shape[0] > 1:
                    x = x + 1
                return nn.Dense(self.width)(x)

        net = Net()
        x = jnp.ones((2, 3))
        variables = net.init(jax.random.key(0), x)
        jax.jit(net.apply)(variables, x)
        jax.jit(net.apply, static_argnames="train")(variables, x, train=True)
    """,
    "a linen module that branches on its input": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x):
                if x.sum() > 0:  # finding: tracer-branch
                    x = -x
                return nn.Dense(4)(x)

        net = Net()
        x = jnp.ones((2, 3))

        @jax.jit
        def forward(variables, x):
            return net.apply(variables, x)

        forward({"params": {"Dense_0": {"kernel": jnp.ones((3, 4)), "bias": jnp.ones(4)}}}, x)
    """,
    "stacked partial decorators": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.vmap, in_axes=(0, None))
        @partial(jax.vmap, in_axes=(None, 0))
        def distance(a, b):
            if a > b:  # finding: tracer-branch
                return a - b
            return b - a

        distance(jnp.arange(3.0), jnp.arange(2.0))
    """,
    "a jit decorator with options": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.jit, static_argnames=("mode",))
        def f(x, mode):
            if mode == "double":
                x = x * 2
            if x[0] > 0:  # finding: tracer-branch
                x = -x
            return x

        f(jnp.ones(2), "double")
    """,
    "the result of a factory is jitted": """
        import jax
        import jax.numpy as jnp

        def make_step(cfg, scale):
            def step(state, batch):
                if cfg["anneal"]:
                    batch = batch * scale
                if batch.mean() > 0:  # finding: tracer-branch
                    state = state + batch
                return state

            return step

        step = make_step({"anneal": True}, 2.0)
        step = jax.jit(step)
        step(jnp.ones(2), jnp.ones(2))
    """,
    "a bound method that is rebound to its jitted self": """
        import jax
        import jax.numpy as jnp

        class Trainer:
            def __init__(self, scale):
                self.scale = scale
                self._update = jax.jit(self._update)

            def _update(self, params, grads):
                if self.scale > 1:
                    grads = grads * self.scale
                if grads.max() > 5:  # finding: tracer-branch
                    grads = grads / 2
                return params - grads

        Trainer(2.0)._update(jnp.ones(2), jnp.ones(2))
    """,
    "a method of an environment object is jitted": """
        import jax
        import jax.numpy as jnp

        class Env:
            size = 4

            def reset(self, key):
                position = jax.random.uniform(key, (self.size,))
                return float(position[0])  # finding: tracer-concretization

        env = Env()
        reset = jax.jit(env.reset)
        reset(jax.random.key(0))
    """,
    "nested transformations: axes and argnums reach the function": """
        import jax
        import jax.numpy as jnp

        def loss(w, x):
            return (w * x).sum() if w.ndim == 1 else w

        g = jax.jit(jax.vmap(jax.value_and_grad(loss), (None, 0)))
        g(jnp.ones(3), jnp.ones((5, 3)))
    """,
    "nested transformations: what is mapped is traced": """
        import jax
        import jax.numpy as jnp

        def loss(w, x):
            if x.sum() > 0:  # finding: tracer-branch
                return (w * x).sum()
            return w.sum()

        g = jax.vmap(jax.value_and_grad(loss), (None, 0))
        g(jnp.ones(3), jnp.ones((5, 3)))
    """,
    "what partial binds stays concrete": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        def run(x, n_heads, causal):
            if causal and n_heads > 2:
                x = x.reshape(n_heads, -1)
            return x

        f = jax.jit(partial(run, n_heads=8, causal=True))
        f(jnp.ones(16))
    """,
    "a function handed to a helper that differentiates it under jit": """
        import jax
        import jax.numpy as jnp

        def fit(loss_fn, p, x):
            return jax.value_and_grad(loss_fn)(p, x)

        def my_loss(p, x):
            if p > 0:  # finding: tracer-branch
                return p * x
            return -p * x

        @jax.jit
        def step(p, x):
            return fit(my_loss, p, x)

        step(1.0, 2.0)
    """,
    "the same helper without jit keeps its values": """
        import jax

        def fit(loss_fn, p, x):
            return jax.value_and_grad(loss_fn)(p, x)

        def my_loss(p, x):
            if p > 0:
                return p * x
            return -p * x

        fit(my_loss, 1.0, 2.0)
    """,
    "a method with self static": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        class Agent:
            def __init__(self, gamma, clip):
                self.gamma = gamma
                self.clip = clip

            @partial(jax.jit, static_argnums=0)
            def step(self, p, x):
                if self.clip:
                    x = jnp.clip(x, -1, 1)
                if p.sum() > 0:  # finding: tracer-branch
                    p = p * self.gamma
                return p + x

        Agent(0.9, True).step(jnp.ones(2), jnp.ones(2))
    """,
    "an agent as a pytree with a static field": """
        import jax
        import jax.numpy as jnp
        from flax import struct

        class Agent(struct.PyTreeNode):
            params: jax.Array
            entropy: bool = struct.field(pytree_node=False)
            steps: int = 0

            @jax.jit
            def update(agent, batch):
                if agent.entropy:
                    batch = batch * 2
                return agent.replace(params=agent.params + batch)

        Agent(params=jnp.ones(2), entropy=True).update(jnp.ones(2))
    """,
    "an unmarked field of a pytree is traced": """
        import jax
        import jax.numpy as jnp
        from flax import struct

        class Agent(struct.PyTreeNode):
            params: jax.Array
            steps: int = 0

        @jax.jit
        def update(agent: Agent, batch):
            if agent.steps > 3:  # finding: tracer-branch
                batch = batch * 2
            return agent.replace(params=agent.params + batch)

        update(Agent(params=jnp.ones(2), steps=4), jnp.ones(2))
    """,
    "haiku: a transformed function under jit": """
        import haiku as hk
        import jax
        import jax.numpy as jnp

        def forward(x, is_training):
            if is_training:
                x = x * 2
            if x.mean() > 0:  # finding: tracer-branch
                x = -x
            return hk.Linear(3)(x)

        net = hk.without_apply_rng(hk.transform(forward))
        params = {"linear": {"w": jnp.ones((2, 3)), "b": jnp.ones(3)}}
        jax.jit(net.apply, static_argnums=2)(params, jnp.ones((1, 2)), True)
    """,
    "train_state.apply_fn and apply_gradients": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp
        import optax
        from flax.training import train_state

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x, train: bool):
                x = nn.Dense(3)(x)
                return nn.Dropout(0.1, deterministic=not train)(x)

        def create(key):
            net = Net()
            params = net.init(key, jnp.ones((1, 2)), train=False)["params"]
            return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3))

        @jax.jit
        def step(state, x, key):
            def loss(params):
                logits = state.apply_fn({"params": params}, x, train=True, rngs={"dropout": key})
                return logits.sum()

            value, grads = jax.value_and_grad(loss)(state.params)
            return state.apply_gradients(grads=grads), value

        state, value = step(create(jax.random.key(0)), jnp.ones((4, 2)), jax.random.key(1))
        if value > 0:
            print(float(value))
    """,
    "custom_vjp with nondiff_argnums": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.custom_vjp, nondiff_argnums=(1, 2))
        def att(q, block, debug=False):
            if block > 2 and not debug:
                q = q * block
            return q.sum()

        def att_fwd(q, block, debug):
            if debug:
                print("forward")
            return att(q, block, debug), (q,)

        def att_bwd(block, debug, residuals, g):
            (q,) = residuals
            if block > 2:
                g = g * block
            return (g * jnp.ones_like(q),)

        att.defvjp(att_fwd, att_bwd)

        @jax.jit
        def step(q):
            return jax.grad(lambda q: att(q, 4, False))(q)

        step(jnp.ones(3))
    """,
    "custom_vjp with nondiff_argnums that are passed by name": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.custom_vjp, nondiff_argnums=(1, 2))
        def scale(x, factor, twice=False):
            return x * factor

        def scale_fwd(x, factor, twice):
            return scale(x, factor, twice), (x,)

        def scale_bwd(factor, twice, residuals, g):
            if twice:
                g = g * 2
            if factor > 2:
                g = g * factor
            if residuals[0].sum() > 0:  # finding: tracer-branch
                g = -g
            return (g,)

        scale.defvjp(scale_fwd, scale_bwd)

        @jax.jit
        def step(x):
            return jax.grad(lambda x: scale(x, factor=4, twice=False).sum())(x)

        step(jnp.ones(3))
    """,
    "the function itself is reached through two callers": """
        import jax
        import jax.numpy as jnp

        def inner(x, n):
            if n > 2:
                return x
            return x * bool(x.sum() > 0)  # finding: tracer-concretization

        def middle(x):
            return inner(x, 1)

        @jax.jit
        def outer(x):
            return middle(x) + inner(x, 3)

        outer(jnp.ones(3))
    """,
    "a lambda that is jitted at once": """
        import jax
        import jax.numpy as jnp

        jax.jit(lambda x: x if x.sum() > 0 else -x)(jnp.ones(3))  # finding: tracer-branch
    """,
    "checkpoint stages its arguments": """
        import jax
        import jax.numpy as jnp

        def block(x, flag):
            if flag:  # finding: tracer-branch
                return x * 2
            return x

        jax.checkpoint(block)(jnp.ones(2), True)
    """,
    "shard_map inside jit": """
        import jax
        import jax.numpy as jnp
        from jax.sharding import PartitionSpec as P

        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

        def body(x):
            n = jax.lax.psum(1, "i")
            if n > 1:
                x = x / n
            if x[0] > 0:  # finding: tracer-branch
                x = -x
            return x

        f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("i"), out_specs=P("i")))
        f(jnp.ones(4))
    """,
    "shard_map of what is replicated, unchecked": """
        import jax
        import jax.numpy as jnp
        from jax.sharding import PartitionSpec as P

        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

        def body(x):
            if x[0] > 0:  # finding: tracer-branch
                x = -x
            return x

        f = jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
        f(jnp.ones(4))
    """,
    "shard_map of what is replicated, inside jit": """
        import jax
        import jax.numpy as jnp
        from jax.sharding import PartitionSpec as P

        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

        def body(x):
            if x[0] > 0:  # finding: tracer-branch
                x = -x
            return x

        jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P()))(jnp.ones(4))
    """,
    "a Pallas kernel writes into its references": """
        import jax
        import jax.numpy as jnp
        from jax.experimental import pallas as pl

        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2
            o_ref[0] = x_ref[0] + 1

        pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32), interpret=True)(jnp.ones(4))
    """,
    "what stands for arrays in eval_shape and lower is traced": """
        import jax
        import jax.numpy as jnp

        def rows(x):
            if x.ndim > 1 and x.shape[0] > 2:
                x = x * 2
            return x

        def positive(params):
            if params["w"].sum() > 0:  # finding: tracer-branch
                return params
            return None

        spec = jax.ShapeDtypeStruct((3, 2), jnp.float32)
        jax.jit(rows).lower(spec)
        jax.eval_shape(rows, spec)
        jax.eval_shape(positive, {"w": spec})
    """,
    "options of nnx are not handed on": """
        import jax.numpy as jnp
        from flax import nnx

        def read(count):
            if count[...] > 0:  # finding: tracer-branch
                return count[...]
            return -count[...]

        nnx.eval_shape(read, nnx.Variable(jnp.array(0)), graph=False)
    """,
    "eval_shape and make_jaxpr stage": """
        import jax
        import jax.numpy as jnp

        def f(x):
            return float(x.sum())  # finding: tracer-concretization

        jax.eval_shape(f, jnp.ones(3))
    """,
    "nnx: a module's Python attributes are static": """
        import jax
        import jax.numpy as jnp
        from flax import nnx

        class Net(nnx.Module):
            def __init__(self, rngs: nnx.Rngs):
                self.linear = nnx.Linear(2, 3, rngs=rngs)
                self.use_bias = True
                self.depth = 2

            def __call__(self, x):
                if self.use_bias:
                    x = x + 1
                for _ in range(self.depth):
                    x = x * 2
                return self.linear(x)

        @nnx.jit
        def forward(model, x):
            if model.use_bias:
                x = x * 2
            return model(x)

        forward(Net(nnx.Rngs(0)), jnp.ones((1, 2)))
    """,
    "nnx: an argument that is a bool is traced": """
        import jax.numpy as jnp
        from flax import nnx

        @nnx.jit
        def forward(x, flag):
            if flag:  # finding: tracer-branch
                x = x * 2
            return x

        forward(jnp.ones(2), True)
    """,
    "what a context manager of the project yields": """
        import contextlib

        import jax
        import jax.numpy as jnp

        @contextlib.contextmanager
        def masked(x):
            yield x > 0, x.shape[0]

        @jax.jit
        def clipped(x):
            with masked(x) as (mask, size):
                if size > 3:
                    x = x[:3]
                if mask.any():  # finding: tracer-branch
                    x = -x
            return x

        clipped(jnp.ones(4))
    """,
    "what a context manager's `__enter__` returns": """
        import jax
        import jax.numpy as jnp

        class Scaled:
            def __init__(self, x):
                self.x = x

            def __enter__(self):
                return jnp.max(self.x)

            def __exit__(self, *error):
                return False

        class Sized(Scaled):
            def __enter__(self):
                return self.x.shape[0]

        @jax.jit
        def normalised(x):
            with Sized(x) as size:
                if size > 2:
                    x = x[:2]
            with Scaled(x) as peak:
                return x / peak if peak > 2.0 else x  # finding: tracer-branch

        normalised(jnp.ones(4))
    """,
}
