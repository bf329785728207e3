"""Facts about external functions: which only compute, which call their arguments, and what methods do."""

from __future__ import annotations

# Functions of these modules return a value without side effects, unless they are named below.
_COMPUTE = (
    "jax.numpy.", "jax.nn.", "jax.lax.", "jax.random.", "jax.scipy.", "jax.tree.", "jax.tree_util.", "jax.ops.", "jax.image.",
    "jax.dtypes.", "jax.sharding.", "jax.flatten_util.", "jax.custom_derivatives.", "optax.", "math.", "cmath.", "operator.", "itertools.",
    "functools.", "collections.", "dataclasses.", "copy.", "typing.", "typing_extensions.", "numbers.", "fractions.", "statistics.",
    "enum.", "abc.", "types.", "numpy.", "scipy.", "flax.linen.", "flax.core.", "flax.struct.", "flax.traverse_util.",
    "flax.training.train_state.", "flax.training.common_utils.", "equinox.", "haiku.", "rlax.", "distrax.", "einops.", "jaxtyping.",
    "jmp.", "lineax.", "argparse.Namespace",
)  # fmt: skip
_ACT = (
    "jax.numpy.save", "jax.numpy.load", "jax.numpy.fromfile", "jax.numpy.set_printoptions", "jax.numpy.printoptions",
    "functools.lru_cache", "functools.cache", "functools.cached_property", "functools.singledispatch", "functools.total_ordering",
    "numpy.random.", "numpy.save", "numpy.load", "numpy.genfromtxt", "numpy.from", "numpy.memmap", "numpy.copyto", "numpy.put",
    "numpy.place", "numpy.putmask", "numpy.fill_diagonal", "numpy.set", "numpy.errstate", "numpy.printoptions", "numpy.nditer",
    "numpy.lib.", "numpy.testing.", "numpy.ctypeslib.", "numpy.vectorize", "numpy.frompyfunc", "numpy.apply_", "numpy.piecewise",
    "scipy.io.", "scipy.optimize.", "scipy.integrate.", "equinox.debug.", "equinox.tree_serialise", "equinox.tree_deserialise",
    "equinox.internal.", "equinox.clear_caches", "equinox.noinline", "haiku.experimental.", "haiku.set_state", "haiku.get_state",
    "haiku.testing.", "collections.abc.", "itertools.tee", "types.coroutine", "operator.setitem", "operator.delitem", "operator.i",
    "operator.call", "operator.methodcaller", "math.random", "optax.contrib.", "flax.linen.tabulate", "flax.linen.summary",
    "statistics.NormalDist", "copy.replace", "jax.tree_util.register", "jax.tree.register", "dataclasses.field",
    "copy.copy", "enum.auto",
)  # fmt: skip
_STILL_COMPUTE = frozenset(
    {
        "numpy.frombuffer", "numpy.fromiter", "numpy.fromfunction", "numpy.setdiff1d", "numpy.setxor1d", "operator.itemgetter",
        "operator.index", "operator.is_", "operator.is_not", "operator.inv", "operator.invert", "copy.copy", "dataclasses.field",
    }
)  # fmt: skip
# They return NumPy arrays, or a file of such arrays.
READERS = frozenset(
    {"numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile", "numpy.fromregex", "numpy.memmap"}
)
_JAX = frozenset(
    """jax.Array jax.ShapeDtypeStruct jax.device_put jax.typeof jax.device_count jax.local_device_count jax.default_backend
    jax.devices jax.local_devices jax.named_scope jax.block_until_ready jax.process_index jax.process_count jax.eval_shape
    jax.ensure_compile_time_eval jax.make_jaxpr jax.closure_convert jax.default_matmul_precision""".split()  # noqa: SIM905
)
# Transformations: their result is called like the original function.
TRANSFORMS = frozenset(
    """jax.jit jax.vmap jax.pmap jax.grad jax.value_and_grad jax.jacfwd jax.jacrev jax.jacobian jax.hessian jax.checkpoint jax.remat
    jax.named_call jax.custom_jvp jax.custom_vjp jax.linearize jax.custom_gradient jax.ad_checkpoint.checkpoint functools.partial
    functools.wraps jax.shard_map jax.experimental.shard_map.shard_map jax.tree_util.Partial equinox.filter_jit equinox.filter_grad
    equinox.filter_value_and_grad equinox.filter_vmap equinox.filter_checkpoint equinox.filter_jacfwd equinox.filter_jacrev
    equinox.filter_hessian flax.nnx.jit flax.nnx.grad flax.nnx.value_and_grad flax.nnx.vmap flax.nnx.remat flax.nnx.checkpoint
    jax.custom_derivatives.custom_jvp jax.custom_derivatives.custom_vjp flax.linen.remat flax.linen.checkpoint flax.linen.jit
    flax.linen.vmap flax.linen.scan haiku.remat haiku.vmap haiku.transform haiku.without_apply_rng haiku.transform_with_state
    haiku.transparent haiku.grad haiku.value_and_grad flax.linen.compact flax.linen.nowrap equinox.Partial
    jax.numpy.vectorize""".split()  # noqa: SIM905
)
GRADIENTS = frozenset(
    """jax.grad jax.value_and_grad equinox.filter_grad equinox.filter_value_and_grad flax.nnx.grad flax.nnx.value_and_grad
    haiku.grad haiku.value_and_grad jax.jacfwd jax.jacrev jax.hessian jax.jacobian""".split()  # noqa: SIM905
)
# Those after which the arguments of a function are tracers.
STAGING = frozenset({"jax.jit", "jax.pmap", "equinox.filter_jit", "flax.nnx.jit", "flax.linen.jit"})
# Functions that call their function argument at once, with parts of their other arguments.
CALLERS = frozenset(
    """jax.tree.map jax.tree_util.tree_map jax.tree_util.tree_map_with_path jax.tree.map_with_path jax.lax.scan jax.lax.map
    jax.lax.fori_loop jax.lax.while_loop jax.lax.cond jax.lax.switch jax.lax.reduce jax.lax.associative_scan jax.lax.custom_root
    jax.lax.custom_linear_solve jax.jvp jax.vjp jax.eval_shape jax.make_jaxpr jax.tree.reduce jax.tree_util.tree_reduce functools.reduce
    jax.numpy.apply_along_axis jax.numpy.apply_over_axes jax.numpy.fromfunction jax.numpy.piecewise map filter
    sorted min max jax.tree.leaves jax.tree_util.tree_leaves jax.tree.flatten jax.tree_util.tree_flatten jax.tree.transpose
    jax.tree.all equinox.filter equinox.tree_at equinox.partition equinox.filter_eval_shape equinox.filter_jvp equinox.filter_vjp
    flax.linen.cond flax.linen.while_loop haiku.scan haiku.cond haiku.fori_loop haiku.while_loop itertools.accumulate
    itertools.starmap itertools.takewhile itertools.dropwhile itertools.groupby flax.traverse_util.path_aware_map
    jax.scipy.optimize.minimize jax.closure_convert jax.linear_transpose jax.lax.platform_dependent
    numpy.fromfunction""".split()  # noqa: SIM905
)
# Builtins that compute.
BUILTINS = frozenset(
    """abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float format frozenset hasattr hash hex
    int isinstance issubclass len list map max min object oct ord pow range repr reversed round set slice sorted str sum tuple type
    zip super bytearray memoryview property staticmethod classmethod NotImplementedError ValueError TypeError RuntimeError KeyError
    IndexError AssertionError AttributeError ArithmeticError FloatingPointError ZeroDivisionError OverflowError Exception
    NotImplemented Ellipsis""".split()  # noqa: SIM905
)
# Methods that change the object or act. Other methods of arrays, strings and containers are harmless.
CHANGING = frozenset(
    """append extend insert pop popitem remove clear setdefault update add discard sort reverse appendleft popleft extendleft rotate
    write writelines send throw close flush fill put itemset resize partition setflags tofile dump byteswap intersection_update
    difference_update symmetric_difference_update move_to_end subtract __setitem__ __delitem__ __setattr__ __iadd__
    popleft setfield""".split()  # noqa: SIM905
)
CONTAINER_METHODS = frozenset(
    """get items keys values copy index count union intersection difference symmetric_difference issubset issuperset isdisjoint
    fromkeys unfreeze most_common elements _replace _asdict""".split()  # noqa: SIM905
)
# Methods that only compute, on any object.
HARMLESS_METHODS = frozenset(
    """all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten item items keys max mean min
    nonzero prod ravel repeat replace reshape round squeeze std sum swapaxes take tolist trace transpose values var apply_gradients
    _replace _asdict""".split()  # noqa: SIM905
)
# Methods of library objects that only compute: optimisers, models, distributions, states.
OBJECT_METHODS = frozenset(
    """init update apply sample log_prob prob entropy mode kl_divergence sample_and_log_prob replace apply_gradients _replace
    init_with_output bind unbind create parameters mean variance stddev cdf apply_fn lower trace_state""".split()  # noqa: SIM905
)
# Libraries whose objects are immutable.
FROZEN = ("optax.", "flax.linen.", "haiku.", "jax.", "equinox.", "distrax.", "jmp.", "re.", "lineax.", "numpy.dtype", "numpy.float",
          "numpy.int", "numpy.uint", "numpy.bool", "numpy.finfo", "numpy.iinfo", "numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "math.",
          "numpy.newaxis", "typing.", "fractions.Fraction", "pathlib.", "logging.getLogger", "collections.namedtuple", "enum.", "flax.struct.",
          "flax.core.freeze", "types.MappingProxyType", "numpy.complex")  # fmt: skip
