"""State changes of library calls: which modules of flax, haiku and equinox only read, and which functions draw or
store.

The tables name what certainly changes nothing. A module that they do not name counts as changing its state.
"""

from __future__ import annotations

import ast

# Kinds of annotations that mean data.
DATA_TYPES = frozenset(
    {"Array", "ndarray", "ArrayLike", "Float", "Int", "float", "int", "bool", "str", "complex"}
)
STREAM = "flax.nnx.RngStream"
STREAMS = frozenset({"flax.nnx.Rngs", STREAM, "haiku.PRNGSequence"})
# Methods that receive all the state that they change, and return it.
FUNCTIONAL = frozenset({"apply", "init", "init_with_output", "lazy_init", "tabulate"})
# Methods of arrays, distributions and optimisers without side effects.
ARRAY_METHODS = frozenset(
    """all any argmax argmin argsort astype at clip conj conjugate copy cumprod cumsum diagonal dot flatten item max mean min
    nonzero prod ravel real imag repeat reshape round searchsorted squeeze std sum swapaxes take tolist trace transpose var view
    set add multiply divide power get apply block_until_ready addressable_data to_device
    keys values items index count startswith endswith split join format lower upper strip replace
    log_prob entropy sample sample_and_log_prob update""".split()  # noqa: SIM905
)
_KNOWN = (
    "jax.",
    "jaxlib.",
    "numpy.",
    "scipy.",
    "flax.",
    "haiku.",
    "equinox.",
    "optax.",
    "chex.",
    "einops.",
    "jaxtyping.",
)
_STANDARD = (
    "functools.",
    "math.",
    "operator.",
    "itertools.",
    "typing.",
    "collections.",
    "dataclasses.",
    "tqdm.",
    "abc.",
    "time.",
)
_FRAMEWORKS = ("flax.nnx", "flax.linen", "haiku", "equinox")
_TRANSFORMATIONS = frozenset(
    """jit vmap pmap grad value_and_grad jacfwd jacrev jacobian hessian checkpoint remat partial wraps cached_partial
    filter_jit filter_vmap filter_grad filter_value_and_grad filter_checkpoint custom_vjp custom_jvp shard_map
    linearize named_call lru_cache cache""".split()  # noqa: SIM905
)
_MERGING = frozenset({"merge", "combine"})
_BASES = frozenset(
    {
        "Module",
        "RNNCellBase",
        "RNNCore",
        "Pytree",
        "Object",
        "ABC",
        "Generic",
        "Protocol",
        "NamedTuple",
        "object",
    }
)
_CONTAINERS = frozenset({"List", "Dict", "Sequence"})
_PARTS = frozenset(
    {"Sequential", "RNN", "Bidirectional", "DeepRNN", "BatchApply", "ResetCore", "IdentityCore"}
)

_READING = {
    "flax.nnx": frozenset(
        """Linear LinearGeneral Einsum Embed Conv ConvTranspose LayerNorm RMSNorm GroupNorm InstanceNorm LoRA LoRALinear
        GRUCell LSTMCell OptimizedLSTMCell SimpleCell PReLU WeightNorm Param Variable BatchStat Cache Sequential List Dict
        State GraphDef""".split()  # noqa: SIM905
    ),
    "flax.linen": frozenset(
        """Dense DenseGeneral Einsum Embed Conv ConvTranspose ConvLocal LayerNorm RMSNorm GroupNorm InstanceNorm GRUCell
        LSTMCell OptimizedLSTMCell SimpleCell MGUCell ConvLSTMCell PReLU Sequential WeightNorm""".split()  # noqa: SIM905
    ),
    "haiku": frozenset(
        """Linear Bias Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose ConvND ConvNDTranspose
        DepthwiseConv1D DepthwiseConv2D DepthwiseConv3D SeparableDepthwiseConv2D Embed GRU LSTM VanillaRNN Conv1DLSTM
        Conv2DLSTM Conv3DLSTM LayerNorm RMSNorm GroupNorm InstanceNorm MultiHeadAttention AvgPool MaxPool Flatten Reshape
        Sequential DeepRNN IdentityCore BatchApply MLP ResetCore""".split()  # noqa: SIM905
    ),
}
# Methods that the frameworks' base classes provide, without side effects.
_METHODS = {
    "flax.nnx": frozenset({"iter_modules", "iter_children"}),
    "flax.linen": frozenset(
        """param get_variable has_variable has_rng is_initializing is_mutable_collection apply init init_with_output
        lazy_init tabulate clone initialize_carry module_paths""".split()  # noqa: SIM905
    ),
    "haiku": frozenset({"params_dict", "initial_state", "get_parameter"}),
}
_NNX_CHANGES = frozenset(
    {"update", "pop", "reseed", "fork_rngs", "split_rngs", "restore_rngs", "set_metadata"}
)
_NNX_STREAM_READS = frozenset({"items", "keys", "values", "is_empty"})
_HAIKU_CHANGES = {
    "set_state": "changes the state of the module",
    "get_state": "reads the module state that its first call creates",
    "next_rng_key": "draws a PRNG key",
    "next_rng_keys": "draws keys",
    "maybe_next_rng_key": "draws a PRNG key",
    "reserve_rng_keys": "draws keys",
    "replace_rng_sequence_state": "replaces the PRNG keys",
}
_HAIKU_DRAWS = frozenset({name for name, what in _HAIKU_CHANGES.items() if "key" in what})
# Equinox modules whose leaves are all arrays.
STACKABLE = frozenset(
    """Linear Conv Conv1d Conv2d Conv3d ConvTranspose ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm RMSNorm
    GroupNorm Embedding GRUCell LSTMCell Identity PReLU""".split()  # noqa: SIM905
)


