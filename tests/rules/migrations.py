"""Programs for old releases of JAX, one or more for each rewrite that users meet, and what they compute there.

`make migrations` runs them on the old releases and writes what they gave to migrations.json. A program leaves its answer in
`result`; one without a release is too old for the package index, and what it computed is stated.
"""

from __future__ import annotations

# name -> (release of jax that runs it, source)
PROGRAMS: dict[str, tuple[str, str]] = {
    "jax.tree_map": ("0.4.13", "import jax\nresult = jax.tree_map(lambda x, y: x + y, {'a': 1}, {'a': 2})['a']\n"),
    "jax.tree_leaves": ("0.4.13", "from jax import tree_leaves\nresult = tree_leaves({'b': 1, 'a': (2, 3)})\n"),
    "jax.tree_flatten": (
        "0.4.13",
        "import jax\nleaves, tree = jax.tree_flatten({'b': 1, 'a': (2, 3)})\n"
        "result = [leaves, jax.tree_leaves(jax.tree_unflatten(tree, [x * 2 for x in leaves]))]\n",
    ),
    "jax.tree_structure": ("0.4.13", "import jax\nresult = jax.tree_structure([1, (2, 3)]).num_leaves\n"),
    "jax.tree_transpose": (
        "0.4.13",
        "import jax\nouter, inner = jax.tree_structure([0, 0]), jax.tree_structure((0, 0))\n"
        "result = jax.tree_leaves(jax.tree_transpose(outer, inner, [(1, 2), (3, 4)]))\n",
    ),
    "jax.experimental.shard_map": (
        "0.4.30",
        "import jax, numpy as np\nimport jax.numpy as jnp\nfrom jax.experimental.shard_map import shard_map\n"
        "from jax.sharding import Mesh, PartitionSpec as P\nmesh = Mesh(np.array(jax.devices()[:1]), ('x',))\n"
        "f = shard_map(lambda v: jax.lax.psum(v.sum(), 'x'), mesh, P('x'), P(), check_rep=False)\nresult = f(jnp.arange(4.0))\n",
    ),
    "jax.interpreters.batching.not_mapped": (
        "0.4.30",
        "import jax\nfrom jax.interpreters import batching\naxes = [0, batching.not_mapped]\n"
        "result = jax.vmap(lambda x, y: x + y, in_axes=tuple(axes))(jax.numpy.arange(3), 1)\n",
    ),
    "jax.experimental.pjit.pjit": (
        "0.4.30",
        "import jax\nfrom jax.experimental.pjit import pjit\nresult = pjit(lambda x, n: x * n, static_argnums=1)(3.0, 2)\n",
    ),
    "jax.experimental.pjit.with_sharding_constraint": (
        "0.4.13",
        "import jax, numpy as np\nfrom jax.experimental.pjit import with_sharding_constraint\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "sharding = NamedSharding(Mesh(np.array(jax.devices()[:1]), ('x',)), P('x'))\n"
        "result = jax.jit(lambda x: with_sharding_constraint(x, sharding) * 2)(np.arange(3.0))\n",
    ),
    "jax.config.config": (
        "0.4.13",
        "from jax.config import config\nimport jax.numpy as jnp\nconfig.update('jax_numpy_rank_promotion', 'allow')\n"
        "result = (jnp.ones(3) + jnp.ones((2, 3))).sum()\n",
    ),
    "jax.core.JaxprEqn and Var": (
        "0.4.30",
        "import jax\nfrom jax import core\njaxpr = jax.make_jaxpr(lambda x: x + 1)(1.0)\neqn = jaxpr.jaxpr.eqns[0]\n"
        "result = [isinstance(eqn, core.JaxprEqn), isinstance(eqn.outvars[0], core.Var), isinstance(jaxpr, core.ClosedJaxpr),"
        " isinstance(eqn.invars[1], core.Literal)]\n",
    ),
    "jax.core.Primitive": (
        "0.4.30",
        "from jax.core import Primitive\np = Primitive('double')\np.def_impl(lambda x: 2 * x)\nresult = p.bind(4)\n",
    ),
    "jax.core.get_aval": ("0.4.30", "import jax\nresult = jax.core.get_aval(jax.numpy.ones((2, 3))).shape\n"),
    "jax.ShapedArray": ("0.4.13", "import jax, numpy as np\nresult = jax.ShapedArray((2, 3), np.dtype('float32')).size\n"),
    "jax.util.safe_map": (
        "0.4.30",
        "from jax.util import safe_map, safe_zip\nresult = safe_map(lambda x, y: x * y, [1, 2], [3, 4]) + list(safe_zip([1], [2])[0])\n",
    ),
    "jax.lib.xla_bridge.get_backend": (
        "0.4.30",
        "from jax.lib import xla_bridge\nresult = xla_bridge.get_backend().platform\n",
    ),
    "jax.experimental.enable_x64": (
        "0.4.30",
        "import jax.numpy as jnp\nfrom jax.experimental import enable_x64\nwith enable_x64():\n    result = jnp.ones(3).dtype.itemsize\n",
    ),
    "jax.experimental.maps.thread_resources": (
        "0.4.13",
        "from jax.experimental import maps\nresult = maps.thread_resources.env.physical_mesh.empty\n",
    ),
    "jax.experimental.maps.Mesh": (
        "",
        "import jax, numpy as np\nfrom jax.experimental.maps import Mesh\nresult = Mesh(np.array(jax.devices()[:1]), ('a',)).shape['a']\n",
    ),
    "jax.device_put_sharded": (
        "0.4.30",
        "import jax\nimport jax.numpy as jnp\nx = jax.device_put_sharded([{'a': jnp.arange(3)}], jax.devices()[:1])\n"
        "result = [x['a'], jax.pmap(lambda v: v['a'] * 2)(x)]\n",
    ),
    "jax.device_put_replicated": (
        "0.4.30",
        "import jax\nimport jax.numpy as jnp\nfrom jax import device_put_replicated\ndevices = jax.local_devices()[:1]\n"
        "x = device_put_replicated({'a': jnp.arange(3), 'b': 1.5}, devices)\nresult = [x['a'], x['b'], jax.pmap(lambda v: v['a'] * 2)(x)]\n",
    ),
    "jax.host_count": ("0.4.13", "import jax\nresult = [jax.host_count(), jax.host_id()]\n"),
    "jax.random.KeyArray": (
        "0.4.13",
        "import jax\ndef draw(key: jax.random.KeyArray) -> jax.Array:\n    return jax.random.uniform(key, (2,))\n"
        "result = draw(jax.random.PRNGKey(1)).shape\n",
    ),
    "jax.numpy.NINF": (
        "0.4.13",
        "import jax.numpy as jnp\nfrom jax.numpy import PZERO\nresult = [jnp.NINF, jnp.maximum(jnp.NINF, 2.0), PZERO]\n",
    ),
    "jax.numpy.clip": (
        "0.4.30",
        "import jax.numpy as jnp\nx = jnp.arange(5)\nresult = [jnp.clip(x, a_min=1), jnp.clip(x, a_min=1, a_max=3), jnp.clip(a=x, a_max=2)]\n",
    ),
    "jax.numpy.reshape": ("0.4.30", "import jax.numpy as jnp\nresult = jnp.reshape(jnp.arange(6), newshape=(2, 3))\n"),
    "jax.numpy.where": (
        "0.4.13",
        "import jax.numpy as jnp\nresult = jnp.where(jnp.array([True, False]), x=jnp.array([1, 2]), y=jnp.array([3, 4]))\n",
    ),
    "jax.numpy.in1d": (
        "0.4.13",
        "import jax.numpy as jnp\nx = jnp.arange(6).reshape(2, 3)\nresult = [jnp.in1d(x, jnp.array([1, 4])), jnp.in1d(ar1=x, ar2=jnp.array([0]), invert=True)]\n",
    ),
    "jax.numpy.trapz": ("0.4.13", "import jax.numpy as jnp\nresult = jnp.trapz(jnp.arange(4.0))\n"),
    "jax.numpy.row_stack": ("0.4.13", "import jax.numpy as jnp\nresult = jnp.row_stack([jnp.arange(2), jnp.arange(2)])\n"),
    "jax.numpy.product": ("0.4.13", "import jax.numpy as jnp\nresult = [jnp.product(jnp.arange(1, 5)), jnp.alltrue(jnp.ones(2))]\n"),
    "jax.numpy.msort": ("", "import jax.numpy as jnp\nresult = jnp.msort(jnp.array([[3, 1], [2, 5]]))\n"),
    "jax.numpy.sort": ("0.4.13", "import jax.numpy as jnp\nresult = jnp.sort(jnp.array([3, 1]), kind='quicksort')\n"),
    "jax.numpy.array": ("0.4.30", "import jax.numpy as jnp\nresult = jnp.array([1, 2], 'float32', True)\n"),
    "jax.lax.dot": (
        "0.4.30",
        "import jax\nresult = jax.lax.dot(jax.numpy.ones(3), jax.numpy.ones(3), jax.lax.Precision.HIGHEST)\n",
    ),
    "jax.scipy.special.sph_harm": (
        "0.4.30",
        "import jax.numpy as jnp\nfrom jax.scipy.special import sph_harm\nm, n = jnp.array([0, 1]), jnp.array([1, 2])\n"
        "y = sph_harm(m, n, jnp.array([0.1, 0.2]), jnp.array([0.3, 0.4]), n_max=2)\nresult = [y.real, y.imag]\n",
    ),
    "jax.scipy.linalg.polar_unitary": (
        "",
        "import jax.numpy as jnp\nfrom jax.scipy import linalg\nresult = linalg.polar_unitary(jnp.array([[2.0, 0.0], [0.0, 3.0]]))\n",
    ),
    "jax.scipy.linalg.solve": (
        "0.4.13",
        "import jax.numpy as jnp\nfrom jax.scipy.linalg import solve\nresult = solve(2 * jnp.eye(2), jnp.ones(2), sym_pos=True)\n",
    ),
    "jax.pure_callback": (
        "0.4.30",
        "import jax, numpy as np\nimport jax.numpy as jnp\n"
        "f = lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vectorized=True)\n"
        "result = jax.vmap(f)(jnp.arange(3.0))\n",
    ),
    "jax.experimental.host_callback.call": (
        "0.4.30",
        "import jax, numpy as np\nimport jax.numpy as jnp\nfrom jax.experimental import host_callback as hcb\n"
        "result = jax.jit(lambda x: hcb.call(np.sin, x, result_shape=jax.ShapeDtypeStruct((3,), x.dtype)))(jnp.arange(3.0))\n",
    ),
    "jax.experimental.host_callback.id_tap": (
        "0.4.30",
        "import jax\nfrom jax.experimental import host_callback\nseen = []\n@jax.jit\ndef f(x):\n"
        "    host_callback.id_tap(lambda value, transforms: seen.append(float(value)), x)\n    return x * 2\n"
        "y = f(3.0)\nhost_callback.barrier_wait()\nresult = [y, seen]\n",
    ),
    "jax.experimental.host_callback.id_print": (
        "0.4.30",
        "import jax\nfrom jax.experimental.host_callback import id_print\n@jax.jit\ndef f(x):\n    id_print(x)\n    return x * 2\nresult = f(3.0)\n",
    ),
    "jax.xla_computation": (
        "0.4.30",
        "import jax\ndef f(x, y):\n    return x + y\ntext = jax.xla_computation(f)(1.0, 2.0).as_hlo_text()\n"
        "make = jax.xla_computation(f)\nresult = ['add(' in text, 'add(' in make(1.0, 2.0).as_hlo_text()]\n",
    ),
    "jax.linear_util.wrap_init": (
        "0.4.13",
        "from jax import linear_util as lu\nresult = lu.wrap_init(lambda x: (x * 2,)).call_wrapped(3)\n",
    ),
    "jax.core.full_lower": ("0.4.30", "import jax\nresult = jax.core.full_lower(jax.numpy.ones(2))\n"),
    "jax.random.threefry2x32_key": ("0.4.13", "import jax\nresult = jax.random.key_data(jax.random.threefry2x32_key(3))\n"),
    "jax.dtypes and ops": (
        "0.4.13",
        "import jax\nfrom jax.abstract_arrays import ShapedArray\nresult = ShapedArray((2,), jax.numpy.dtype('int32')).shape\n",
    ),
    "jax.profiler and flags": (
        "0.4.13",
        "import jax\nfrom jax.config import config\nresult = [config.jax_enable_x64, config.FLAGS.jax_enable_x64]\n",
    ),
    "an option without effect": (
        "0.4.13",
        "import jax\njax.config.update('jax_array', True)\nresult = jax.numpy.ones(2)\n",
    ),
    "jax.sharding.Mesh.__enter__": (
        "0.4.30",
        "import jax, numpy as np\nimport jax.numpy as jnp\nfrom jax.sharding import Mesh, PartitionSpec as P\n"
        "mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ('x', 'y'))\nwith mesh:\n"
        "    result = jax.jit(lambda v: jax.lax.with_sharding_constraint(v * 2, P('x', 'y')))(jnp.ones((2, 2)))\n",
    ),
    "jax.experimental.pjit.pjit in_axis_resources, out_axis_resources": (
        "0.4.13",
        "import jax, numpy as np\nimport jax.numpy as jnp\nfrom jax.experimental.pjit import pjit\n"
        "from jax.sharding import Mesh, PartitionSpec as P\nmesh = Mesh(np.array(jax.devices()[:1]), ('x',))\n"
        "f = pjit(lambda a, b: a + b, in_axis_resources=(P('x'), None), out_axis_resources=P('x'))\n"
        "with mesh:\n    result = f(jnp.arange(4.0), 1.0)\n",
    ),
    "a decorator pjit, and a mesh in a function": (
        "0.4.13",
        "import jax, numpy as np\nfrom functools import partial\nfrom jax.experimental import pjit\n"
        "from jax.sharding import Mesh, PartitionSpec as P\n"
        "@partial(pjit.pjit, in_axis_resources=(P('x'),), out_axis_resources=P('x'), static_argnums=(1,))\ndef f(a, n):\n    return a * n\n"
        "def main():\n    mesh = Mesh(np.array(jax.devices()[:1]), ('x',))\n    with mesh:\n"
        "        return f(np.arange(4.0), 3), mesh.shape['x']\nresult = main()\n",
    ),
    "jax.xla": ("0.4.13", "import jax\nresult = jax.xla.__name__\n"),
    "import jax.config": (
        "0.4.13",
        "import jax.config\njax.config.update('jax_numpy_rank_promotion', 'allow')\n"
        "result = jax.config.jax_numpy_rank_promotion\n",
    ),
    "imports that nothing uses": (
        "0.4.13",
        "import jax\nfrom jax.experimental.maps import SerialLoop, xmap\nimport jax.experimental.maps\n"
        "from jax import xla\nfrom jax.core import ConcreteArray, ShapedArray\nresult = ShapedArray((2,), jax.numpy.dtype('int32')).shape\n",
    ),
    "comments in an import": (
        "0.4.13",
        "from jax import (\n    jit,  # compiles\n    tree_map,\n    numpy as jnp,  # arrays\n)\nresult = jit(lambda t: tree_map(jnp.sin, t))([0.0])\n",
    ),
    "jax.experimental.host_callback.id_print, its result used": (
        "0.4.30",
        "import jax\nfrom jax.experimental import host_callback as hcb\n@jax.jit\ndef f(x):\n    x = hcb.id_print(x, what='x', where='f')\n"
        "    y = 2 * x\n    return hcb.id_print(y, what='y') + 1\nresult = f(3.0)\n",
    ),
    "jax.experimental.host_callback.id_tap, its result used": (
        "0.4.30",
        "import jax\nfrom jax.experimental.host_callback import barrier_wait, id_tap\nseen = []\ndef tap(value, transforms):\n"
        "    seen.append(float(value))\n@jax.jit\ndef f(x):\n    x = id_tap(tap, x)\n    y = x + 1\n    z = id_tap(tap, y, result=x)\n"
        "    id_tap(tap, z, result=None)\n    return 2 * id_tap(tap, y)\ny = f(3.0)\nbarrier_wait()\nresult = [y, sorted(seen)]\n",
    ),
    # Too old to be run here
    "jax.tree_multimap": ("", "import jax\nresult = jax.tree_multimap(lambda x, y: x + y, {'a': 1}, {'a': 2})['a']\n"),
    "jax.tree_util.tree_multimap": (
        "",
        "from jax.tree_util import tree_multimap\nresult = tree_multimap(lambda x, y: x * y, [2, 3], [4, 5])\n",
    ),
    "jax.ops.index_update": (
        "",
        "import jax\nimport jax.numpy as jnp\nfrom jax.ops import index, index_add, index_update\nx = jnp.zeros((2, 3))\n"
        "x = index_update(x, index[0, :], 1.0)\nresult = index_add(x, jax.ops.index[:, 1], 2.0)\n",
    ),
    "jax.ops.index_update, all its arguments": (
        "",
        "from jax import ops\nimport jax.numpy as jnp\n"
        "result = ops.index_update(jnp.zeros(3), ops.index[jnp.array([0, 2])], 1.0, indices_are_sorted=True, unique_indices=True)\n",
    ),
    "jax.config.enable_omnistaging": ("", "from jax.config import config\nconfig.enable_omnistaging()\nresult = config.jax_enable_x64\n"),
    "jax.abstract_arrays.raise_to_shaped": (
        "",
        "import jax\nfrom jax.abstract_arrays import ShapedArray, raise_to_shaped\n"
        "result = raise_to_shaped(ShapedArray((2,), jax.numpy.dtype('int32'))).shape\n",
    ),
    "jax.lib.xla_extension.CpuDevice": (
        "",
        "import jax\nfrom jax.lib.xla_extension import CpuDevice\nresult = isinstance(jax.devices('cpu')[0], CpuDevice)\n",
    ),
    "jax.checkpoint concrete": ("", "import jax\nresult = jax.grad(jax.checkpoint(lambda x: x * x, concrete=False))(3.0)\n"),
    "jax.make_mesh": (
        "",
        "import jax\nimport jax.numpy as jnp\nmesh = jax.make_mesh((1, 1), ('x', 'y'))\nwith mesh:\n    result = jax.jit(jnp.sum)(jnp.ones(3))\n",
    ),
    "jax.experimental.stax, everything": (
        "",
        "from jax.experimental.stax import *\nimport jax\ninit, apply = serial(Dense(3), Relu)\n"
        "result = apply(init(jax.random.PRNGKey(0), (2, 4))[1], jax.numpy.ones((2, 4))).shape\n",
    ),
    "jax.experimental.PartitionSpec": ("", "from jax.experimental import PartitionSpec as P\nresult = tuple(P('x', None))\n"),
    "jax.experimental.pjit.PartitionSpec": ("", "from jax.experimental.pjit import PartitionSpec\nresult = len(PartitionSpec('x'))\n"),
    "jax.numpy.DeviceArray": ("", "import jax.numpy as jnp\ndef f(x: jnp.DeviceArray):\n    return x\nresult = f(jnp.ones(2))\n"),
    "jax.interpreters.xla.DeviceArray": (
        "",
        "from jax.interpreters.xla import DeviceArray\ndef f(x: DeviceArray):\n    return x\nresult = f(3)\n",
    ),
    "jax.experimental.stax, the old place": (
        "",
        "from jax.experimental import stax\nimport jax\ninit, apply = stax.serial(stax.Dense(3), stax.Relu)\n"
        "result = apply(init(jax.random.PRNGKey(0), (2, 4))[1], jax.numpy.ones((2, 4))).shape\n",
    ),
    "jax.experimental.optimizers": (
        "",
        "from jax.experimental import optimizers\nimport jax.numpy as jnp\ninit, update, get = optimizers.sgd(0.5)\n"
        "result = get(update(0, jnp.ones(2), init(jnp.ones(2))))\n",
    ),
    "jax.lax.tie_in": ("", "import jax\nresult = jax.lax.tie_in(1.0, 2.0)\n"),
    "jax.tools.colab_tpu.setup_tpu": (
        "",
        "import jax\nimport jax.tools.colab_tpu\njax.tools.colab_tpu.setup_tpu()\nresult = jax.numpy.ones(2).sum()\n",
    ),
    "jax.core.extract_call_jaxpr and jax.core.unitvar": (
        "",
        "import jax\nfrom jax import core\nenv = {}\ndef write(var, val):\n    env[var] = val\n"
        "write(core.unitvar, core.unit)\nenv[core.unitvar] = core.unit\neqn = jax.make_jaxpr(lambda x: x + 1)(1).jaxpr.eqns[0]\n"
        "inner, params = jax.core.extract_call_jaxpr(eqn.primitive, eqn.params)\nresult = [inner, params is eqn.params, len(env)]\n",
    ),
    "jax.Array, its places": (
        "0.4.13",
        "import jax.numpy as jnp\nx = jnp.arange(4.0)\n"
        "result = [x.device().platform, x.device_buffer, x.device_buffers, (x + 1).broadcast((2,)), x.sort(kind='stable')]\n",
    ),
    "jax.Array.to_py and its like": (
        "",
        "import jax.numpy as jnp\ndef f(x: jnp.ndarray):\n    return [(x * 2).to_py(), x.block_host_until_ready(), x.tile(2), x.split(2)]\n"
        "result = f(jnp.arange(4.0))\n",
    ),
    "jax.stages and jax.export": (
        "",
        "import jax\nimport jax.numpy as jnp\nfrom jax import export\nlowered = jax.jit(jnp.sin).lower(jnp.ones(2))\n"
        "one = export.export(jax.jit(jnp.sin))(jnp.ones(2))\n"
        "result = ['stablehlo' in str(lowered.compiler_ir('stablehlo')), one.lowering_platforms, one.uses_shape_polymorphism]\n",
    ),
    "jax.random.PRNGKeyArray.unsafe_raw_array": ("", "import jax\nresult = jax.random.key(7).unsafe_raw_array()\n"),
}  # fmt: skip
STATED: dict[str, object] = {
    "jax.tree_multimap": 3,
    "jax.tree_util.tree_multimap": [8, 15],
    "jax.ops.index_update": [[1, 3, 1], [0, 2, 0]],
    "jax.ops.index_update, all its arguments": [1, 0, 1],
    "jax.config.enable_omnistaging": False,
    "jax.abstract_arrays.raise_to_shaped": [2],
    "jax.lib.xla_extension.CpuDevice": True,
    "jax.checkpoint concrete": 6.0,
    "jax.make_mesh": 3.0,
    "jax.experimental.stax, everything": [2, 3],
    "jax.experimental.PartitionSpec": ["x", None],
    "jax.experimental.pjit.PartitionSpec": 1,
    "jax.numpy.DeviceArray": [1, 1],
    "jax.interpreters.xla.DeviceArray": 3,
    "jax.experimental.stax, the old place": [2, 3],
    "jax.experimental.optimizers": [0.5, 0.5],
    "jax.lax.tie_in": 2.0,
    "jax.numpy.msort": [[2, 1], [3, 5]],
    "jax.scipy.linalg.polar_unitary": [[1.0, 0.0], [0.0, 1.0]],
    "jax.experimental.maps.Mesh": 1,
    "jax.tools.colab_tpu.setup_tpu": 2.0,
    "jax.core.extract_call_jaxpr and jax.core.unitvar": [None, True, 0],
    "jax.stages and jax.export": [True, ["cpu"], False],
    "jax.random.PRNGKeyArray.unsafe_raw_array": [0, 7],
    "jax.Array.to_py and its like": [[0, 2, 4, 6], [0, 1, 2, 3], [0, 1, 2, 3, 0, 1, 2, 3], [[0, 1], [2, 3]]],
}