STATE_MODULES = ("flax.nnx.", "flax.experimental.nnx.")
# Functions of flax.nnx without side effects.
_NNX = frozenset(
    """relu gelu silu swish sigmoid tanh softmax log_softmax softplus elu selu leaky_relu one_hot max_pool avg_pool pool standardize
    dot_product_attention split merge state graphdef clone celu glu hard_tanh logsumexp relu6 swish
    make_causal_mask make_attention_mask combine_masks""".split()  # noqa: SIM905
)


def computes(name: str) -> bool:
    """Whether the external function `name` (canonical) returns a value without side effects."""
    if name in TRANSFORMS or name in CALLERS or name in _JAX or name in _STILL_COMPUTE:
        return True
    if name.startswith("flax.nnx."):
        return name.removeprefix("flax.nnx.") in _NNX
    if name.startswith("chex."):
        return name.startswith(("chex.assert_rank", "chex.assert_shape", "chex.assert_equal_shape", "chex.assert_type",
                                "chex.assert_axis", "chex.assert_tree_s", "chex.Array", "chex.PRNGKey"))  # fmt: skip
    if name.startswith(_ACT):
        return False
    return name.startswith(_COMPUTE)


def makes_nnx(name: str) -> bool:
    """Whether `name` (canonical) is a class of flax.nnx: a layer, a variable, the random streams, an optimiser."""
    package, _, own = name.rpartition(".")
    return f"{package}." in STATE_MODULES and own[:1].isupper() and own not in _NNX_OTHERS


_NNX_OTHERS = frozenset(
    {"A", "M", "Data", "Static", "Initializer", "PureState", "PARTITION_NAME"}
)  # names of types


def gives_array(name: str) -> bool:
    """Whether the external function `name` returns one JAX array for any arguments."""
    from jaxlint.jaxapi.functions import returns_array

    if name.startswith("optax.") and name.removeprefix("optax.") in _LOSSES:
        return True
    return returns_array(name) or name.startswith(("jax.scipy.", "rlax.")) or name == "optax.global_norm"


_LOSSES = frozenset(
    """l2_loss squared_error huber_loss softmax_cross_entropy softmax_cross_entropy_with_integer_labels sigmoid_binary_cross_entropy
    cosine_similarity cosine_distance log_cosh hinge_loss kl_divergence ctc_loss smooth_labels global_norm
    safe_int32_increment""".split()  # noqa: SIM905
)
# Numbers of Python.
CONSTANTS = frozenset(
    f"{module}.{name}"
    for module in ("math", "numpy", "jax.numpy")
    for name in ("pi", "e", "inf", "nan", "tau", "euler_gamma")
)
