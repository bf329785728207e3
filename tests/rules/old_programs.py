"""Whole programs in the manner of 2020 to 2023, in the spellings that people use, for the test of the command line.

Each leaves something in `result`. LEFT_ALONE are programs that use nothing that went, or guard the use.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "config": """\
from jax.config import config
config.update("jax_enable_x64", True)
config.update("jax_debug_nans", True)
config.enable_omnistaging()
import jax.numpy as jnp
result = jnp.ones(2).dtype.itemsize
""",
    "config2": """\
import jax
import jax.numpy as jnp
from jax import config as jconfig
import jax.config
jax.config.config.update("jax_enable_x64", True)
jax.config.update("jax_platform_name", "cpu")
jconfig.update("jax_numpy_rank_promotion", "allow")
config = jax.config.config
config.parse_flags_with_absl()
result = jnp.ones(2).dtype.itemsize
""",
    "flax_frozen": """\
import jax, jax.numpy as jnp
from flax.core import freeze, unfreeze, FrozenDict
from flax import linen as nn
import flax
m = nn.Dense(3)
variables = m.init(jax.random.PRNGKey(0), jnp.ones((1, 2)))
params = variables["params"]
variables2, p = flax.core.pop(variables, "params") if False else (None, params)
params = unfreeze(params)
params["bias"] = jnp.ones(3)
params = freeze(params)
params = params.copy({"bias": jnp.zeros(3)})
result = jax.tree_map(jnp.shape, params)["kernel"]
""",
    "haiku_ds": """\
import haiku as hk
import jax, jax.numpy as jnp
import optax
def f(x):
    return hk.nets.MLP([4, 2])(x)
net = hk.without_apply_rng(hk.transform(f))
p = net.init(jax.random.PRNGKey(42), jnp.ones((1, 3)))
p = hk.data_structures.to_immutable_dict(p)
mp = hk.data_structures.to_mutable_dict(p)
trainable, frozen = hk.data_structures.partition(lambda m, n, v: n == "w", mp)
merged = hk.data_structures.merge(trainable, frozen)
p2 = jax.tree_map(lambda x: x * 2, merged)
result = sorted(p2)
""",
    "hcb": """\
import jax
import jax.numpy as jnp
from jax.experimental import host_callback as hcb

def log(arg, transform):
    step, loss = arg
    print("step", step, "loss", loss)

@jax.jit
def train(x):
    def body(i, x):
        x = x * 0.9
        hcb.id_tap(log, (i, x.sum()))
        return x
    y = jax.lax.fori_loop(0, 3, body, x)
    y = hcb.id_print(y, what="final")
    return y
result = train(jnp.ones(3))
hcb.barrier_wait()
""",
    "hcb_call": """\
import jax, numpy as np
import jax.numpy as jnp
import jax.experimental.host_callback as host_callback
from jax.experimental.host_callback import call, id_tap

def host_eig(m):
    return np.linalg.eigvalsh(np.asarray(m))

@jax.jit
def eigs(m):
    return call(host_eig, m, result_shape=jax.ShapeDtypeStruct(m.shape[:-1], m.dtype))

@jax.jit
def g(x):
    x = id_tap(lambda v, t: print("x is", v), x)
    host_callback.id_tap(lambda v, _: None, x, result=None)
    host_callback.id_print(x, where="g")
    return host_callback.call(lambda v: v * 2, x, result_shape=x)
result = [eigs(jnp.eye(3)), g(jnp.ones(2))]
""",
    "index_update_loop": """\
import jax.numpy as np
from jax import ops, jit
import jax
@jit
def f(n):
    x = np.zeros((5, 5))
    for i in range(5):
        x = ops.index_update(x, ops.index[i, :i], i)
        x = jax.ops.index_add(x, (i, slice(None)), 1.)
        x = jax.ops.index_update(x, jax.ops.index[:, -1], np.arange(5.))
    x = ops.index_mul(x, jax.ops.index[0], 2.0)
    x = ops.index_min(x, (0, 1), -1.0)
    x = jax.ops.index_update(x, (np.array([0]), np.array([1])), 0., indices_are_sorted=False, unique_indices=True)
    return x
result = f(1)
""",
    "key": """\
import jax
from jax import random
from jax.random import PRNGKey
rng: random.KeyArray = PRNGKey(0)
def init(key: jax.random.KeyArray, shape) -> jax.interpreters.xla.DeviceArray:
    return jax.random.normal(key, shape)
perm = jax.random.shuffle(rng, jax.numpy.arange(5))
result = init(rng, (2,)).shape
""",
    "linear_util": """\