def is_known(dotted: str) -> bool:
    """Whether a name belongs to a library in the tables."""
    return f"{dotted}.".startswith((*_KNOWN, *_STANDARD))


def framework_of(dotted: str) -> str:
    """The framework of modules that a name belongs to; "" for others."""
    return next((one for one in _FRAMEWORKS if dotted.startswith(f"{one}.")), "")


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def is_class(dotted: str) -> bool:
    """Whether a name refers to a class of a module framework."""
    return bool(framework_of(dotted)) and _last(dotted)[:1].isupper() and _last(dotted) not in _CONTAINERS


def is_base(dotted: str) -> bool:
    """Whether it is a base class without behaviour for calls."""
    return _last(dotted) in _BASES


def is_container(dotted: str) -> bool:
    """Whether a name refers to a list or dict of modules, or to a function that returns its argument."""
    return bool(framework_of(dotted)) and (
        _last(dotted) in _CONTAINERS
        or _last(dotted) in _MERGING | {"data", "clone", "to_module", "make_with_state"}
    )


def calls_its_parts(dotted: str) -> bool:
    """Whether a module calls the modules that it was created with."""
    return _last(dotted) in _PARTS


def is_transformation(dotted: str) -> bool:
    """Whether a function returns one that calls its first argument."""
    return _last(dotted) in _TRANSFORMATIONS and is_known(dotted)


def gives_data(dotted: str) -> bool:
    """Whether a library function returns arrays, or trees of them."""
    return not is_transformation(dotted) and is_known(dotted)


def makes(dotted: str) -> bool:
    """Whether the result of a function is new and not shared."""
    return dotted.startswith(("numpy.", "builtins.", "collections.")) or is_class(dotted)


def draws(dotted: str, method: str = "") -> bool:
    """Whether a change only advances a stream of random numbers."""
    return dotted in STREAMS or _last(dotted) in _HAIKU_DRAWS | {"Dropout"} or method == "make_rng"


def changed_by_function(dotted: str) -> str:
    """What a call of a library function changes, as the end of a sentence; "" for nothing."""
    last = _last(dotted)
    if dotted.startswith("haiku.") and last in _HAIKU_CHANGES:
        return _HAIKU_CHANGES[last]
    if dotted.startswith("flax.nnx.") and last in _NNX_CHANGES:
        return "changes the module in its argument"
    if dotted.startswith(("builtins.next", "builtins.setattr", "builtins.delattr")):
        return "changes an object"
    return ""


def changed_by_method(dotted: str, method: str) -> str:
    """What a method inherited from a library class changes; "" for nothing."""
    framework = framework_of(dotted)
    if dotted in STREAMS:
        return "" if method in _NNX_STREAM_READS else "advances a PRNG stream"
    if framework in ("", "equinox") or not is_class(dotted):
        return ""
    if is_base(dotted):
        return "" if method in _METHODS[framework] else f"changes state, by `.{method}()`"
    if dotted.startswith("flax.nnx.") and _last(dotted) in ("Param", "Variable", "BatchStat", "Cache"):
        return ""
    if method in _METHODS[framework] or (_last(dotted) in _READING[framework] and method != "sow"):
        return ""
    return f"may change state: `{_last(dotted)}.{method}()` is unknown"


def changed_by_calling(dotted: str, made: ast.Call | None, call: ast.Call | None = None) -> str:
    """What a call of a library module, created by the call `made`, changes; "" for nothing."""
    framework = framework_of(dotted)
    last = _last(dotted)
    if dotted in STREAMS:
        return "advances a PRNG stream"
    if framework in ("", "equinox") or last in _READING[framework]:
        return ""
    if last in _PARTS and framework != "flax.linen":
        return ""
    if last == "BatchNorm":
        return "updates running statistics"
    if last == "Dropout":
        return (
            "" if _is_given(made, call, "deterministic", "True") else "advances the PRNG stream of `Dropout`"
        )
    if "Attention" in last and made is not None:
        decodes = "decode=False" if framework == "flax.nnx" else ""
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in made.keywords}
        cached = given.get("decode", "" if decodes else "False") != "False"
        if None not in given and not cached and given.get("dropout_rate", "0.0") in ("0", "0.0"):
            return ""
        return f"may change the cache or the PRNG stream of `{last}`"
    return f"may change state: `{last}` is unknown"


def _is_given(made: ast.Call | None, call: ast.Call | None, name: str, value: str) -> bool:
    return any(
        keyword.arg == name and ast.unparse(keyword.value) == value
        for one in (made, call)
        if one is not None
        for keyword in one.keywords
    )
