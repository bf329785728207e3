"""Transformations: which functions trace their argument, and how they treat its parameters.

Checked against the installed JAX by `tests/engine/test_jaxapi_tables.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Transform:
    """A function that takes a function and returns one.

    `kind` groups transformations that behave alike. `staged`: `bool()` of an argument raises inside. `abstract`:
    array functions return tracers inside even for concrete inputs. `keeps_python`: plain Python arguments are not
    traced (`eqx.filter_jit`).
    """

    kind: str
    staged: bool = True
    abstract: bool = True
    keeps_python: bool = False


TRANSFORMS: dict[str, Transform] = {
    "jax.jit": Transform("jit"),
    "flax.linen.jit": Transform("nn.jit"),
    "flax.nnx.jit": Transform("nnx.jit"),
    "flax.nnx.jit_partial": Transform("nnx.jit"),
    "haiku.jit": Transform("jit"),
    "equinox.filter_jit": Transform("filter_jit", keeps_python=True),
    "jax.pmap": Transform("pmap"),
    "flax.nnx.pmap": Transform("pmap"),
    "equinox.filter_pmap": Transform("pmap", keeps_python=True),
    # `self.variant` of a `chex.TestCase`: under jit in some variants of a test, plain in others.
    "chex.variant": Transform("variant"),
    "jax.vmap": Transform("vmap", abstract=False),
    "flax.linen.vmap": Transform("nn.lift", abstract=False),
    "flax.linen.scan": Transform("nn.lift"),
    "flax.linen.remat": Transform("nn.lift"),
    "flax.linen.checkpoint": Transform("nn.lift"),
    "flax.linen.remat_scan": Transform("nn.lift"),
    "flax.linen.partitioning.scan_with_axes": Transform("nn.lift"),
    "flax.linen.partitioning.vmap_with_axes": Transform("nn.lift", abstract=False),
    "flax.nnx.vmap": Transform("vmap", abstract=False),
    "flax.nnx.scan": Transform("nnx.scan"),
    "equinox.filter_vmap": Transform("vmap", abstract=False, keeps_python=True),
    "haiku.vmap": Transform("vmap", abstract=False),
    "jax.shard_map": Transform("shard_map", abstract=False),
    "flax.nnx.shard_map": Transform("shard_map", abstract=False),
    "jax.checkpoint": Transform("checkpoint"),
    "flax.nnx.remat": Transform("checkpoint"),
    "haiku.remat": Transform("checkpoint"),
    "equinox.filter_checkpoint": Transform("checkpoint", keeps_python=True),
    "jax.grad": Transform("grad", staged=False, abstract=False),
    "jax.value_and_grad": Transform("value_and_grad", staged=False, abstract=False),
    "flax.nnx.grad": Transform("grad", staged=False, abstract=False),
    "flax.nnx.value_and_grad": Transform("value_and_grad", staged=False, abstract=False),
    "equinox.filter_grad": Transform("grad", staged=False, abstract=False),
    "equinox.filter_value_and_grad": Transform("value_and_grad", staged=False, abstract=False),
    "haiku.grad": Transform("grad", staged=False, abstract=False),
    "haiku.value_and_grad": Transform("value_and_grad", staged=False, abstract=False),
    "jax.jacfwd": Transform("jacobian", staged=False, abstract=False),
    "jax.jacrev": Transform("jacobian", staged=False, abstract=False),
    "jax.jacobian": Transform("jacobian", staged=False, abstract=False),
    "jax.hessian": Transform("jacobian", staged=False, abstract=False),
    "jax.custom_jvp": Transform("custom", staged=False, abstract=False),
    "jax.custom_vjp": Transform("custom", staged=False, abstract=False),
    "jax.custom_gradient": Transform("custom", staged=False, abstract=False),
    "equinox.filter_custom_vjp": Transform("custom", staged=False, abstract=False),
    "equinox.filter_custom_jvp": Transform("custom", staged=False, abstract=False),
    "flax.nnx.custom_vjp": Transform("custom", staged=False, abstract=False),
    "equinox.filter_jacfwd": Transform("jacobian", staged=False, abstract=False),
    "equinox.filter_jacrev": Transform("jacobian", staged=False, abstract=False),
    "equinox.filter_hessian": Transform("jacobian", staged=False, abstract=False),
    # They split keys, or bind arguments, and call their argument.
    "flax.nnx.split_rngs": Transform("wrap", staged=False, abstract=False),
    "flax.nnx.fork_rngs": Transform("wrap", staged=False, abstract=False),
    "flax.nnx.cached_partial": Transform("partial", staged=False, abstract=False),
    "flax.nnx.make_jaxpr": Transform("make_jaxpr"),
    "equinox.filter_make_jaxpr": Transform("make_jaxpr", keeps_python=True),
    "jax.named_call": Transform("wrap", staged=False, abstract=False),
    # Its arguments are constants of the trace.
    "jax.experimental.checkify.checkify": Transform("checkify", staged=False),
    "jax.numpy.vectorize": Transform("vmap", abstract=False),
    "jax.make_jaxpr": Transform("make_jaxpr"),
    "haiku.transform": Transform("hk.transform", staged=False, abstract=False),
    "haiku.transform_with_state": Transform("hk.transform", staged=False, abstract=False),
    "haiku.without_apply_rng": Transform("hk.wrap", staged=False, abstract=False),
    "haiku.multi_transform": Transform("hk.transform", staged=False, abstract=False),
    "jax.experimental.pallas.pallas_call": Transform("pallas"),
    "jax.experimental.pallas.kernel": Transform("pallas"),
    "jax.experimental.pallas.tpu.emit_pipeline": Transform("pallas"),
    "jax.experimental.pallas.tpu.emit_pipeline_with_allocations": Transform("pallas"),
    "jax.experimental.pallas.mosaic_gpu.kernel": Transform("pallas"),
    "jax.experimental.pallas.mosaic_gpu.emit_pipeline": Transform("pallas"),
    "jax.experimental.pallas.mosaic_gpu.emit_pipeline_warp_specialized": Transform("pallas"),
    "functools.lru_cache": Transform("wrap", staged=False, abstract=False),
    "functools.cache": Transform("wrap", staged=False, abstract=False),
}

JIT_KINDS = frozenset({"jit", "nnx.jit", "nn.jit", "filter_jit", "pmap"})
"""Kinds that compile, and cache by shapes and static values."""

STATIC_JIT_KINDS = frozenset({"jit", "nnx.jit"})
"""Those of them that are told which arguments are static, by names and positions of their own parameters."""

DIFFERENTIATION = frozenset({"grad", "value_and_grad", "jacobian"})
"""Kinds that differentiate their function, on concrete values outside of a stage."""

# Functions that trace their function arguments at once.
CONTROL_FLOW = frozenset(
    {
        "jax.lax.scan",
        "jax.lax.while_loop",
        "jax.lax.fori_loop",
        "jax.lax.cond",
        "jax.lax.switch",
        "jax.lax.map",
        "jax.lax.associative_scan",
        "jax.eval_shape",
        "equinox.filter_eval_shape",
        "jax.jvp",
        "jax.vjp",
        "jax.linearize",
        "jax.tree.map",
        "jax.tree.map_with_path",
        "jax.tree.reduce",
        "jax.pure_callback",
        "jax.experimental.io_callback",
        "jax.debug.callback",
        "equinox.internal.scan",
        "equinox.internal.while_loop",
        "haiku.scan",
        "haiku.dynamic_unroll",
        "haiku.cond",
        "haiku.while_loop",
        "haiku.fori_loop",
        "flax.nnx.cond",
        "flax.nnx.while_loop",
        "flax.nnx.fori_loop",
        "flax.nnx.switch",
        "flax.nnx.eval_shape",
        "flax.nnx.vjp",
        "flax.nnx.jvp",
        "flax.linen.cond",
        "flax.linen.switch",
        "flax.linen.while_loop",
        "haiku.switch",
        "haiku.map",
        "haiku.eval_shape",
        "equinox.filter_vjp",
        "equinox.filter_jvp",
        "jax.experimental.pallas.when",
        "jax.experimental.pallas.loop",
    }
)


class Caller(NamedTuple):
    """A function that traces functions among its other arguments."""

    parameters: tuple[str, ...]  # its positional parameters, in order
    called: dict[str, tuple[str, ...]]  # which arguments are functions, and which of the others these receive


def _caller(parameters: str, **called: str) -> Caller:
    return Caller(tuple(parameters.split()), {name: tuple(given.split()) for name, given in called.items()})


CALLERS: dict[str, Caller] = {
    "jax.scipy.sparse.linalg.cg": _caller("A b x0", A="b", M="b"),
    "jax.scipy.sparse.linalg.gmres": _caller("A b x0", A="b", M="b"),
    "jax.scipy.sparse.linalg.bicgstab": _caller("A b x0", A="b", M="b"),
    "jax.scipy.optimize.minimize": _caller("fun x0 args", fun="x0"),
    "jax.experimental.ode.odeint": _caller("func y0 t", func="y0 t"),
    "jax.lax.custom_linear_solve": _caller(
        "matvec b solve transpose_solve", matvec="b", solve="matvec b", transpose_solve="matvec b"
    ),
    "jax.lax.custom_root": _caller(
        "f initial_guess solve tangent_solve",
        f="initial_guess",
        solve="f initial_guess",
        tangent_solve="f initial_guess",
    ),
    "jax.lax.reduce": _caller("operands init_values computation", computation="operands init_values"),
    "jax.lax.reduce_window": _caller("operand init_value computation", computation="operand init_value"),
    "jax.numpy.apply_along_axis": _caller("func1d axis arr", func1d="arr"),
    "jax.numpy.piecewise": _caller("x condlist funclist", funclist="x"),
    "jax.linear_transpose": _caller("fun primal", fun="primal"),
    "jax.closure_convert": _caller("fun first second third", fun="first second third"),
    "equinox.filter_closure_convert": _caller("fn first second third", fn="first second third"),
    "lineax.FunctionLinearOperator": _caller("fn input_structure", fn="input_structure"),
    "lineax.JacobianLinearOperator": _caller("fn x args", fn="x args"),
}

TRANSPOSES = "jax.interpreters.ad.primitive_transposes"
# Tables of primitive rules, and functions that register one: which positional arguments of a rule contain tracers,
# None for all of them. The keywords are the primitive's parameters, which are static.
PRIMITIVE_RULES: dict[str, tuple[int, ...] | None] = {
    "jax.interpreters.ad.primitive_jvps": None,
    TRANSPOSES: None,
    "jax.interpreters.batching.primitive_batchers": (0,),
    "jax.interpreters.batching.axis_primitive_batchers": (3,),  # size, name and kind of the axis come first
    "jax.interpreters.batching.fancy_primitive_batchers": (1,),
    "jax.interpreters.mlir.lower_fun": None,
    "equinox.internal.filter_primitive_def": None,
    "equinox.internal.filter_primitive_jvp": None,
    "equinox.internal.filter_primitive_transpose": None,
    "equinox.internal.filter_primitive_batching": None,
}
