"""Tables of JAX and NumPy: functions, transformations, dtypes, settings."""

from jaxlint.jaxapi.accepted import ACCEPTED, BITS, FLOATS, KEY, ONE_DTYPE, OPERATORS, WITH_VALUE_ERROR
from jaxlint.jaxapi.array_members import (
    ARRAY_METHODS,
    AT_UPDATES,
    CHANGING_METHODS,
    NUMPY_ONLY_METHODS,
    STATIC_ATTRIBUTES,
)
from jaxlint.jaxapi.dtypes import (
    INTEGER_ENDS,
    KINDS,
    LOW_PRECISION,
    MAKERS,
    RANDOM_MAKERS,
    canonical_dtype,
    is_float,
    is_integer,
    promote,
    strong,
)
from jaxlint.jaxapi.functions import (
    COLLECTIVES,
    IN_PLACE_FUNCTIONS,
    KEY_MAKERS,
    LOGGER_MAKERS,
    NUMPY_DISPATCHES,
    returns_array,
)
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.optimizers import (
    EPSILONS,
    OPTIMIZERS,
    OPTIMIZERS_OF_PARAMETERS,
    OPTIMIZERS_WITH_MOMENTS,
    keeps_structure,
)
from jaxlint.jaxapi.settings import SETTINGS
from jaxlint.jaxapi.signatures import accepts
from jaxlint.jaxapi.static_arguments import SHAPE_ARGUMENTS
from jaxlint.jaxapi.transforms import DIFFERENTIATION, JIT_KINDS, STATIC_JIT_KINDS, TRANSFORMS
from jaxlint.jaxapi.twins import ELEMENTWISE, OTHERS

__all__ = [
    "ACCEPTED",
    "ARRAY_METHODS",
    "AT_UPDATES",
    "BITS",
    "CHANGING_METHODS",
    "COLLECTIVES",
    "DIFFERENTIATION",
    "ELEMENTWISE",
    "EPSILONS",
    "FLOATS",
    "INTEGER_ENDS",
    "IN_PLACE_FUNCTIONS",
    "JIT_KINDS",
    "KEY",
    "KEY_MAKERS",
    "KINDS",
    "LOGGER_MAKERS",
    "LOW_PRECISION",
    "MAKERS",
    "NUMPY_DISPATCHES",
    "NUMPY_ONLY_METHODS",
    "ONE_DTYPE",
    "OPERATORS",
    "OPTIMIZERS",
    "OPTIMIZERS_OF_PARAMETERS",
    "OPTIMIZERS_WITH_MOMENTS",
    "OTHERS",
    "RANDOM_MAKERS",
    "SETTINGS",
    "SHAPE_ARGUMENTS",
    "STATIC_ATTRIBUTES",
    "STATIC_JIT_KINDS",
    "TRANSFORMS",
    "WITH_VALUE_ERROR",
    "accepts",
    "canonical",
    "canonical_dtype",
    "is_float",
    "is_integer",
    "keeps_structure",
    "promote",
    "returns_array",
    "strong",
]
