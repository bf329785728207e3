"""Programs that run, written so that a hasty analysis takes something for a tracer that is none."""

PROGRAMS = {
    "values that change their kind in a branch": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x, scale=None, axis=-1, names=("a", "b"), fn=jnp.tanh):
            if scale is None:
                scale = x.shape[-1] ** -0.5
                if scale > 0.1:
                    x = x * scale
            if axis < 0:
                axis = x.ndim + axis
            if "a" in names and fn is not jnp.sin:
                x = fn(x)
            size = x.shape[axis] if axis else 1
            return x * size if size > 2 else x

        f(jnp.ones((2, 3)))
    """,
    "what modules that nnx.vmap makes keep of Python": """
        import jax.numpy as jnp
        from flax import nnx

        class Norm(nnx.Module):
            def __init__(self, size, scaled, rngs):
                self.scaled = scaled
                self.scale = nnx.Param(rngs.params.uniform((size,)))

            def __call__(self, x):
                if not self.scaled:
                    return x
                return x * self.scale[...]

        class Norms(nnx.Module):
            def __init__(self, rngs):
                @nnx.split_rngs(splits=4)
                @nnx.vmap
                def create(rngs):
                    return Norm(3, True, rngs)

                self.norms = create(rngs)

            def __call__(self, x):
                return nnx.vmap(lambda norm, row: norm(row))(self.norms, x)

        nnx.jit(lambda model, x: model(x))(Norms(nnx.Rngs(0)), jnp.ones((4, 3)))
    """,
    "loops over Python counts next to traced values": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            total, count, best = 0.0, 0, None
            for i, row in enumerate(x):
                total = total + row.sum() * i
                count += 1
                if count > 1:
                    best = row
                if i == 0 or best is None:
                    continue
                while count < 3:
                    count += 1
            if count > 2 and best is not None:
                total = total + best.sum()
            return total / count

        f(jnp.ones((3, 2)))
    """,
    "dictionaries of settings and arrays together": """
        import jax
        import jax.numpy as jnp

        def block(x, p, cfg):
            if cfg["norm"] == "layer":
                x = x - x.mean()
            for name in cfg["order"]:
                if name in p:
                    x = x @ p[name]
            return jax.nn.relu(x) if cfg["act"] else x

        def make(cfg):
            @jax.jit
            def forward(params, x):
                for i in range(cfg["depth"]):
                    p = params[f"block_{i}"]
                    x = block(x, p, cfg)
                    if i < len(params) - 1 and cfg.get("residual", False):
                        x = x + 1
                return x

            return forward

        forward = make({"norm": "layer", "order": ["w", "v"], "act": True, "depth": 2})
        forward({"block_0": {"w": jnp.eye(2)}, "block_1": {"v": jnp.eye(2)}}, jnp.ones((1, 2)))
    """,
    "the same helper with arrays and with numbers": """
        import jax
        import jax.numpy as jnp
        import math

        def clip(value, low, high):
            if isinstance(value, jax.Array):
                return jnp.clip(value, low, high)
            return low if value < low else high if value > high else value

        def ceil_div(a, b):
            return -(-a // b)

        def pad_to(n, multiple):
            if n % multiple:
                n = ceil_div(n, multiple) * multiple
            return max(n, multiple)

        @jax.jit
        def f(x):
            n = pad_to(x.shape[0], 4)
            rate = clip(0.5, 0.0, 1.0)
            if rate > 0.1 and math.log2(n) > 1:
                x = jnp.pad(x, (0, n - x.shape[0]))
            return clip(x, 0, 1) * ceil_div(n, 2) + ceil_div(x, 2)

        f(jnp.ones(3))
    """,
    "class attributes, properties and methods on structure": """
        import jax
        import jax.numpy as jnp
        from dataclasses import dataclass, field

        @dataclass(frozen=True)
        class Config:
            width: int = 4
            layers: tuple = (1, 2)
            dropout: float = 0.0
            extra: dict = field(default_factory=dict)

            @property
            def deep(self):
                return len(self.layers) > 1

            def enabled(self, name):
                return bool(self.extra.get(name, False))

        class Model:
            scale = 2.0

            def __init__(self, config):
                self.config = config
                self.apply = jax.jit(self._apply)

            @property
            def is_wide(self):
                return self.config.width > 2

            def _apply(self, x):
                if self.config.deep and self.is_wide and not self.config.enabled("slow"):
                    x = x * self.scale
                if self.config.dropout > 0:
                    raise NotImplementedError
                for layer in self.config.layers:
                    x = x + (layer if layer > 1 else 0)
                return x

        Model(Config()).apply(jnp.ones(3))
    """,
    "pytrees registered by hand": """
        import jax
        import jax.numpy as jnp

        @jax.tree_util.register_pytree_node_class
        class Grid:
            def __init__(self, values, periodic):
                self.values = values
                self.periodic = periodic

            def tree_flatten(self):
                return (self.values,), (self.periodic,)

            @classmethod
            def tree_unflatten(cls, aux, children):
                return cls(children[0], aux[0])

        @jax.jit
        def shift(grid):
            if grid.periodic:
                return Grid(jnp.roll(grid.values, 1), grid.periodic)
            return grid

        shift(Grid(jnp.ones(3), True))
    """,
    "trees, paths and leaves": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(params):
            leaves, treedef = jax.tree.flatten(params)
            if treedef.num_leaves > 1 and len(leaves) == 2:
                leaves = [leaf * 2 for leaf in leaves if leaf.ndim]
            sizes = jax.tree.map(lambda p: p.size, params)
            if sum(jax.tree.leaves(sizes)) > 3:
                params = jax.tree.map(lambda p: p + 1, params)
            decay = jax.tree.map(lambda p: p.ndim > 1, params)
            def scale(path, p):
                name = jax.tree_util.keystr(path)
                return p * 2 if "w" in name else p
            params = jax.tree_util.tree_map_with_path(scale, params)
            return jax.tree.map(lambda d, p: p * 2 if d else p, decay, params)

        f({"w": jnp.ones((2, 2)), "b": jnp.ones(2)})
    """,
    "scan over structure with a None and a static closure": """
        import jax
        import jax.numpy as jnp
        from functools import partial

        def layer(x, w, mask, *, causal, heads):
            if mask is None and causal:
                mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0])))
            if heads > 1:
                x = x.reshape(x.shape[0], heads, -1).reshape(x.shape)
            return (mask @ x if mask is not None else x) @ w

        @partial(jax.jit, static_argnames=("causal", "heads"))
        def forward(ws, x, causal=True, heads=2):
            def body(carry, w):
                x, steps = carry
                x = layer(x, w, None, causal=causal, heads=heads)
                return (x, steps + 1), None

            (x, steps), nothing = jax.lax.scan(body, (x, 0), ws)
            if nothing is None:
                return x * steps
            return x

        forward(jnp.ones((3, 4, 4)), jnp.ones((2, 4)))
        forward(jnp.ones((3, 4, 4)), jnp.ones((2, 4)), causal=False, heads=1)
    """,
    "vmap with keywords, out_axes and a static partial": """
        import jax
        import jax.numpy as jnp
        from functools import partial

        def distance(a, b, power, squared):
            d = jnp.abs(a - b) ** power
            if squared:
                d = d * d
            return d if power > 1 else 2 * d

        pairs = jax.vmap(
            jax.vmap(partial(distance, power=2, squared=True), in_axes=(None, 0)), in_axes=(0, None)
        )
        jax.jit(pairs)(jnp.ones(3), jnp.ones(2))
        jax.vmap(lambda a, n: a if n > 1 else -a, in_axes=(0, None))(jnp.ones(3), 2)
    """,
    "gradients of auxiliary Python values, eagerly": """
        import jax
        import jax.numpy as jnp

        def loss(params, batch, training):
            value = (params["w"] * batch).sum()
            metrics = {"n": batch.shape[0], "mode": "train" if training else "eval"}
            if metrics["n"] > 1 and metrics["mode"] == "train":
                value = value * 2
            return value, metrics

        (value, metrics), grads = jax.value_and_grad(loss, has_aux=True)({"w": jnp.ones(3)}, jnp.ones(3), True)
        if value > 0 and metrics["mode"] == "train":
            print(float(value), {k: v.tolist() for k, v in grads.items()})
    """,
    "a training loop on the host around jitted parts": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit  # finding: missing-donation
        def update(params, batch):
            loss, grads = jax.value_and_grad(lambda p: ((batch @ p) ** 2).mean())(params)
            return params - 0.1 * grads, loss

        params = jnp.ones(2)
        best, patience, history = float("inf"), 0, []
        for epoch in range(3):
            batch = np.random.default_rng(epoch).normal(size=(4, 2))
            params, loss = update(params, batch)
            history.append(loss)
            if loss < best:
                best, patience = loss, 0
            else:
                patience += 1
            if patience > 2 or jnp.isnan(loss):
                break
        assert np.asarray(history[-1]) >= 0
        order = np.argsort(np.asarray([float(h) for h in history]))
        print(history[int(order[0])], params[int(jnp.argmax(params))])
    """,
    "numpy and Python arithmetic on static values inside jit": """
        import itertools
        import math

        import jax
        import jax.numpy as jnp
        import numpy as np

        OFFSETS = np.array(list(itertools.product((-1, 0, 1), repeat=2)))
        WEIGHTS = [1.0, 2.0, 3.0]

        @jax.jit
        def f(x):
            h, w = x.shape
            window = np.hanning(h)
            window = window / np.sqrt((window**2).sum())
            steps = np.arange(1, w + 1)
            total = 0.0
            for dy, dx in OFFSETS:
                if dy == 0 and dx == 0:
                    continue
                total = total + jnp.roll(x, (int(dy), int(dx)), (0, 1)) * WEIGHTS[abs(dy)]
            if steps.max() > 2 and np.any(steps > 1):
                total = total * math.ceil(w / 2)
            factors = [n for n in range(1, w + 1) if w % n == 0]
            return total * window[:, None] + jnp.asarray(steps)[: factors[-1]] + max(WEIGHTS)

        f(jnp.ones((4, 3)))
    """,
    "string building and logging from static facts": """
        import logging

        import jax
        import jax.numpy as jnp

        log = logging.getLogger(__name__)

        @jax.jit
        def f(x, y=None):
            log.info("tracing with %s of %d", x.dtype, x.shape[0])
            name = f"{x.shape[0]:03d}x{x.ndim}"
            text = "shape {} {:d}".format(x.shape, x.ndim)
            print(name, text)
            print(f"{x=}", str(x)[:10])  # finding: impure-call
            if name.startswith("003") and len(text) > 3:
                x = x + 1
            if x.ndim not in (1, 2):
                raise ValueError(f"expected one or two dimensions, not {x.ndim}: {x}")
            assert x.shape[0] > 1, f"too short: {x}"
            return x

        f(jnp.ones(3))
    """,
    "functions as values": """
        import jax
        import jax.numpy as jnp

        ACTIVATIONS = {"relu": jax.nn.relu, "none": None, "square": lambda v: v * v}

        def compose(*functions):
            def run(x):
                for function in functions:
                    if function is not None:
                        x = function(x)
                return x

            return run

        @jax.jit
        def f(x):
            act = ACTIVATIONS.get("relu")
            if act:
                x = act(x)
            stages = [compose(ACTIVATIONS["square"], None), ACTIVATIONS["none"] or jnp.tanh]
            for stage in stages:
                x = stage(x)
            pick = {True: jnp.sum, False: jnp.mean}
            return pick[x.ndim > 1](x)

        f(jnp.ones(3))
    """,
    "context, defaults and globals that are rebound on the host": """
        import contextlib

        import jax
        import jax.numpy as jnp

        precision = "float32"
        debug = False

        @contextlib.contextmanager
        def using(name):
            global precision
            before, precision = precision, name
            try:
                yield precision
            finally:
                precision = before

        @jax.jit
        def f(x):
            if debug:
                jax.debug.print("x = {}", x)
            if precision == "bfloat16":
                x = x.astype(jnp.bfloat16)
            with jax.named_scope("body"):
                return x * 2

        with using("bfloat16") as name:
            if name == precision:
                f(jnp.ones(3))
    """,
    "finite differences, sorting and set operations on structure": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(groups):
            names = sorted(groups, key=lambda name: groups[name].size, reverse=True)
            largest = max(groups.values(), key=lambda value: value.size)
            kinds = {value.dtype for value in groups.values()}
            if len(kinds) > 1 or names[0] > names[-1] or any(value.ndim > 1 for value in groups.values()):
                largest = largest * 2
            common = set(names) & {"a", "b"}
            if common and all(name in groups for name in common):
                return {name: groups[name] + 1 for name in names if name in common}, largest
            return groups, largest

        f({"a": jnp.ones(3), "b": jnp.ones(2)})
    """,
    "custom_jvp and stop_gradient, eagerly and with Python flags": """
        import jax
        import jax.numpy as jnp
        from functools import partial

        @partial(jax.custom_jvp, nondiff_argnums=(1,))
        def f(x, order):
            if order > 1:
                return x**order
            return x

        @f.defjvp
        def f_jvp(order, primals, tangents):
            (x,), (t,) = primals, tangents
            if order > 1:
                t = t * order * x ** (order - 1)
            return f(x, order), t

        jax.jit(jax.grad(lambda x: f(x, 3)))(2.0)
        jax.jit(lambda x: jax.lax.stop_gradient(f(x, 1)))(2.0)
    """,
    "collectives: the size of an axis, trees of gradients": """
        import jax
        import jax.numpy as jnp

        def step(params, batch):
            grads = jax.tree.map(lambda p: p * batch.mean(), params)
            devices = jax.lax.psum(1, "batch")
            if devices > 1:
                grads = jax.lax.pmean(grads, axis_name="batch")
            if "w" in grads and len(grads) == 2:
                grads["w"] = grads["w"] * 2
            for name, value in grads.items():
                if value.ndim:
                    grads = {**grads, name: value + 1}
            return grads

        jax.jit(jax.vmap(step, in_axes=(None, 0), axis_name="batch"))({"w": jnp.ones(2), "b": jnp.ones(())}, jnp.ones((2, 3)))
    """,
    "early returns and exceptions decide on structure": """
        import jax
        import jax.numpy as jnp

        def validate(x):
            if not isinstance(x, jax.Array):
                raise TypeError("not an array")
            if x.ndim == 0:
                return x[None]
            try:
                rows, columns = x.shape
            except ValueError:
                rows, columns = x.shape[0], 1
            else:
                if rows > columns:
                    x = x.T
            finally:
                pass
            if rows * columns > 100:
                return x[:10]
            return x

        @jax.jit
        def f(x):
            return validate(x)

        f(jnp.ones((3, 2)))
        f(jnp.ones(()))
    """,
    "a cache and a counter that are filled while tracing": """
        import functools

        import jax
        import jax.numpy as jnp
        import numpy as np

        @functools.lru_cache(maxsize=None)
        def table(n):
            values = np.zeros(n)
            for i in range(n):
                values[i] = i**0.5 if i > 1 else 0
            return values

        seen = {}

        @jax.jit
        def f(x):
            n = x.shape[0]
            if n not in seen:
                seen[n] = table(n).sum()
            return x * seen[n] + jnp.asarray(table(n))

        f(jnp.ones(3))
    """,
    "keys: sequences, dictionaries of streams, methods that split": """
        import jax
        import jax.numpy as jnp

        class Stream:
            def __init__(self, seed):
                self.key = jax.random.key(seed)

            def next(self):
                self.key, key = jax.random.split(self.key)
                return key

        def init(key, sizes):
            params = []
            for n_in, n_out in zip(sizes[:-1], sizes[1:]):
                key, wkey, bkey = jax.random.split(key, 3)
                params.append((jax.random.normal(wkey, (n_in, n_out)), jax.random.normal(bkey, (n_out,))))
            return params

        def augment(key, x):
            key_flip, key_shift = jax.random.split(key)
            flip = jax.random.bernoulli(key_flip)
            return jnp.where(flip, x[::-1], x) + jax.random.normal(key_shift, x.shape)

        stream = Stream(0)
        noise = [jax.random.normal(stream.next()) for _ in range(3)]
        params = init(stream.next(), (2, 3, 1))
        keys = jax.random.split(stream.next(), 4)
        batch = jax.vmap(augment)(keys, jnp.ones((4, 3)))
        streams = dict(zip(("params", "dropout"), jax.random.split(stream.next())))
        total = jax.random.normal(streams["params"]) + jax.random.normal(streams["dropout"])
        for step in range(3):
            step_key = jax.random.fold_in(stream.key, step)
            total = total + jax.random.uniform(step_key)
    """,
    "keys: a branch returns before the second use": """
        import jax

        def sample(key, kind, shape=()):
            if kind == "normal":
                return jax.random.normal(key, shape)
            if kind == "uniform":
                return jax.random.uniform(key, shape)
            match kind:
                case "coin":
                    return jax.random.bernoulli(key)
                case _:
                    raise ValueError(kind)

        def retry(key):
            while True:
                key, sub = jax.random.split(key)
                value = jax.random.normal(sub)
                if value > -10:
                    return value

        sample(jax.random.key(0), "coin")
        retry(jax.random.key(1))
    """,
    "jit in loops that compile something new or only once": """
        import jax
        import jax.numpy as jnp

        functions = {}
        for name, function in {"sin": jnp.sin, "cos": jnp.cos}.items():
            functions[name] = jax.jit(function)

        def compiled(depth):
            @jax.jit
            def run(x):
                for _ in range(depth):
                    x = x * 2
                return x

            return run

        runs = [compiled(depth) for depth in (1, 2, 3)]
        for run in runs:
            run(jnp.ones(2))
        for name, function in functions.items():
            print(name, function(1.0))
    """,
    "linen with setup, lifted transformations and variables": """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Block(nn.Module):
            features: int
            dropout: float = 0.0
            act: str = "relu"

            @nn.compact
            def __call__(self, x, deterministic: bool = True):
                kernel = self.param("kernel", nn.initializers.lecun_normal(), (x.shape[-1], self.features))
                count = self.variable("stats", "count", lambda: jnp.zeros((), jnp.int32))
                if not self.is_initializing() and self.is_mutable_collection("stats"):
                    count.value = count.value + 1
                x = x @ kernel
                x = getattr(nn, self.act)(x)
                if self.dropout > 0 and not deterministic:
                    x = nn.Dropout(self.dropout)(x, deterministic=deterministic)
                return x

        class Stack(nn.Module):
            depth: int = 2
            remat: bool = True

            def setup(self):
                block = nn.remat(Block, static_argnums=(2,)) if self.remat else Block
                self.blocks = [block(4, name=f"block_{i}") for i in range(self.depth)]
                self.head = nn.Dense(1)

            def __call__(self, x, deterministic=True):
                for i, block in enumerate(self.blocks):
                    y = block(x, deterministic)
                    x = x + y if i and x.shape == y.shape else y
                return self.head(x)

        class Scanned(nn.Module):
            @nn.compact
            def __call__(self, x):
                def body(layer, carry, _):
                    return layer(carry), None

                scan = nn.scan(
                    body, variable_axes={"params": 0, "stats": 0}, split_rngs={"params": True}, length=3
                )
                x, _ = scan(Block(x.shape[-1]), x, None)
                return x

        x = jnp.ones((2, 4))
        for model in (Stack(), Scanned()):
            variables = model.init(jax.random.key(0), x)
            y, updates = jax.jit(lambda v, x: model.apply(v, x, mutable=["stats"]))(variables, x)
            if y.sum() > 0 and "stats" in updates:
                print(float(y.sum()))
    """,
    "nnx with an optimiser, a metric and dropout": """
        import jax
        import jax.numpy as jnp
        import optax
        from flax import nnx

        class Net(nnx.Module):
            def __init__(self, rngs: nnx.Rngs):
                self.linear = nnx.Linear(2, 2, rngs=rngs)
                self.dropout = nnx.Dropout(0.1, rngs=rngs)
                self.count = nnx.Variable(jnp.zeros(()))
                self.tied = False

            def __call__(self, x):
                self.count.value += 1
                x = self.dropout(self.linear(x))
                return x if not self.tied else x @ self.linear.kernel.value

        def loss_fn(model, batch):
            loss = (model(batch) ** 2).mean()
            return loss, {"batch": batch.shape[0]}

        @nnx.jit
        def train_step(model, optimizer, batch):
            (loss, aux), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, batch)
            optimizer.update(model, grads)
            if aux["batch"] > 1 and not model.tied:
                loss = loss * 2
            return loss

        model = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
        losses = [train_step(model, optimizer, jnp.ones((2, 2))) for _ in range(2)]
        if losses[-1] < losses[0]:
            print(float(losses[-1]))
    """,
    "optax: schedules, chains, masks and states": """
        from functools import partial

        import jax
        import jax.numpy as jnp
        import optax

        def make(lr, clip=None, decay=0.0):
            parts = []
            if clip is not None:
                parts.append(optax.clip_by_global_norm(clip))
            if decay > 0:
                parts.append(optax.add_decayed_weights(decay, mask=lambda p: jax.tree.map(lambda x: x.ndim > 1, p)))
            schedule = optax.warmup_cosine_decay_schedule(0.0, lr, 2, 10)
            return optax.chain(*parts, optax.adam(schedule)), schedule

        optimizer, schedule = make(1e-2, clip=1.0, decay=0.1)

        @partial(jax.jit, donate_argnums=(0, 1))
        def step(params, state, batch):
            loss, grads = jax.value_and_grad(lambda p: ((batch @ p["w"]) ** 2).sum())(params)
            updates, state = optimizer.update(grads, state, params)
            if optimizer.update is not None and "w" in updates:
                params = optax.apply_updates(params, updates)
            return params, state, loss

        params = {"w": jnp.ones((2, 2))}
        state = optimizer.init(params)
        for i in range(2):
            params, state, loss = step(params, state, jnp.ones((3, 2)))
        if schedule(3) > 0:
            print(float(loss), float(schedule(3)))
    """,
    "containers of a factory's scope and of the trace": """
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
    """,
    "vectorize leaves scalars and excluded arguments alone": """
        import jax.numpy as jnp

        magnitude = jnp.vectorize(lambda a: a if a > 0 else -a)
        magnitude(1.0)
        jnp.vectorize(lambda a, b: a if b > 0 else -a, excluded=(1,))(jnp.ones(3), 1)
    """,
    "one helper with several numbers": """
        import jax
        import jax.numpy as jnp

        def dropout(key, x, rate, train):
            if not train or rate == 0.0:
                return x
            return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

        def pool(x, size):
            if size == 16:
                return x.shape[0]
            return x.sum()

        @jax.jit
        def f(key, x):
            if pool(x, 16) > 1:
                x = x + pool(x, 32)
            return dropout(key, x, 0.5, True) + dropout(key, x, 0.0, True)

        f(jax.random.key(0), jnp.ones(3))
    """,
    "what arrays have, by the names of special methods": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            if hasattr(x, "__len__") and not hasattr(x, "detach"):
                return x + len(x)
            return x if x > 0 else -x

        f(jnp.ones(2))
    """,
}
