"""Functions of NumPy and `math` that `jax.numpy` has under the same name, or another, with the same first arguments.

It leaves out functions with a data-dependent result size (`unique`, `nonzero`), functions that modify their argument
(`put`, `fill_diagonal`), and functions that read files. Checked against the installed libraries by
`tests/engine/test_jaxapi_twins.py`.
"""

from __future__ import annotations

# Elementwise functions, which accept none of NumPy's keywords.
ELEMENTWISE = frozenset(
    [
        "abs",
        "absolute",
        "acos",
        "acosh",
        "add",
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctan2",
        "arctanh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "cbrt",
        "ceil",
        "conj",
        "conjugate",
        "copysign",
        "cos",
        "cosh",
        "deg2rad",
        "degrees",
        "divide",
        "equal",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "float_power",
        "floor",
        "floor_divide",
        "fmax",
        "fmin",
        "fmod",
        "greater",
        "greater_equal",
        "heaviside",
        "hypot",
        "invert",
        "isfinite",
        "isinf",
        "isnan",
        "ldexp",
        "less",
        "less_equal",
        "log",
        "log10",
        "log1p",
        "log2",
        "logaddexp",
        "logaddexp2",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "mod",
        "multiply",
        "negative",
        "nextafter",
        "not_equal",
        "positive",
        "pow",
        "power",
        "rad2deg",
        "radians",
        "reciprocal",
        "remainder",
        "rint",
        "sign",
        "signbit",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "subtract",
        "tan",
        "tanh",
        "true_divide",
        "trunc",
    ]
)

# Others, with the number of positional arguments that have the same meaning.
OTHERS: dict[str, int] = {
    "allclose": 5, "angle": 2, "append": 3, "apply_along_axis": 3, "argmax": 2, "argmin": 2, "argsort": 2, "around": 2,
    "array": 2, "array_equal": 3, "asarray": 2, "astype": 2, "atleast_1d": 9, "atleast_2d": 9, "atleast_3d": 9,
    "average": 4, "bincount": 3, "block": 1, "broadcast_to": 2, "clip": 3, "column_stack": 1, "concatenate": 2,
    "convolve": 3, "copy": 1, "correlate": 3, "count_nonzero": 2, "cov": 3, "cross": 5, "cumprod": 3, "cumsum": 3,
    "diag": 2, "diagflat": 2, "diagonal": 4, "diff": 3, "digitize": 3, "dot": 2, "dstack": 1, "ediff1d": 3,
    "expand_dims": 2, "flip": 2, "fliplr": 1, "flipud": 1, "full": 3, "full_like": 3, "gradient": 2, "hstack": 1,
    "hypot": 2, "imag": 1, "inner": 2, "interp": 5, "isclose": 5, "iscomplex": 1, "isin": 4, "isreal": 1, "kron": 2,
    "linspace": 6, "logspace": 6, "matmul": 2, "max": 2, "mean": 2, "median": 2, "min": 2, "moveaxis": 3,
    "nan_to_num": 2, "nanargmax": 2, "nanargmin": 2, "nanmax": 2, "nanmean": 2, "nanmedian": 2, "nanmin": 2,
    "nanprod": 2, "nanstd": 2, "nansum": 2, "nanvar": 2, "ones_like": 2, "outer": 2, "pad": 3, "percentile": 3,
    "polyval": 2, "prod": 2, "ptp": 2, "quantile": 3, "ravel": 1, "real": 1, "repeat": 3, "reshape": 2, "roll": 3,
    "rollaxis": 3, "rot90": 3, "round": 2, "searchsorted": 3, "sinc": 1, "sort": 2, "squeeze": 2, "stack": 2,
    "std": 2, "sum": 2, "swapaxes": 3, "take": 3, "take_along_axis": 3, "tensordot": 3, "tile": 2, "trace": 4,
    "transpose": 2, "trapezoid": 4, "tril": 2, "triu": 2, "unwrap": 4, "vander": 3, "var": 2, "vdot": 2, "vstack": 1,
    "where": 3, "zeros_like": 2,
    "linalg.cholesky": 1, "linalg.cond": 2, "linalg.det": 1, "linalg.eigh": 2, "linalg.eigvalsh": 2, "linalg.inv": 1,
    "linalg.lstsq": 3, "linalg.matrix_power": 2, "linalg.norm": 4, "linalg.qr": 2, "linalg.slogdet": 1,
    "linalg.solve": 2, "linalg.svd": 4,
    "fft.fft": 4, "fft.fft2": 4, "fft.fftn": 4, "fft.fftshift": 2, "fft.ifft": 4, "fft.ifft2": 4, "fft.ifftn": 4,
    "fft.ifftshift": 2, "fft.irfft": 4, "fft.rfft": 4,
}  # fmt: skip

