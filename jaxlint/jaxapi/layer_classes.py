"""Layers, optimisers and containers of flax.nnx and equinox: which ones hold arrays, and so are traced as arguments
of jit."""

from __future__ import annotations

EQUINOX_WITHOUT_ARRAYS = frozenset(
    f"equinox.nn.{name}"
    for name in [
        "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
        "AdaptiveMaxPool3d", "AdaptivePool", "AvgPool1d", "AvgPool2d", "AvgPool3d", "Dropout", "Identity", "Lambda",
        "MaxPool1d", "MaxPool2d", "MaxPool3d", "Pool", "RotaryPositionalEmbedding", "Sequential", "Shared",
        "State", "StateIndex", "StatefulLayer",
    ]
)  # fmt: skip
# Metrics of flax.nnx, whose arrays `update` adds to in place.
NNX_METRICS = frozenset(
    [
        "flax.nnx.MultiMetric",
        *(f"flax.nnx.metrics.{name}" for name in ("Accuracy", "Average", "MultiMetric", "Welford")),
    ]
)
NNX_WITH_ARRAYS = NNX_METRICS | frozenset(
    f"flax.nnx.{name}"
    for name in [
        "BatchNorm", "Conv", "ConvTranspose", "Einsum", "Embed", "GRUCell", "GroupNorm", "InstanceNorm", "LSTMCell",
        "Dropout", "LayerNorm", "Linear", "LinearGeneral", "LoRA", "LoRALinear", "ModelAndOptimizer", "MultiHeadAttention",
        "OptimizedLSTMCell", "Optimizer", "PReLU", "RMSNorm", "RNN", "RngStream", "Rngs", "SimpleCell",
        "SpectralNorm", "WeightNorm", "Bidirectional",
    ]
)  # fmt: skip
# Layers of flax with a `dtype` that is the dtype of their single result.
_COMPUTING = {
    "linen": (
        "BatchNorm", "Conv", "ConvLocal", "ConvTranspose", "Dense", "DenseGeneral", "Einsum", "Embed", "GroupNorm",
        "InstanceNorm", "LayerNorm", "MultiHeadAttention", "MultiHeadDotProductAttention", "RMSNorm", "SelfAttention",
    ),
    "nnx": (
        "BatchNorm", "Conv", "ConvTranspose", "Einsum", "Embed", "GroupNorm", "InstanceNorm", "LayerNorm", "Linear",
        "LinearGeneral", "MultiHeadAttention", "RMSNorm",
    ),
}  # fmt: skip
LAYERS_IN_DTYPE = frozenset(f"flax.{api}.{name}" for api, names in _COMPUTING.items() for name in names)
# The dtype of a layer's single result if no `dtype` is passed: that of its input ("input"; "inexact": integers become float32),
# of its weights ("weights"), or of both, promoted ("both"). Weights are float32 unless an option sets another dtype.
_UNASKED = {
    "flax.linen": {
        "both": "Dense DenseGeneral Conv ConvTranspose BatchNorm LayerNorm RMSNorm GroupNorm InstanceNorm MultiHeadAttention "
        "MultiHeadDotProductAttention SelfAttention",
        "input": "Dropout PReLU", "weights": "Embed",
    },
    "flax.nnx": {
        "both": "Linear LinearGeneral Conv ConvTranspose LayerNorm RMSNorm GroupNorm InstanceNorm MultiHeadAttention", "input": "Dropout PReLU", "weights": "Embed",
    },
    "equinox.nn": {"both": "Linear MLP", "input": "LayerNorm RMSNorm Dropout Identity", "weights": "Embedding"},
    "haiku": {"input": "Flatten", "inexact": "Linear nets.MLP Conv2D LayerNorm RMSNorm BatchNorm GroupNorm", "weights": "Embed"},
}  # fmt: skip
UNASKED_DTYPES = {
    f"{library}.{name}": how
    for library, kinds in _UNASKED.items()
    for how, names in kinds.items()
    for name in names.split()
}
# The option for the dtype of the weights; the other dtype options of flax and haiku set that of the computation.
WEIGHTS_OPTIONS = {"flax.": "param_dtype", "equinox.": "dtype", "haiku.": "dtype"}
# Modules that call their layers one after the other.
SEQUENTIALS = frozenset({"equinox.nn.Sequential", "flax.nnx.Sequential"})
# Modules that hold their arguments: a list of layers, a dict of them.
NNX_LISTS = frozenset({"flax.nnx.List"})
NNX_DICTS = frozenset({"flax.nnx.Dict"})
# Wrappers of a field that do not change its value.
NNX_NOTES = frozenset({"flax.nnx.data", "flax.nnx.static"})


# Libraries whose objects compute arrays when called.
LAYER_LIBRARIES = ("flax.", "haiku.", "equinox.", "distrax.", "jraph.", "e3nn_jax.")


def holds_arrays(name: str) -> bool:
    """Whether an instance of the external class `name` (canonical) has arrays among its leaves."""
    if name.startswith("equinox.nn."):
        return name.rpartition(".")[2][:1].isupper() and name not in EQUINOX_WITHOUT_ARRAYS
    return name in NNX_WITH_ARRAYS


# Functions that return their first argument: a check, a mark, a prefix to its name.
PASSED_ON = (
    "equinox.error_if",
    "equinox.branched_error_if",
    *(
        f"equinox.internal.{name}"
        for name in (
            "error_if",
            "branched_error_if",
            "nondifferentiable",
            "nondifferentiable_backward",
            "nontraceable",
            "doc_repr",
            "closure_to_pytree",
        )
    ),
)

# Enumerations whose items may be chosen under a trace: equinox's own, and those that libraries built on it.
ENUMERATION = "equinox.Enumeration"
ENUMERATIONS = frozenset(
    {ENUMERATION, "equinox.internal.Enumeration", "lineax.RESULTS", "optimistix.RESULTS", "diffrax.RESULTS"}
)
