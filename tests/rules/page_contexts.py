"""Programs around the examples of rule pages, which are excerpts: by rule, with `CODE` in place of the example."""

IMPORTS = """\
import functools, math, multiprocessing, os, random, time, tracemalloc
from functools import partial
import equinox as eqx
import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import lax
from jax.experimental import pallas as pl
from jax.sharding import NamedSharding, PartitionSpec as P
"""

_CONTEXTS = {
    "tracer-index": "weights = [jnp.eye(2)] * 4\nh = jnp.ones(2)\nCODE\nlax.fori_loop(0, 4, body, h)",
    "branch-mismatch": "ok, x = True, jnp.ones(2)\nCODE",
    "carry-mismatch": "xs = jnp.ones((3, 2))\nCODE",
    "reverse-mode-while-loop": """\
def unsettled(x):
    return x > 1.5
def newton(x, theta):
    return (x + theta / x) / 2
CODE""",
    "frozen-field-assignment": "CODE\nif 'State' in globals():\n    step(State(jnp.ones(2)), 0.1)",
    "unread-update": "def descend(params, grads, lr):\n    CODE\ndescend({'w': jnp.ones(2)}, {'w': jnp.ones(2)}, 0.1)",
    "same-branches": """\
def relax(u):
    return u * 0.5
def sharpen(u):
    return u * 2.0
t, u = jnp.int32(1), jnp.ones(2)
CODE""",
    "lost-duplicates": """\
def degrees(degree, receivers):
    CODE
    return degree
degrees(jnp.zeros(3), jnp.array([0, 0, 1]))""",
    "stale-static-self": """\
CODE
    def __init__(self, lr):
        self.lr = lr
trainer = Trainer(0.1)
trainer.step(jnp.ones(2), jnp.ones(2))
trainer.decay()
trainer.step(jnp.ones(2), jnp.ones(2))""",
    "repeated-computation": """\
key, draws = jax.random.key(0), []
covariance = jnp.eye(2000)
CODE""",
    "live-snapshot": """\
@nnx.jit
def train_step(model, optimizer, batch):
    grads = nnx.grad(lambda m: m(batch).sum())(model)
    optimizer.update(model, grads)
def validate(model):
    return model(batch).sum()
model, batch = nnx.Linear(2, 1, rngs=nnx.Rngs(0)), jnp.ones((3, 2))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
epochs, best_loss = 3, 1.0
CODE""",
    "captured-module": """\
@nnx.jit
def train(model, optimizer, x):
    grads = nnx.grad(lambda m: m(x).sum())(model)
    optimizer.update(model, grads)
model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
CODE
train(model, optimizer, jnp.ones((3, 2)))""",
    "key-not-advanced": "key, x = jax.random.key(0), jnp.ones(2)\nCODE",
    "shared-key-under-vmap": "key, xs = jax.random.key(0), jnp.ones((3, 2))\nCODE",
    "shape-varying-loop": """\
@jax.jit
def next_token(params, tokens, length=None):
    return params * tokens.sum()
params, tokens, length = jnp.ones(2), jnp.ones((2, 30)), 30
CODE""",
    "weak-type-flip": """\
@jax.jit
def energy(x, signal):
    return (x * signal).sum()
@jax.jit
def step(params, running, x):
    return params, 0.9 * running + 0.1 * x.sum()
n, signal, params = 3, jnp.ones(3), jnp.ones(3)
batches = [jnp.ones(3)] * 3
CODE""",
    "missing-jit": """\
def leapfrog(x, v, dt):
    a = -jnp.sin(x) * jnp.cos(x)
    v = v + 0.5 * dt * a
    x = x + dt * v
    return x, v - 0.5 * dt * jnp.sin(x)
x, v, dt = jnp.ones(3), jnp.ones(3), 0.1
CODE""",
    "cleared-caches": """\
@jax.jit
def features(batch):
    return batch * 2
out, batches = [], [jnp.ones(2)] * 2
CODE""",
    "host-sync-in-loop": """\
@jax.jit
def step(state, batch):
    return state + batch, (state * batch).sum()
state, losses, batches = jnp.ones(2), [], [jnp.ones(2)] * 20
CODE""",
    "array-iteration": "xs = jnp.linspace(-1.0, 1.0, 100)\nCODE",
    "device-put-in-loop": """\
@jax.jit
def step(w, features):
    return w + features.sum()
w, steps, features = jnp.ones(2), 100, np.ones((100, 100))
CODE""",
    "convergence-loop": """\
@jax.jit
def step(x):
    new = jnp.cos(x)
    return new, jnp.abs(new - x)
x, error = step(jnp.float32(1.0))
CODE""",
    "jax-in-dataset": """\
import torch.utils.data
class Images(torch.utils.data.Dataset):
    CODE""",
    "jnp-of-numbers": "CODE\nfor step in range(100):\n    state = train(state, schedule(step, 100))",
    "eager-buffer-update": """\
CODE
    def __init__(self, obs):
        self.position = 0
        self.obs = obs
ReplayBuffer(jnp.zeros((100_000, 17))).add(jnp.ones(17))""",
    "scan-without-remat": """\
def block(h, layer):
    return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"], None
def loss(params, x):
    CODE
    return h.sum()
jax.grad(loss)({"layers": {"up": jnp.ones((20, 4, 8)), "down": jnp.ones((20, 8, 4))}}, jnp.ones((2, 4)))""",
    "stacked-input": """\
params = {"w": jnp.eye(2)}
CODE
start = (params, jnp.ones(2))
jax.lax.scan(body, start, None, length=5)""",
    "python-loop-over-batch": """\
def predict(params, x):
    return params * x
params, xs = jnp.ones(2), jnp.ones((30, 2))
CODE""",
    "append-loop": """\
@jax.jit
def cell(params, h, x):
    return jnp.tanh(params * h + x)
params, h, xs = jnp.ones(2), jnp.ones(2), jnp.ones((30, 2))
CODE""",
    "layer-loop": """\
def mlp(layer, h):
    return jnp.tanh(h @ layer["w"])
@jax.jit
def forward(layers, h):
    CODE
    return h
forward([{"w": jnp.eye(2)}] * 10, jnp.ones(2))""",
    "broadcast-for-vmap": """\
def predict(w, x):
    return w @ x
w, x = jnp.ones((2, 3)), jnp.ones((5, 3))
CODE""",
    "cond-under-vmap": """\
def is_diagonal(a):
    return jnp.all(a == jnp.diag(jnp.diag(a)))
def cheap(a, b):
    return b / jnp.diag(a)
def expensive(a, b):
    return jnp.linalg.solve(a, b)
def solve(a, b):
    return jax.lax.cond(is_diagonal(a), cheap, expensive, a, b)
many_a, many_b = jnp.stack([jnp.eye(2)] * 3), jnp.ones((3, 2))
CODE""",
    "gradient-accumulation-loop": """\
def loss(params, part):
    return (params * part).sum()
@partial(jax.jit, static_argnums=(2, 3))
def accumulate(params, batch, parts, size):
    grads = jnp.zeros_like(params)
    CODE
    return grads
accumulate(jnp.ones(2), jnp.ones((12, 2)), 4, 3)""",
    "debug-print-of-formatted": "@jax.jit\ndef step(loss):\n    CODE\n    return loss\nstep(1.0)",
    "transform-of-result": "def f(x):\n    return jnp.sin(x)\nx = jnp.ones(2)\nCODE",
    "optimizer-state-dropped": """\
grad = jax.grad(lambda params, batch: (params * batch).sum())
optimizer = optax.adam(1e-3)
def train(params, batches):
    opt_state = optimizer.init(params)
    CODE
    return params
train(jnp.ones(2), [jnp.ones(2)] * 3)""",
    "updates-not-applied": """\
optimizer = optax.adam(1e-3)
def step(params, opt_state, grads):
    CODE
step(jnp.ones(2), optimizer.init(jnp.ones(2)), jnp.ones(2))""",
    "apply-result-not-unpacked": """\
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(x)
model = Net()
def loss_of(variables, x, y):
    CODE
    return loss
loss_of(model.init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)), 1.0)""",
    "module-needs-streams": """\
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dropout(0.5, deterministic=not train)(x)
model, key, x = Net(), jax.random.key(0), jnp.ones(3)
variables = model.init(key, x, train=False)
CODE""",
    "callback-captures-tracer": "@jax.jit\ndef step(loss):\n    CODE\n    return loss\nstep(1.0)",
    "not-a-pytree": """\
@jax.jit
def global_norm(tree):
    return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))
params = {"w": jnp.ones(2)}
CODE""",
    "optimizer-of-functions": "key, optim = jax.random.key(0), optax.adam(1e-3)\nCODE",
    "module-state-dropped": """\
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(x)
def step(state, batch_stats, x):
    def loss_fn(params):
        out, new = Net().apply({"params": params, "batch_stats": batch_stats}, x, mutable=["batch_stats"])
        return out.sum(), new
    CODE""",
    "matmul-precision": """\
def distances(x, y):
    x2, y2 = jnp.sum(x**2, axis=-1), jnp.sum(y**2, axis=-1)
    CODE
    return d2
distances(jnp.ones((3, 2)), jnp.ones((4, 2)))""",
    "low-precision-parameters": """\
def model():
    return CODE
jax.grad(lambda params: model().apply(params, jnp.ones(2)).sum().astype(jnp.float32))""",
    "narrow-arithmetic": """\
x = jnp.ones(3)
image = other = jnp.ones((2, 2), jnp.uint8)
a = b = jnp.ones((2, 2), jnp.int8)
CODE""",
    "norm-gradient-at-zero": "def energy(x):\n    CODE\n    return d.sum()\njax.grad(energy)(jnp.ones((3, 2)))",
    "unstable-softmax": "x = jnp.ones((2, 3))\nCODE",
    "cancelling-log1p": "x = jnp.ones(3)\nCODE",
    "unsafe-division": "def loss(x):\n    CODE\n    return unit.sum()\njax.grad(loss)(jnp.ones(3))",
    "zero-gradient": """\
def model(params, x):
    return x @ params
CODE
jax.grad(loss)(jnp.ones((2, 3)), jnp.ones((4, 2)), jnp.zeros(4, int))""",
    "clamp-to-edge": """\
def loss(d2, cosine):
    CODE
    return d.sum() + angle.sum()
jax.grad(loss, argnums=(0, 1))(jnp.ones(3), jnp.ones(3))""",
    "guard-after-root": "def loss(x):\n    CODE\n    return unit.sum() + scaled.sum()\njax.grad(loss)(jnp.ones(3))",
    "broadcast-in-loss": """\
x, w, y = jnp.ones((4, 2)), jnp.ones((2, 1)), jnp.ones(4)
pred = x @ w
CODE""",
    "unused-cotangent": """\
@jax.custom_vjp
def clip(x):
    return jnp.clip(x, -1, 1)
CODE
clip.defvjp(lambda x: (clip(x), (x,)), clip_bwd)
jax.grad(lambda x: clip(x).sum())(jnp.ones(3))""",
    "bootstrapped-gradient": """\
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)
net, obs, next_obs, reward, gamma = Net(), jnp.ones((3, 2)), jnp.ones((3, 2)), jnp.ones(3), 0.9
CODE
jax.grad(loss)(net.init(jax.random.key(0), obs))""",
    "host-local-batch": """\
jax.distributed.initialize()
mesh = jax.make_mesh((jax.device_count(),), ("data",))
host_batches = [np.ones((8, 2))]
CODE""",
    "one-process-only": """\
jax.distributed.initialize()
@jax.jit
def evaluate(params, held_out):
    return (params * held_out).sum()
mesh = jax.make_mesh((jax.device_count(),), ("data",))
params = jax.device_put(np.ones(8), NamedSharding(mesh, P("data")))
held_out = np.ones(8)
CODE""",
    "local-size": """\
mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
CODE
jax.shard_map(mean, mesh=mesh, in_specs=P("data"), out_specs=P())(jnp.ones(8))""",
    "naive-normalisation": "x = jnp.ones((2, 3))\nCODE",
    "ref-misuse": """\
CODE
x = jnp.ones(8)
pl.pallas_call(kernel, out_shape=x, interpret=True)(x)""",
    "wasteful-contraction": "a = b = jnp.ones((4, 4))\nq, k = jnp.ones((3, 2)), jnp.ones((5, 2))\nCODE",
    "unsynced-timing": "step = jax.jit(lambda x: x @ x)\nx = jnp.ones((500, 500))\nCODE",
    "tracemalloc-for-device-memory": "forward = jax.jit(lambda x: x @ x)\nx = jnp.ones((500, 500))\nCODE",
    "wall-clock-timer": "step = jax.jit(lambda x: x @ x)\nx = jnp.ones((500, 500))\nstep(x)\nCODE",
}
CONTEXTS = {name: IMPORTS + context for name, context in _CONTEXTS.items()} | {
    "late-setting": "CODE",  # it is about the order of imports
}