# They accept any number of arguments, and a subscript string or only arrays.
VARIADIC = frozenset({"einsum"})

# Scalar types used as conversions. 64-bit types would silently become others.
TYPES = frozenset(
    ["float16", "float32", "int8", "int16", "int32", "uint8", "uint16", "uint32", "complex64", "bool_"]
)

# Functions that create buffers to be filled item by item.
BUFFERS = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "full",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "array",
        "asarray",
        "eye",
        "identity",
        "copy",
    ]
)

# They accept a sequence of arrays; the others accept arrays but no lists.
TAKE_SEQUENCES = frozenset(
    [
        "append",
        "array",
        "asarray",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "block",
        "column_stack",
        "concatenate",
        "dstack",
        "hstack",
        "stack",
        "vstack",
    ]
)

# Keywords of NumPy that jax.numpy rejects or treats differently.
FOREIGN_KEYWORDS = frozenset(
    ["out", "where", "order", "casting", "subok", "like", "kind", "a_min", "a_max", "ndmin", "copy"]
)

# Those of them that a function accepts with the same meaning.
OWN_KEYWORDS = {"array": ("copy", "ndmin"), "asarray": ("copy",), "nan_to_num": ("copy",)}

# `math` functions and their equivalents; floor, ceil and trunc return integers in `math`.
MATH: dict[str, str] = {
    "sqrt": "jax.numpy.sqrt", "exp": "jax.numpy.exp", "expm1": "jax.numpy.expm1", "log2": "jax.numpy.log2",
    "log10": "jax.numpy.log10", "log1p": "jax.numpy.log1p", "sin": "jax.numpy.sin", "cos": "jax.numpy.cos",
    "tan": "jax.numpy.tan", "asin": "jax.numpy.arcsin", "acos": "jax.numpy.arccos", "atan": "jax.numpy.arctan",
    "atan2": "jax.numpy.arctan2", "sinh": "jax.numpy.sinh", "cosh": "jax.numpy.cosh", "tanh": "jax.numpy.tanh",
    "asinh": "jax.numpy.arcsinh", "acosh": "jax.numpy.arccosh", "atanh": "jax.numpy.arctanh",
    "fabs": "jax.numpy.abs", "pow": "jax.numpy.power", "hypot": "jax.numpy.hypot", "isnan": "jax.numpy.isnan",
    "isinf": "jax.numpy.isinf", "isfinite": "jax.numpy.isfinite", "degrees": "jax.numpy.degrees",
    "radians": "jax.numpy.radians", "copysign": "jax.numpy.copysign", "fmod": "jax.numpy.fmod",
    "log": "jax.numpy.log", "erf": "jax.scipy.special.erf", "erfc": "jax.scipy.special.erfc",
    "lgamma": "jax.scipy.special.gammaln", "floor": "jax.numpy.floor", "ceil": "jax.numpy.ceil",
    "trunc": "jax.numpy.trunc",
}  # fmt: skip
MATH_TO_INTEGER = frozenset({"floor", "ceil", "trunc"})
