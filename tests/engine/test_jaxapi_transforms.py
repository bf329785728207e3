"""What the engine knows of transformations, held against the installed libraries by running them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify
from jax.sharding import PartitionSpec

from jaxlint.jaxapi.functions import (
    ARRAY_PREFIXES,
)
from jaxlint.jaxapi.transforms import CALLERS, CONTROL_FLOW, JIT_KINDS, PRIMITIVE_RULES, TRANSFORMS
from jaxlint.staging.transforms.transforming import TARGET_KEYWORDS
from tests.helpers.jax_probe import (
    is_tracer,
    present,
    resolve,
)

pytestmark = pytest.mark.filterwarnings("ignore")


def test_each_function_is_found_by_its_keyword() -> None:
    first = {}
    for name in present(TRANSFORMS):
        if name in ("functools.lru_cache", "functools.cache", "flax.nnx.split_rngs", "flax.nnx.fork_rngs"):
            continue  # they take no function by keyword
        function = resolve(name)
        if callable(function):
            first[name] = next(iter(inspect.signature(function).parameters))
    assert {name: keyword for name, keyword in first.items() if keyword not in TARGET_KEYWORDS} == {}


def probe(seen: dict[str, bool]) -> Callable[..., Any]:
    """A function that notes whether its argument, and an array made from nothing, have a truth value."""

    def has_no_truth(value: Any) -> bool:
        try:
            bool(value)
        except jax.errors.TracerBoolConversionError:
            return True
        except ValueError:  # empty, but concrete
            return False
        return False

    def body(x: Any) -> Any:
        seen["staged"] = has_no_truth(x)
        seen["abstract"] = has_no_truth(jnp.zeros(1) + 1)
        return x.sum() * 2.0

    return body


VECTOR = jnp.ones(1)  # one number, so that it has a truth value where it is concrete
Body = Callable[..., Any]


def run_custom(transform: Any, body: Body) -> None:
    function = transform(body)
    if transform is jax.custom_jvp:
        function.defjvp(lambda primals, tangents: (body(*primals), tangents[0].sum()))
    else:
        function.defvjp(lambda x: (body(x), None), lambda _, g: (g * VECTOR,))
    function(VECTOR)


def run_lifted(transform: Any, body: Body) -> None:
    """Runs a transformation of linen modules, with variables broadcast where it maps."""
    scans = transform.__name__ in ("scan", "scan_with_axes")
    maps = transform.__name__ in ("vmap", "vmap_with_axes")

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, *inputs: Any) -> Any:
            return (inputs[0], body(inputs[-1])) if scans else body(inputs[-1])

    class Same(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            body(x)
            return x

    if transform is nn.remat_scan:
        transform(Same, lengths=(1, 1))().apply({}, VECTOR)
        return
    options = {"variable_axes": {}, "split_rngs": {}} if maps else {}
    if transform.__name__.endswith("_with_axes"):
        options["partitioning_axis_names" if maps else "axis_name"] = {} if maps else "layers"
    given = (VECTOR, VECTOR[None]) if scans else (VECTOR[None],)
    transform(Layer, **options)().apply({}, *given)


def hk_transform(transform: Any, body: Body) -> None:
    made = transform(body if "multi" not in transform.__name__ else lambda: (body, body))
    made.init(jax.random.key(0), VECTOR)


def run_in_haiku(transform: Any, body: Body, name: str) -> Body:
    if name == "haiku.vmap":
        return lambda x: transform(body, split_rng=False)(x[None])
    return lambda x: transform(body)(x)


def run_transform(name: str, body: Body) -> None:
    transform = resolve(name)
    if name.startswith("flax.linen."):
        run_lifted(transform, body)
    elif name in ("jax.custom_jvp", "jax.custom_vjp", "flax.nnx.custom_vjp"):
        run_custom(transform, body)
    elif name == "jax.custom_gradient":
        transform(lambda x: (body(x), lambda g: (g * VECTOR,)))(VECTOR)
    elif name in ("flax.nnx.split_rngs", "flax.nnx.fork_rngs"):
        options = {"splits": 1} if name.endswith("split_rngs") else {}
        transform(**options)(lambda rngs, x: body(x))(resolve("flax.nnx.Rngs")(0), VECTOR)
    elif name == "flax.nnx.cached_partial":
        jitted = resolve("flax.nnx.jit")(lambda x: x)
        transform(jitted, VECTOR)()
        body(VECTOR)  # the function that it takes is jitted already
    elif name == "flax.nnx.jit_partial":
        transform(body, VECTOR, graph_updates=False)()
    elif name == "flax.nnx.make_jaxpr":
        transform(body, graph_updates=False)(VECTOR)
    elif name in ("jax.shard_map", "flax.nnx.shard_map"):
        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        spec = PartitionSpec("i")
        transform(lambda x: body(x)[None], mesh=mesh, in_specs=spec, out_specs=spec)(VECTOR)
    elif name == "flax.nnx.scan":
        transform(lambda carry, x: (carry, body(x)))(VECTOR, VECTOR[None])
    elif name.startswith("haiku.transform") or name == "haiku.multi_transform":
        hk_transform(transform, body)
    elif name.startswith("haiku."):
        hk_transform(resolve("haiku.transform"), run_in_haiku(transform, body, name))
    elif name.endswith(("pmap", "vmap")):
        transform(body)(VECTOR[None])
    elif name == "jax.numpy.vectorize":
        transform(body)(jnp.ones(3))
    else:
        transform(body)(VECTOR)


RUNNABLE = [
    name
    for name in present(TRANSFORMS)
    # Those left out need a kernel, derivative rules, or a test class around them.
    if not name.startswith("jax.experimental.pallas.")
    and not name.startswith(("equinox.filter_custom_", "haiku.without_", "functools.", "chex."))
]


@pytest.mark.parametrize("name", RUNNABLE)
def test_transformations_stage_as_the_table_says(name: str) -> None:
    seen: dict[str, bool] = {}
    run_transform(name, probe(seen))
    spec = TRANSFORMS[name]
    assert seen["staged"] == spec.staged
    if spec.kind not in ("shard_map", "nn.lift"):
        assert seen["abstract"] == spec.abstract


def test_kernels_get_references() -> None:
    from jax.experimental import pallas

    seen = []

    def kernel(x: Any, out: Any) -> None:
        out[...] = x[...] + 1
        seen.append((raises_truth(x[...]), raises_truth(jnp.zeros(3) + 1)))

    def raises_truth(value: Any) -> bool:
        try:
            bool(value.sum() > 0)
        except jax.errors.TracerBoolConversionError:
            return True
        return False

    pallas.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1,), np.float32), interpret=True)(VECTOR)
    assert all(all(pair) for pair in seen)
    assert seen
    assert TRANSFORMS["jax.experimental.pallas.pallas_call"].abstract


def test_kinds_that_compile_are_in_the_table() -> None:
    assert {spec.kind for spec in TRANSFORMS.values()} >= JIT_KINDS
    for name in present(TRANSFORMS):
        if TRANSFORMS[name].kind in JIT_KINDS:
            assert TRANSFORMS[name].staged
            assert TRANSFORMS[name].abstract


def test_rules_of_primitives_get_tracers_where_the_table_says() -> None:
    from jax.interpreters import ad, batching, mlir

    primitive = jax.extend.core.Primitive("doubled")
    seen: dict[str, list[bool]] = {}

    def noted(table: str, result: Callable[..., Any]) -> Callable[..., Any]:
        def rule(*args: Any, **params: Any) -> Any:
            seen[table] = [any(map(is_tracer, jax.tree.leaves(arg))) for arg in args]
            return result(*args)

        return rule

    primitive.def_abstract_eval(lambda x: x)
    lowered = noted("jax.interpreters.mlir.lower_fun", lambda x: 2 * x)
    mlir.register_lowering(primitive, mlir.lower_fun(lowered, multiple_results=False))
    tables = {
        "jax.interpreters.ad.primitive_jvps": (
            ad.primitive_jvps,
            lambda xs, ts: (primitive.bind(*xs), primitive.bind(*ts)),
        ),
        "jax.interpreters.ad.primitive_transposes": (ad.primitive_transposes, lambda ct, x: [2 * ct]),
        "jax.interpreters.batching.primitive_batchers": (
            batching.primitive_batchers,
            lambda xs, dims: (primitive.bind(*xs), dims[0]),
        ),
    }
    for name, (table, result) in tables.items():
        table[primitive] = noted(name, result)
    jax.jit(primitive.bind)(jnp.ones(3))
    jax.jit(jax.vmap(jax.grad(lambda x: primitive.bind(x) * 1.0)))(jnp.ones(3))
    assert seen["jax.interpreters.ad.primitive_jvps"] == [True, True]
    assert seen["jax.interpreters.ad.primitive_transposes"][0]
    assert seen["jax.interpreters.mlir.lower_fun"] == [True]
    batched = seen["jax.interpreters.batching.primitive_batchers"]
    assert batched == [
        n in (PRIMITIVE_RULES["jax.interpreters.batching.primitive_batchers"] or ()) for n in (0, 1)
    ]


def test_batching_rules_with_an_axis_get_tracers_after_what_says_of_the_axis() -> None:
    from jax.interpreters import batching

    primitive = jax.extend.core.Primitive("axis_of_test")
    primitive.def_abstract_eval(lambda x: x)
    seen: list[list[bool]] = []

    def rule(*args: Any) -> Any:
        seen.append([any(map(is_tracer, jax.tree.leaves(arg))) for arg in args])
        return primitive.bind(*args[3]), args[4][0]

    batching.axis_primitive_batchers[primitive] = rule
    jax.make_jaxpr(jax.vmap(primitive.bind))(jnp.ones(3))
    positions = PRIMITIVE_RULES["jax.interpreters.batching.axis_primitive_batchers"] or ()
    assert seen == [[n in positions for n in range(5)]]


def test_rules_of_equinox_primitives_get_tracers() -> None:
    internal = pytest.importorskip("equinox.internal")
    seen: dict[str, list[bool]] = {}

    def noted(kind: str, result: Callable[..., Any]) -> Any:
        def rule(*args: Any) -> Any:
            seen.setdefault(kind, []).append(any(map(is_tracer, jax.tree.leaves(args))))
            return result(*args)

        assert f"equinox.internal.filter_primitive_{kind}" in PRIMITIVE_RULES
        return getattr(internal, f"filter_primitive_{kind}")(rule)

    def bind(x: Any) -> Any:
        return internal.filter_primitive_bind(primitive, x)

    primitive = internal.create_vprim(
        "doubled",
        noted("def", lambda x: 2 * x),
        internal.filter_primitive_def(lambda x: x),
        noted("jvp", lambda primals, tangents: (bind(*primals), bind(*tangents))),
        noted("transpose", lambda inputs, cotangent: (2 * cotangent,)),
    )
    jax.jit(jax.value_and_grad(lambda x: bind(x).sum()))(jnp.ones(3))
    assert all(seen[kind][0] for kind in ("def", "jvp", "transpose"))


def apart(function: Body) -> Body:
    """A function of linen's control flow, which gets the module first."""
    return lambda module, x: function(x)


