"""The attributes and methods of arrays: which are static under a trace, convert, share memory, or modify an array."""

from __future__ import annotations

# Attributes of an array that are static under a trace.
STATIC_ATTRIBUTES = frozenset(
    [
        "shape",
        "ndim",
        "dtype",
        "size",
        "aval",
        "weak_type",
        "itemsize",
        "nbytes",
        "sharding",
        "is_fully_addressable",
        "is_fully_replicated",
        "committed",
        "device",
        "devices",
        "addressable_shards",
        "global_shards",
    ]
)

# The flag that a `custom_vjp` with symbolic zeros passes beside the value of an argument: a bool.
RULE_FLAGS = frozenset(["perturbed"])

# The methods of `x.at[i]`, in order.
AT_UPDATES = (
    "add",
    "apply",
    "divide",
    "get",
    "max",
    "min",
    "mul",
    "multiply",
    "power",
    "set",
    "subtract",
)

ARRAY_ATTRIBUTES = frozenset(["T", "mT", "real", "imag", "flat", "at"])

ARRAY_METHODS = frozenset(
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "argpartition",
        "argsort",
        "astype",
        "choose",
        "clip",
        "compress",
        "conj",
        "conjugate",
        "copy",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "flatten",
        "max",
        "mean",
        "min",
        "nonzero",
        "prod",
        "ptp",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "searchsorted",
        "sort",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "transpose",
        "var",
        "view",
        "item",
        "tolist",
        "block_until_ready",
        "__array__",
        "copy_to_host_async",
        "to_device",
        "is_deleted",
        "delete",
        "unsafe_buffer_pointer",
        "on_device_size_in_bytes",
    ]
)

# Attributes of concrete arrays that tracers lack.
CONCRETE_ATTRIBUTES = frozenset(
    [
        "block_until_ready",
        "copy_to_host_async",
        "device",
        "sharding",
    ]
)

# Other attributes of arrays, in one release or another.
OTHER_ATTRIBUTES = frozenset(
    [
        "addressable_data",
        "byteswap",
        "clone",
        "device_buffer",
        "device_buffers",
        "dimension_as_value",
        "format",
        "full_lower",
        "is_ready",
        "memory_space",
        "parent",
        "platform",
        "to_concrete_value",
        "tobytes",
        "traceback",
        "val",
    ]
)

SPECIAL_METHODS = frozenset(
    [
        "__abs__",
        "__add__",
        "__array__",
        "__bool__",
        "__complex__",
        "__eq__",
        "__float__",
        "__getitem__",
        "__index__",
        "__int__",
        "__iter__",
        "__len__",
        "__lt__",
        "__matmul__",
        "__mul__",
    ]
)

CONVERTING_METHODS = frozenset(
    {"item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__array__"}
)

# Methods that modify a NumPy array, and that JAX arrays lack.
NUMPY_ONLY_METHODS = frozenset(["fill", "itemset", "partition", "put", "resize", "setfield", "setflags"])

# Attributes and methods of NumPy arrays that return a view.
VIEW_ATTRIBUTES = frozenset({"T", "real"})

VIEW_METHODS = frozenset({"reshape", "ravel", "squeeze", "transpose", "swapaxes", "view"})

# Methods that modify a NumPy array.
CHANGING_METHODS = NUMPY_ONLY_METHODS | {"sort"}

# Methods of arrays whose first argument is an axis.
AXIS_METHODS = frozenset(
    [
        *(
            "sum",
            "prod",
            "mean",
            "std",
            "var",
            "max",
            "min",
            "all",
            "any",
            "argmax",
            "argmin",
            "argsort",
            "sort",
        ),
        *("cumsum", "cumprod", "ptp", "squeeze"),
    ]
)
