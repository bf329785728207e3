"""What the engine knows of names and array functions, held against the installed libraries."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import io
import pkgutil
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.jaxapi.functions import (
    COLLECTIVES,
    CONSTANTS,
    KEY_MAKERS,
    LAYER_ARRAYS,
    LISTS_OF_ARRAYS,
    MANY_IN_MANY_OUT,
    NUMBER_KEEPING_COLLECTIVES,
    NUMPY_DISPATCHES,
    NUMPY_FRESH,
    NUMPY_METADATA,
    OPTAX_ARRAYS,
    STATIC_FUNCTIONS,
    TREES_OF_ARRAYS,
    TUPLES_OF_ARRAYS,
    TYPES,
    returns_array,
)
from jaxlint.jaxapi.history import gone_options
from jaxlint.jaxapi.names import _PREFIXES, HANDED_ON, canonical
from jaxlint.jaxapi.settings import SETTINGS
from jaxlint.jaxapi.static_arguments import DATA_DEPENDENT, SHAPE_ARGUMENTS
from jaxlint.jaxapi.transforms import CONTROL_FLOW, TRANSFORMS
from jaxlint.jaxapi.versions import parse_version
from tests.helpers.jax_probe import (
    INSTALLED,
    MISSING,
    holds_tracer,
    inside_jit,
    installed,
    is_tracer,
    present,
    resolve,
)

pytestmark = pytest.mark.filterwarnings("ignore")
ROOTS = ("jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy", "jax.image", "jax.ops")
KEY = jax.random.key(0)


# -- names


@pytest.mark.parametrize(
    "table",
    [
        STATIC_FUNCTIONS,
        CONSTANTS,
        TYPES,
        OPTAX_ARRAYS,
        LAYER_ARRAYS,
        frozenset(HANDED_ON),
        NUMPY_DISPATCHES,
        NUMPY_METADATA,
        NUMPY_FRESH,
        DATA_DEPENDENT,
        KEY_MAKERS,
        LISTS_OF_ARRAYS,
        TUPLES_OF_ARRAYS,
        TREES_OF_ARRAYS,
        MANY_IN_MANY_OUT,
        COLLECTIVES,
        frozenset(SHAPE_ARGUMENTS),
        frozenset(TRANSFORMS),
        CONTROL_FLOW,
    ],
    ids=lambda table: min(table),
)
def test_every_name_is_one_of_the_installed_library(table: frozenset[str]) -> None:
    ours = {"chex.variant"}  # what `self.variant` is to a test, and no name of chex
    assert [name for name in present(table - ours) if resolve(name) is MISSING] == []


def test_canonical_names_lead_to_the_same_object() -> None:
    for prefix, target in _PREFIXES:
        if not installed(target) or target == "functools.partial":
            continue
        assert resolve(target.rstrip(".")) is not MISSING, target
        old = resolve(prefix.rstrip("."))
        if old is not MISSING and not prefix.endswith(".") and old is not resolve(target):
            # Old spellings may be thin wrappers, but they are functions of the same name.
            assert type(old) is type(resolve(target)), prefix


def test_activations_of_flax_are_those_of_jax() -> None:
    for handed_on, target in HANDED_ON.items():
        if installed(handed_on):
            assert resolve(handed_on) is resolve(target), handed_on
        assert canonical(handed_on) == target
        assert returns_array(target), target


def test_canonical_is_idempotent_and_whole_names_do_not_match_longer_ones() -> None:
    for prefix, target in _PREFIXES:
        sample = f"{prefix}x" if prefix.endswith(".") else prefix
        assert canonical(canonical(sample)) == canonical(sample), (prefix, target)
    assert canonical("jax.tree_map") == "jax.tree.map"
    assert canonical("jax.tree_map_other") == "jax.tree_map_other"
    assert canonical("jax._src.lax.lax.exp") == "jax.lax.exp"
    assert canonical("jax._src.lax.lax.remaining") == "jax._src.lax.lax.remaining"  # no public name


# -- what calls return


IMAGE, FILTER = (1, 1, 4, 4), (1, 1, 2, 2)
STATIC_EXAMPLES: dict[str, Callable[[Any], Any]] = {
    "jax.numpy.issubdtype": lambda x: jnp.issubdtype(x.dtype, jnp.floating),
    "jax.numpy.result_type": lambda x: jnp.result_type(x, 1),
    "jax.numpy.promote_types": lambda x: jnp.promote_types(x.dtype, "int32"),
    "jax.numpy.can_cast": lambda x: jnp.can_cast(x.dtype, "float64"),
    "jax.numpy.finfo": lambda x: jnp.finfo(x.dtype),
    "jax.numpy.iinfo": lambda x: jnp.iinfo("int32"),
    "jax.numpy.dtype": lambda x: jnp.dtype("float32"),
    "jax.numpy.isdtype": lambda x: jnp.isdtype(x.dtype, "real floating"),
    "jax.numpy.broadcast_shapes": lambda x: jnp.broadcast_shapes(x.shape, (1,)),
    "jax.numpy.set_printoptions": lambda x: jnp.set_printoptions(),
    "jax.numpy.printoptions": lambda x: jnp.printoptions(),
    "jax.numpy.get_printoptions": lambda x: jnp.get_printoptions(),
    "jax.numpy.save": lambda x: jnp.save(io.BytesIO(), np.ones(2)),
    "jax.numpy.savez": lambda x: jnp.savez(io.BytesIO(), np.ones(2)),
    "jax.numpy.einsum_path": lambda x: jnp.einsum_path("i,i->", x, x),
    "jax.numpy.array_repr": lambda x: jnp.array_repr(np.ones(2)),
    "jax.numpy.array_str": lambda x: jnp.array_str(np.ones(2)),
    "jax.named_scope": lambda x: jax.named_scope("part"),
    "jax.debug_nans": lambda x: jax.debug_nans(False),
    "jax.check_tracer_leaks": lambda x: jax.check_tracer_leaks(False),
    "jax.make_mesh": lambda x: jax.make_mesh((1,), ("i",)),
    "jax.eval_shape": lambda x: jax.eval_shape(jnp.sin, x),
    "jax.lax.axis_size": lambda x: jax.vmap(lambda y: jax.lax.axis_size("i") * y, axis_name="i")(np.ones(3)),
    "jax.lax.broadcast_shapes": lambda x: jax.lax.broadcast_shapes(x.shape, (1,)),
    "jax.lax.conv_dimension_numbers": lambda x: jax.lax.conv_dimension_numbers(IMAGE, FILTER, None),
    "jax.lax.conv_general_permutations": lambda x: jax.lax.conv_general_permutations(
        ("NCHW", "OIHW", "NCHW")
    ),
    "jax.lax.conv_general_shape_tuple": lambda x: jax.lax.conv_general_shape_tuple(
        IMAGE, FILTER, (1, 1), "SAME", ("NCHW", "OIHW", "NCHW")
    ),
    "jax.lax.conv_transpose_shape_tuple": lambda x: jax.lax.conv_transpose_shape_tuple(
        IMAGE, FILTER, (1, 1), "SAME", ("NCHW", "OIHW", "NCHW")
    ),
    "jax.lax.conv_shape_tuple": lambda x: jax.lax.conv_shape_tuple(IMAGE, FILTER, (1, 1), "SAME"),
    "jax.lax.padtype_to_pads": lambda x: jax.lax.padtype_to_pads((4, 4), (2, 2), (1, 1), "SAME"),
    "jax.lax.reduce_window_shape_tuple": lambda x: jax.lax.reduce_window_shape_tuple(
        (4, 4), (2, 2), (1, 1), ((0, 0), (0, 0))
    ),
    "jax.lax.shape_as_value": lambda x: jax.lax.shape_as_value(x.shape),
    "jax.random.key_impl": lambda x: jax.random.key_impl(KEY),
    "jax.dtypes.canonicalize_dtype": lambda x: jax.dtypes.canonicalize_dtype(x.dtype),
    "jax.dtypes.result_type": lambda x: jax.dtypes.result_type(x, 1),
    "jax.dtypes.issubdtype": lambda x: jax.dtypes.issubdtype(x.dtype, jnp.floating),
    "jax.dtypes.finfo": lambda x: jax.dtypes.finfo(x.dtype),
}
# These change the whole process, or are not allowed while tracing.
NOT_CALLED = {"jax.clear_caches", "jax.set_mesh", "jax.disable_jit", "jax.lax.axis_size"}


@pytest.mark.parametrize("name", present(STATIC_FUNCTIONS - NOT_CALLED))
def test_static_functions_return_no_tracer(name: str) -> None:
    function = resolve(name)

    def call(x: Any) -> Any:
        example = STATIC_EXAMPLES.get(name)
        if example is not None:
            return example(x)
        try:
            inspect.signature(function).bind()
        except (TypeError, ValueError):
            return function(x)
        return function()

    result = inside_jit(call, np.ones(4, np.float32))
    assert not holds_tracer(result)
    assert not isinstance(result, jax.Array)


def test_axis_size_is_a_python_number() -> None:
    sizes = []
    jax.jit(jax.vmap(lambda x: sizes.append(jax.lax.axis_size("i")) or x, axis_name="i"))(np.ones(3))
    assert sizes == [3]
    assert type(sizes[0]) is int


def arguments(v: Any, m: Any, i: Any, b: Any, k: Any) -> Iterator[tuple[Any, ...]]:
    """Argument lists that fit one array function or another: a vector, a matrix, integers, booleans, a key."""
    yield from [(v,), (v, v), (m,), (m, m), (m, v), (i, i), (b, b), (i,), (v, v, v), ([v, v],), ((v, v), 0)]
    yield from [([v, v], 0), (v, 0), (m, 0), (v, (2, 2)), (m, (0,)), (m, (1, 0)), (v, i), (v, 2), (v, 0, 1)]
    yield from [(m, 0, 1), (3,), ((2, 2),), ((2, 2), v[0]), (k,), (k, (4,)), (k, v), (k, v, v), (k, m, v)]
    yield from [(k, v, v, v), (k, 4), (b, v, v), (v, v, i), (v, i, v), (v, jnp.float32), (jnp.float32, 4)]
    yield from [(jnp.float32, (4,), 0), (v, 0, 2), (v, "float32"), (m, v, i), (lambda a: a, v), (2, v)]
    yield from [(lambda a: a, 0, v), (v, 3, 2), (), (v, v, v, v), (m, m, m), ("ij,jk->ik", m, m)]
    yield from [(v, [v > 0], [v]), (b,), (m, (8, 8), "linear"), (v, 0, 1, 0), (v, i, 4), (2.0, v), (i, v)]
    yield from [(m, 2), ([b], [v]), (i, [v, v]), (m, (4, 4)), (v, (0,)), (v, v[0], v[0]), (v, v, (0,))]


SAMPLES = (
    np.ones(4, np.float32),
    np.ones((4, 4), np.float32) + 4 * np.eye(4, dtype=np.float32),
    np.arange(4),
    np.ones(4, bool),
    KEY,
)


def results_inside_jit(function: Callable[..., Any], enough: int = 3) -> list[Any]:
    """What the function gives for the first few argument lists that it accepts."""

    def attempts(*samples: Any) -> list[Any]:
        found: list[Any] = []
        for given in arguments(*samples):
            with contextlib.suppress(Exception):
                found.append(function(*given))
            if len(found) == enough:
                break
        return found

    return inside_jit(attempts, *SAMPLES)


def public_functions() -> Iterator[tuple[str, Any]]:
    for root in ROOTS:
        module = importlib.import_module(root)
        names = [root]
        for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
            names += [f"{root}.{info.name}"] if not info.name.startswith("_") else []
        for name in names:
            for member, value in vars(importlib.import_module(name)).items():
                if not member.startswith("_") and callable(value) and not isinstance(value, types.ModuleType):
                    yield f"{name}.{member}", value


def test_array_functions_return_arrays_in_the_container_that_the_tables_say() -> None:
    wrong: list[str] = []
    called = 0
    for name, function in public_functions():
        if name in TRANSFORMS or name in CONTROL_FLOW or not returns_array(canonical(name)):
            continue
        results = results_inside_jit(function)
        called += bool(results)
        for result in results:
            sequence = name in LISTS_OF_ARRAYS or name in TUPLES_OF_ARRAYS
            open_ended = name in TREES_OF_ARRAYS or name in MANY_IN_MANY_OUT or name in COLLECTIVES
            if not holds_tracer(result):
                # Without an array among the arguments some of them give empty containers.
                if not (isinstance(result, (list, tuple)) and not result):
                    wrong.append(f"{name} gives {type(result).__name__}")
            elif sequence != isinstance(result, (list, tuple)) and not open_ended:
                wrong.append(f"{name} gives a {type(result).__name__}")
    assert sorted(set(wrong)) == []
    assert called > 500


def test_what_is_below_the_array_prefixes_and_excluded_is_no_array_function() -> None:
    for name, function in public_functions():
        if returns_array(canonical(name)) or name in TRANSFORMS or isinstance(function, type):
            continue
        if name in STATIC_FUNCTIONS or name == "jax.random.Key":
            continue  # an array only if it is given one
        if name.startswith("jax.nn.initializers."):
            assert callable(function)
            continue
        for result in results_inside_jit(function, enough=2):
            # Types may hold what they were given, but they are not arrays themselves.
            assert not isinstance(result, jax.Array), name


def test_collectives_keep_trees_and_some_python_numbers() -> None:
    for name in sorted(COLLECTIVES):
        collective = resolve(name)
        if name == "jax.lax.ppermute":
            collective = functools.partial(collective, perm=[(0, 1), (1, 0)])
        elif name == "jax.lax.pshuffle":
            collective = functools.partial(collective, perm=[1, 0])
        elif name == "jax.lax.all_to_all":
            collective = functools.partial(collective, split_axis=0, concat_axis=0)
        elif name in ("jax.lax.pcast", "jax.lax.pvary", "jax.lax.pswapaxes"):
            continue  # these need a mesh, or an axis more
        seen: list[Any] = []

        def body(x: Any, collective: Any = collective, seen: list[Any] = seen) -> Any:
            seen.append(collective({"a": x}, axis_name="i"))
            with contextlib.suppress(Exception):
                seen.append(collective(1, axis_name="i"))
            return x

        jax.jit(jax.vmap(body, axis_name="i"))(np.ones((2, 2), np.float32))
        assert isinstance(seen[0], dict), name
        assert is_tracer(seen[0]["a"]), name
        if name in NUMBER_KEEPING_COLLECTIVES:
            assert not is_tracer(seen[1]), name


def test_key_makers_make_keys_under_a_trace() -> None:
    assert is_tracer(inside_jit(lambda: jax.random.key(0)))
    assert is_tracer(inside_jit(lambda: jax.random.PRNGKey(0)))
    data = jax.random.key_data(KEY)
    assert is_tracer(inside_jit(jax.random.wrap_key_data, data))


@pytest.mark.parametrize("name", present(LAYER_ARRAYS))
def test_functions_beside_layers_return_arrays(name: str) -> None:
    function = resolve(name)
    images, heads = np.ones((1, 4, 4, 2), np.float32), np.ones((1, 3, 2, 4), np.float32)
    pooled = {"haiku": (2, 2, "SAME"), "flax": ((2, 2),)}[name.partition(".")[0]]
    arguments: dict[str, tuple[Any, ...]] = {
        "dot_product_attention": (heads, heads, heads),
        "dot_product_attention_weights": (heads, heads),
        "make_attention_mask": (np.ones((1, 3)), np.ones((1, 3))),
        "make_causal_mask": (np.ones((1, 3)),),
        "one_hot": (np.arange(3), 3),
    }
    short = name.rpartition(".")[2]
    if short == "multinomial":
        assert is_tracer(inside_jit(lambda logits: function(KEY, logits, 2), np.ones((1, 3))))
        return
    first, *rest = arguments.get(short, (images, *pooled))
    assert is_tracer(inside_jit(lambda x: function(x, *rest), first))


@pytest.mark.parametrize("name", present(OPTAX_ARRAYS))
def test_optax_functions_return_arrays(name: str) -> None:
    function = resolve(name)
    v, one_hot = np.ones((4, 3), np.float32), np.eye(4, 3, dtype=np.float32)
    special: dict[str, Callable[..., Any]] = {
        "optax.periodic_update": lambda x: function(x, x, 0, 1),
        "optax.incremental_update": lambda x: function(x, x, 0.1),
        "optax.softmax_cross_entropy_with_integer_labels": lambda x: function(x, np.arange(4) % 3),
        "optax.ctc_loss": lambda x: function(
            x[None], np.zeros((1, 4)), np.zeros((1, 2), int), np.zeros((1, 2))
        ),
        "optax.safe_norm": lambda x: function(x, 1e-3),
        "optax.safe_root_mean_squares": lambda x: function(x, 1e-3),
        "optax.smooth_labels": lambda x: function(x, 0.1),
        "optax.kl_divergence": lambda x: function(x, one_hot),
        "optax.safe_increment": lambda x: function(jnp.int32(x[0, 0])),
        "optax.safe_int32_increment": lambda x: function(jnp.int32(x[0, 0])),
    }

    def call(x: Any) -> Any:
        if name in special:
            return special[name](x)
        return function(x) if name in ("optax.global_norm", "optax.log_cosh") else function(x, x)

    assert holds_tracer(inside_jit(call, v))


def test_settings_are_those_of_jax() -> None:
    gone = {
        name
        for name, change in gone_options().items()
        if change.removed_in and parse_version(change.removed_in) <= INSTALLED
    }
    assert jax.config.values.keys() >= SETTINGS - gone  # what other modules are imported may add some