def in_module(program: Body) -> None:
    class Layer(nn.Module):
        @nn.compact
        def __call__(self) -> Any:
            return program(self)

    Layer().apply({})


def in_haiku(program: Callable[[], Any]) -> None:
    resolve("haiku.transform")(program).apply({}, None)


# Whether the function argument is staged, by name.
FLOW: dict[str, tuple[bool, Callable[[Body], Any]]] = {
    "jax.lax.scan": (True, lambda f: jax.lax.scan(lambda c, x: (c, f(x)), VECTOR, VECTOR[None])),
    "jax.lax.while_loop": (True, lambda f: jax.lax.while_loop(lambda c: f(c) < 0, lambda c: c, VECTOR)),
    "jax.lax.fori_loop": (True, lambda f: jax.lax.fori_loop(0, 2, lambda i, c: c + f(c), VECTOR)),
    "jax.experimental.pallas.loop": (
        True,
        lambda f: resolve("jax.experimental.pallas.loop")(0, 2, init_carry=VECTOR)(lambda i, c: c + f(c)),
    ),
    "jax.lax.cond": (True, lambda f: jax.lax.cond(True, f, f, VECTOR)),
    "jax.lax.switch": (True, lambda f: jax.lax.switch(0, [f, f], VECTOR)),
    "jax.lax.map": (True, lambda f: jax.lax.map(f, VECTOR[None])),
    "jax.lax.associative_scan": (
        False,
        lambda f: jax.lax.associative_scan(lambda a, b: (f(a), a + b)[1], jnp.ones(2)),
    ),
    "jax.eval_shape": (True, lambda f: jax.eval_shape(f, VECTOR)),
    "jax.jvp": (False, lambda f: jax.jvp(f, (VECTOR,), (VECTOR,))),
    "jax.vjp": (False, lambda f: jax.vjp(f, VECTOR)),
    "jax.linearize": (False, lambda f: jax.linearize(f, VECTOR)),
    "jax.tree.map": (False, lambda f: jax.tree.map(f, VECTOR)),
    "jax.tree.map_with_path": (False, lambda f: jax.tree.map_with_path(lambda _, x: f(x), VECTOR)),
    "jax.tree.reduce": (False, lambda f: jax.tree.reduce(lambda a, b: f(a), [VECTOR, VECTOR])),
    "flax.nnx.cond": (True, lambda f: resolve("flax.nnx.cond")(True, f, f, VECTOR)),
    "flax.nnx.while_loop": (
        True,
        lambda f: resolve("flax.nnx.while_loop")(lambda c: f(c) < 0, lambda c: c, VECTOR),
    ),
    "flax.nnx.fori_loop": (
        True,
        lambda f: resolve("flax.nnx.fori_loop")(0, 2, lambda i, c: c + f(c), VECTOR),
    ),
    "flax.nnx.switch": (True, lambda f: resolve("flax.nnx.switch")(0, [f, f], VECTOR)),
    "flax.nnx.eval_shape": (True, lambda f: resolve("flax.nnx.eval_shape")(f, VECTOR)),
    "flax.nnx.vjp": (False, lambda f: resolve("flax.nnx.vjp")(f, VECTOR, graph_updates=False)),
    "flax.nnx.jvp": (False, lambda f: resolve("flax.nnx.jvp")(f, (VECTOR,), (VECTOR,), graph_updates=False)),
    "flax.linen.cond": (True, lambda f: in_module(lambda m: nn.cond(True, apart(f), apart(f), m, VECTOR))),
    "flax.linen.switch": (True, lambda f: in_module(lambda m: nn.switch(0, [apart(f), apart(f)], m, VECTOR))),
    "flax.linen.while_loop": (
        True,
        lambda f: in_module(lambda m: nn.while_loop(lambda _, c: f(c) < 0, lambda _, c: c, m, VECTOR)),
    ),
    "haiku.dynamic_unroll": (
        True,
        lambda f: resolve("haiku.dynamic_unroll")(lambda x, state: (f(x), state), VECTOR[None], VECTOR),
    ),
    "haiku.switch": (True, lambda f: in_haiku(lambda: resolve("haiku.switch")(0, [f, f], VECTOR))),
    "haiku.map": (True, lambda f: in_haiku(lambda: resolve("haiku.map")(f, VECTOR[None]))),
    "haiku.eval_shape": (True, lambda f: in_haiku(lambda: resolve("haiku.eval_shape")(f, VECTOR))),
    "equinox.filter_vjp": (False, lambda f: resolve("equinox.filter_vjp")(f, VECTOR)),
    "equinox.filter_jvp": (False, lambda f: resolve("equinox.filter_jvp")(f, (VECTOR,), (VECTOR,))),
}