import jax
from jax import linear_util as lu
from jax import core
from jax.util import partial, safe_map, unzip2, split_list
from jax.api_util import flatten_fun
from jax.interpreters import partial_eval as pe, xla, ad, batching
from jax.abstract_arrays import ShapedArray, raise_to_shaped
from jax import api, lax
import numpy as np
p = core.Primitive("foo")
p.def_impl(lambda x: x)
p.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
f = lu.wrap_init(lambda x: (x + 1,))
result = [f.call_wrapped(1), safe_map(lambda a: a, [1]), partial(lambda a, b: a, 1)(2)]
""",
    "multiline_import": """\
from jax import (
    jit,  # compiles
    tree_map,
    tree_util,  # trees
    tree_flatten,
    tree_unflatten, random,
)
import jax.numpy as np, jax.experimental.stax as stax, jax.experimental.optimizers as optimizers
l, t = tree_flatten({"a": 1})
result = tree_unflatten(t, tree_map(lambda x: x + 1, l))["a"]
""",
    "multimap": """\
import jax
from jax import tree_util, numpy as jnp
from jax.tree_util import tree_multimap, tree_map
from jax import tree_multimap as tmm
a = {"x": 1., "y": (2., 3.)}
b = tree_util.tree_multimap(lambda p, q: p + q, a, a)
c = tree_multimap(jnp.add, a, b)
d = tmm(jnp.subtract, c, a)
e = jax.tree_util.tree_multimap(lambda *xs: sum(xs), a, b, c)
result = jax.tree_leaves(jax.tree_map(float, [b, d, e]))
""",
    "nn": """\
import jax, jax.numpy as jnp
from jax import nn
from jax.nn import normalize, initializers
from jax.scipy.special import logsumexp
from jax.scipy.linalg import tril, solve
from jax.scipy import integrate
w = jax.nn.initializers.kaiming_normal()(jax.random.PRNGKey(0), (2, 2))
x = solve(jnp.eye(2), jnp.ones(2), sym_pos=True)
y = jnp.linalg.norm(w)
q = jnp.quantile(w, 0.5, interpolation="nearest")
p = jnp.percentile(w, 50, interpolation="linear")
s = jnp.linalg.matrix_rank(w, tol=1e-3)
r = jnp.linalg.pinv(w, rcond=1e-3)
result = x
""",
    "numpy_names": """\
import jax.numpy as jnp
from jax.numpy import row_stack as rs, trapz, in1d

x = jnp.arange(6.0)
a = in1d(x, jnp.array([1.0, 2.0]))
b = trapz(x), jnp.trapz(x)
c = rs([x, x])
d = jnp.product(x), jnp.cumproduct(x), jnp.sometrue(x), jnp.alltrue(x)
e = jnp.round_(x), jnp.clip(x, a_min=0, a_max=1), jnp.clip(x, 0, a_max=1)
result = [a, b, c]
""",
    "ode": """\
import jax.numpy as jnp
from jax.experimental.ode import odeint
from jax import jit, vmap
import jax
f = lambda y, t, k: -k * y
result = odeint(f, jnp.array(1.), jnp.linspace(0., 1., 3), 2.0, rtol=1e-6)
""",
    "optax_old": """\
import optax, jax, jax.numpy as jnp
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.additive_weight_decay(1e-4), optax.scale_by_schedule(optax.polynomial_schedule(-1e-3, 0., 1, 10)))
p = {"w": jnp.ones(3)}
s = tx.init(p)
u, s = tx.update(jax.tree_map(jnp.ones_like, p), s, p)
p = optax.apply_updates(p, u)
result = p["w"]
""",
    "optimizers_alias": """\
import jax.experimental.optimizers as opt
import jax.experimental.stax as st
import jax.numpy as np
import jax
init, apply = st.serial(st.Conv(4, (3, 3)), st.BatchNorm(), st.Relu, st.Flatten, st.Dense(2, W_init=jax.nn.initializers.glorot_normal()))
oi, ou, gp = opt.adam(step_size=opt.exponential_decay(1e-3, 10, 0.9))
_, p = init(jax.random.PRNGKey(0), (2, 8, 8, 1))
s = oi(p)
g = jax.grad(lambda p: np.sum(apply(p, np.ones((2, 8, 8, 1)))))(p)
g = opt.clip_grads(g, 1.0)
result = jax.tree_util.tree_leaves(gp(ou(0, g, s)))[0].shape
""",
    "partial_util": """\
from jax import partial, jit, vmap
from jax.util import partial as p2
import jax.numpy as np
@partial(jit, static_argnums=(1,))
def f(x, n):
    return x * n