@pytest.mark.parametrize("name", sorted(present(FLOW)))
def test_control_flow_stages_its_bodies(name: str) -> None:
    staged, run = FLOW[name]
    seen: dict[str, bool] = {}
    run(probe(seen))
    assert seen == {"staged": staged, "abstract": staged}


def test_callbacks_run_on_the_host() -> None:
    given: list[Any] = []

    def note(x: Any) -> Any:
        given.append(x)
        return np.float32(x.sum())

    @jax.jit
    def program(x: Any) -> Any:
        jax.debug.callback(note, x)
        shape = jax.ShapeDtypeStruct((), np.float32)
        return jax.pure_callback(note, shape, x) + jax.experimental.io_callback(note, shape, x)

    assert program(VECTOR) == 2
    jax.effects_barrier()
    assert len(given) == 3
    assert not any(map(is_tracer, given))
    listed = {name for name in CONTROL_FLOW if name.rpartition(".")[2].endswith("callback")}
    assert listed == {"jax.pure_callback", "jax.experimental.io_callback", "jax.debug.callback"}


def test_every_control_flow_function_is_held_against_its_library() -> None:
    callbacks = {name for name in CONTROL_FLOW if name.endswith("callback")}
    rest = set(present(CONTROL_FLOW)) - callbacks - set(FLOW)
    rest = {name for name in rest if name.startswith(("jax.", "flax."))}
    assert rest == {"jax.experimental.pallas.when"}
    assert all(prefix.endswith(".") for prefix in ARRAY_PREFIXES)
    assert checkify.checkify is resolve("jax.experimental.checkify.checkify")


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in RUNNABLE
        if TRANSFORMS[n].kind in ("jit", "nnx.jit", "filter_jit", "checkpoint") and not n.endswith("_partial")
    ],
)
def test_python_arguments_stay_what_they_are_only_where_the_table_says(name: str) -> None:
    if name.startswith("haiku."):
        pytest.skip("needs a transformed function around it")
    given: list[Any] = []
    resolve(name)(lambda x, flag: given.append(flag) or x.sum())(VECTOR, True)
    assert is_tracer(given[0]) != TRANSFORMS[name].keeps_python


def _matrix(v: Any) -> Any:
    return v * 2.0


CALLS: dict[str, Callable[[Any], Any]] = {
    "jax.scipy.sparse.linalg.cg": lambda seen: (seen(_matrix), VECTOR),
    "jax.scipy.sparse.linalg.gmres": lambda seen: (seen(_matrix), VECTOR),
    "jax.scipy.sparse.linalg.bicgstab": lambda seen: (seen(_matrix), VECTOR),
    "jax.scipy.optimize.minimize": lambda seen: (seen(lambda x: (x**2).sum()), VECTOR, ()),
    "jax.experimental.ode.odeint": lambda seen: (seen(lambda y, t: -y), VECTOR, jnp.linspace(0.0, 1.0, 3)),
    "jax.lax.custom_linear_solve": lambda seen: (
        seen(_matrix),
        VECTOR,
        seen(lambda matvec, x: x / 2.0),
        seen(lambda matvec, x: x / 2.0),
        True,
    ),
    "jax.lax.custom_root": lambda seen: (
        seen(lambda x: x - 1.0),
        jnp.array(0.0),
        seen(lambda f, x: x + 1.0),
        seen(lambda g, y: y / g(1.0)),
    ),
    "jax.lax.reduce": lambda seen: (VECTOR, np.float32(0), seen(lambda x, y: x + y * 1.0), (0,)),
    "jax.lax.reduce_window": lambda seen: (
        VECTOR,
        np.float32(0),
        seen(lambda x, y: x + y * 1.0),
        (1,),
        (1,),
        "VALID",
    ),
    "jax.numpy.apply_along_axis": lambda seen: (seen(lambda x: x.sum()), 0, jnp.ones((2, 3))),
    "jax.numpy.piecewise": lambda seen: (VECTOR, [VECTOR > 0.0], [seen(_matrix), 0.0]),
    "jax.linear_transpose": lambda seen: (seen(_matrix), VECTOR),
    "jax.closure_convert": lambda seen: (seen(_matrix), VECTOR),
    "equinox.filter_closure_convert": lambda seen: (seen(_matrix), VECTOR),
    "lineax.FunctionLinearOperator": lambda seen: (seen(_matrix), jax.eval_shape(_matrix, VECTOR)),
    "lineax.JacobianLinearOperator": lambda seen: (seen(lambda y, args: y * args), VECTOR, VECTOR),
}


@pytest.mark.parametrize("name", CALLERS)
def test_a_solver_traces_the_functions_it_is_given(name: str) -> None:
    functions: list[list[bool]] = []

    def seen(function: Callable[..., Any]) -> Callable[..., Any]:
        calls: list[bool] = []
        functions.append(calls)

        def noted(*args: Any) -> Any:
            calls.extend(is_tracer(a) for a in jax.tree.leaves(args) if not callable(a))
            return function(*args)

        return noted

    options: dict[str, Any] = {"method": "BFGS"} if name.endswith("minimize") else {}
    if "M" in CALLERS[name].called:
        options["M"] = seen(lambda v: v / 2.0)
    result = resolve(name)(*CALLS[name](seen), **options)
    if name == "jax.linear_transpose":
        result(VECTOR)
    assert len(functions) == len(CALLERS[name].called)
    assert all(any(calls) for calls in functions)