result = f(np.ones(2), 3)
""",
    "pjit_mesh": """\
import numpy as np, jax, jax.numpy as jnp
from jax.experimental import maps
from jax.experimental import PartitionSpec as P
from jax.experimental.pjit import pjit
from jax.experimental.maps import Mesh, xmap
mesh_shape = (1, 1)
devices = np.asarray(jax.devices()[:1]).reshape(*mesh_shape)
mesh = maps.Mesh(devices, ("x", "y"))
def f(a):
    return a * 2
g = pjit(f, in_axis_resources=P("x", "y"), out_axis_resources=P("x", None))
with mesh:
    result = g(jnp.ones((2, 2)))
""",
    "pmap_repl": """\
import functools
import jax
from jax import lax, pmap
import jax.numpy as jnp
n = jax.local_device_count()
params = {"w": jnp.ones((3,)), "b": jnp.zeros(())}
devices = jax.local_devices()
rep = jax.device_put_replicated(params, devices)

@functools.partial(pmap, axis_name="batch", donate_argnums=(0,))
def step(p, x):
    g = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(p)
    g = lax.pmean(g, "batch")
    return jax.tree_multimap(lambda p, g: p - 0.1 * g, p, g)
batch = jax.device_put_sharded([jnp.ones((4, 3))] * n, jax.local_devices())
rep = step(rep, batch)
result = jax.tree_map(lambda x: x[0], rep)["w"]
""",
    "shims": """\
import jax
try:
    from jax.tree_util import tree_multimap
except ImportError:
    from jax.tree_util import tree_map as tree_multimap
if hasattr(jax, "tree_map"):
    tmap = jax.tree_map
else:
    tmap = jax.tree_util.tree_map
if jax.__version_info__ < (0, 4, 26):
    leaves = jax.tree_leaves
else:
    leaves = jax.tree_util.tree_leaves
try:
    import jax.experimental.host_callback as hcb
except ModuleNotFoundError:
    hcb = None
result = tree_multimap(lambda a, b: a + b, [1], [2])
""",
    "soft_pmap_etc": """\
import jax, jax.numpy as jnp
from jax import soft_pmap, mask, shapecheck, host_id, host_count
from jax import custom_transforms, defjvp, defvjp
print(jax.host_id(), host_count(), jax.host_ids())
result = jax.process_index()
""",
    "sparse": """\
import jax, jax.numpy as jnp
from jax.experimental import sparse
from jax.experimental.sparse import BCOO
M = sparse.BCOO.fromdense(jnp.eye(3))
v = jnp.ones(3)
result = (M @ v)
""",
    "star": """\
from jax.experimental.stax import *
from jax.experimental.optimizers import *
import jax
init_fun, apply_fun = serial(Dense(2), Relu)
_, p = init_fun(jax.random.PRNGKey(0), (1, 2))
a, b, c = sgd(0.1)
result = c(a(p))[0][0].shape
""",
    "stax_mnist": """\
import time
import itertools
import numpy.random as npr
import jax.numpy as jnp
from jax import jit, grad, random
from jax.experimental import optimizers
from jax.experimental import stax
from jax.experimental.stax import Dense, Relu, LogSoftmax

init_random_params, predict = stax.serial(Dense(16), Relu, Dense(10), LogSoftmax)

def loss(params, batch):
    inputs, targets = batch
    preds = predict(params, inputs)
    return -jnp.mean(jnp.sum(preds * targets, axis=1))

opt_init, opt_update, get_params = optimizers.momentum(0.1, mass=0.9)

@jit
def update(i, opt_state, batch):
    params = get_params(opt_state)
    return opt_update(i, grad(loss)(params, batch), opt_state)

_, init_params = init_random_params(random.PRNGKey(0), (-1, 8))
opt_state = opt_init(init_params)
x = npr.RandomState(0).randn(4, 8); y = npr.RandomState(1).randn(4, 10)
for i in range(3):
    opt_state = update(i, opt_state, (x, y))
result = loss(get_params(opt_state), (x, y))
""",
    "xla_computation": """\
import jax
import jax.numpy as jnp
from jax import xla_computation as xc
from jax.lib import xla_bridge

def f(x):
    return jnp.sin(x)

text = jax.xla_computation(f)(1.0).as_hlo_text()
platform = xla_bridge.get_backend().platform
count = jax.lib.xla_bridge.device_count()
result = len(xc(f)(1.0).as_hlo_text()) > 5
""",
}
LEFT_ALONE = ("ode", "shims", "sparse")
