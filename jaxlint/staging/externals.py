"""What calls of builtins, NumPy, JAX's array functions and the libraries around them give."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.dtypes import TRUTH_FUNCTIONS, canonical_dtype
from jaxlint.jaxapi.functions import (
    COLLECTIVES,
    DATA_DEPENDENT,
    KEY_MAKERS,
    LISTS_OF_ARRAYS,
    MANY_IN_MANY_OUT,
    NUMBER_KEEPING_COLLECTIVES,
    NUMPY_DISPATCHES,
    NUMPY_FRESH,
    NUMPY_METADATA,
    NUMPY_VIEWS,
    SEVERAL_BY_MODE,
    SEVERAL_RESULTS,
    SHAPE_ARGUMENTS,
    SIZED_BY_DATA,
    STATIC_FUNCTIONS,
    STATIC_NUMBERS,
    TREES_OF_ARRAYS,
    TUPLES_OF_ARRAYS,
    TYPES,
    returns_array,
)
from jaxlint.jaxapi.modules import LAYERS_IN_DTYPE, holds_arrays
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import CALLERS, CONTROL_FLOW, PRIMITIVE_RULES, TRANSFORMS
from jaxlint.staging import events
from jaxlint.staging.boundary import SHAPED
from jaxlint.staging.callbacks import (
    CAPTURE,
    FITTER,
    LAYER_STACK,
    SAMPLER,
    STACKED,
    SUMMARIES,
    call_captured,
    call_initialiser,
    call_line_search,
    call_stacked,
    call_summary,
    linen_variable,
    parameter_dtype,
    run_model,
    tabulate_module,
    updated,
)
from jaxlint.staging.classes import DECORATOR_KINDS, FIELD_MAKERS, WRITTEN_INIT, decorated, redecorates
from jaxlint.staging.dispatching import GENERIC, REGISTER, call_generic, register, registered
from jaxlint.staging.entry import CASE, FIXTURE, PARAMETRISERS, PRIMITIVE
from jaxlint.staging.frame import Frame
from jaxlint.staging.machine import Machine
from jaxlint.staging.operations import changed_in_place, dtype_named, numpy_dtype
from jaxlint.staging.shapes import lacks_rows
from jaxlint.staging.signatures import BOUND_ARGUMENTS, SIGNATURE, bind_arguments, parameters_of
from jaxlint.staging.special_calls import SPECIAL_CALLS
from jaxlint.staging.values import (
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Fetch,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Operation,
    Origin,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    is_single,
    unknown_of,
)

# Libraries whose objects compute arrays when they are called.
_LAYER_PREFIXES = ("flax.", "haiku.", "equinox.", "distrax.", "jraph.", "e3nn_jax.")
_NUMPY_HARMLESS = ("numpy.testing.", "numpy.dtypes.", "numpy.typing.", "numpy.lib.")
_NUMPY_STATIC = frozenset(
    f"numpy.{n}"
    for n in [
        "issubdtype",
        "dtype",
        "iterable",
        "isscalar",
        "promote_types",
        "can_cast",
        "finfo",
        "iinfo",
        "vectorize",
        "broadcast_shapes",
        "errstate",
        "ndarray",
        "generic",
        "iterable",
        "set_printoptions",
        "printoptions",
        "seterr",
        "ndindex",
        "save",
        "savez",
        "load",
        "memmap",
    ]
)


# Modules of other libraries whose functions make NumPy arrays of what they are given.

# Optimisers whose state certainly holds arrays.
_WITH_MOMENTS = frozenset(
    [
        "adam",
        "adamw",
        "adamax",
        "nadam",
        "lamb",
        "lion",
        "rmsprop",
        "adagrad",
        "adafactor",
        "radam",
        "novograd",
        "adabelief",
    ]
)
_ON_NUMPY = tuple(
    f"scipy.{part}."
    for part in (
        "special",
        "stats",
        "linalg",
        "signal",
        "ndimage",
        "fft",
        "optimize",
        "interpolate",
        "integrate",
        "spatial",
    )
)
_ON_NUMPY_OBJECTS = frozenset(
    [
        "scipy.interpolate.interp1d",
        "scipy.interpolate.interp2d",
        "scipy.interpolate.make_interp_spline",
        "scipy.interpolate.make_smoothing_spline",
        "scipy.stats.gaussian_kde",
    ]
)
# They make of a maker of optimisers another one, whose numbers are in the state.
_OPTIMISER_MAKERS = frozenset({"optax.inject_hyperparams", "optax.inject_stateful_hyperparams"})
_QUEUES = frozenset({"queue.Queue", "queue.SimpleQueue", "queue.LifoQueue", "multiprocessing.Queue"})
_NUMBER_TAKERS = frozenset({"operator.index", "time.sleep"})
_NUMPY_CHECKS = frozenset(
    f"numpy.testing.assert_{n}"
    for n in ["allclose", "array_equal", "array_almost_equal", "array_less", "array_max_ulp"]
)
_NUMPY_WRITERS = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt"})
LOGGER_MAKERS = frozenset({"logging.getLogger", "absl.logging.get_absl_logger"})
_LIKE_THE_FIRST = frozenset(
    [
        "optax.apply_updates",
        *(
            f"jax.numpy.{name}"
            for name in [
                "where",
                "roll",
                "flip",
                "fliplr",
                "flipud",
                "tril",
                "triu",
                "clip",
                "maximum",
                "minimum",
                "square",
                "nan_to_num",
            ]
        ),
        "jax.lax.dynamic_update_slice",
        "jax.lax.dynamic_update_slice_in_dim",
        "jax.lax.dynamic_update_index_in_dim",
    ]
)
# Shown by default.
_LOGGING_METHODS = frozenset({"info", "warning", "warn", "error", "critical", "exception"})
_LOGGING = frozenset(f"{module}.{m}" for module in ("logging", "absl.logging") for m in _LOGGING_METHODS)
# Functions and methods of libraries that need the numbers of an array at once: to write them to a file, or to send them.
_HOST_READERS = frozenset(
    """pickle.dump pickle.dumps joblib.dump wandb.log mlflow.log_metric mlflow.log_metrics
    flax.serialization.to_bytes flax.serialization.msgpack_serialize flax.training.checkpoints.save_checkpoint
    equinox.tree_serialise_leaves safetensors.flax.save_file safetensors.numpy.save_file""".split()  # noqa: SIM905
)
_TRACKING_METHODS = frozenset(
    "log add_scalar add_scalars add_histogram scalar histogram".split()  # noqa: SIM905
)


# Conversions that an array whose gradient is taken refuses, while `int`, `bool` and `.item` are given its value.
_NEED_NUMBERS = frozenset({"float", "complex", "tolist", "format"})


class Externals(Machine):
    """Calls that leave the project."""

    def call_external(
        self,
        callee: External,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        name = canonical(callee.name)
        if name in TRANSFORMS:
            return self.apply_transform(name, args, kwargs, node, frame, callee.own)
        if name in CONTROL_FLOW:
            return self.control_flow(name, args, kwargs, node, frame, callee.own)
        if name in PRIMITIVE_RULES and args and isinstance(args[0], CALLABLE):
            self.add_rule(name, args[0], node, frame)
        if name in CALLERS:
            self.call_back(name, args, kwargs, node, frame)
        if name.startswith("builtins."):
            return self.call_builtin(name[9:], args, kwargs, node, frame)
        if name.startswith("numpy."):
            return self.call_numpy(name, args, kwargs, node, frame)
        if name.startswith("jax.random.") and name not in STATIC_FUNCTIONS:
            return self.call_random(name, args, kwargs, node, frame)
        special = SPECIAL_CALLS.get(name)
        if special is not None:
            if callee.own is not None:
                own = self.aside(callee.own, args, kwargs, node, frame)
                result = special(self, args, kwargs, node, frame)
                return replace(result, own=own) if isinstance(result, ExternalObject) else result
            return special(self, args, kwargs, node, frame)
        if name in _NNX_VARIABLES:
            # A mutable reference to an array; in modules it crosses a jit like one.
            result = self.array_result(frame, args, node)
            result.role = "ref"
            return result
        if name == "haiku.next_rng_key":
            key = self.array_result(frame, [], node, role="key", name="hk.next_rng_key")
            key.origin = Origin("next_rng_key")
            return key
        if name in ("haiku.get_parameter", "haiku.get_state"):
            held = self.array_result(frame, [], node, name=name.replace("haiku", "hk"))
            held.flow = self.parameter_flow if name == "haiku.get_parameter" else None
            return held
        if name.startswith("equinox.nn.") and "key" in kwargs:
            self.use_library_key(kwargs["key"], node, frame)
        if name == "haiku.dropout" and args:
            self.use_library_key(args[0], node, frame)
        if name in STATIC_FUNCTIONS:
            return ExternalObject(name, args, kwargs, node) if name in _CONTEXTS else Static()
        if (
            name in FIELD_MAKERS
            or name in TYPES
            or name in DECORATOR_KINDS
            or name in PARAMETRISERS
            or name in (FIXTURE, CASE)
        ):
            decorator = ExternalObject(name, args, kwargs, node)
            if args and isinstance(args[0], ClassValue) and redecorates(name, args[0]):
                return decorated(args[0], decorator)
            return decorator
        if name in COLLECTIVES and args:
            return self.collective(name, args[0], node, frame)
        if returns_array(name):
            self.check_shapes(name, args, kwargs, node, frame)
            like = args[0] if args and name in _LIKE_THE_FIRST else None
            result = self.array_result(frame, [*args, *kwargs.values()], node, name=_short(name), like=like)
            result.tree = name in ("optax.apply_updates", "optax.incremental_update")
            if name.startswith("jax.numpy.") and name.rpartition(".")[2] in TRUTH_FUNCTIONS:
                result.role = "bool"
            self.made_by(result, name, args, kwargs, node, frame)
            return self.as_returned(name, result, args, kwargs, frame)
        if name in LOGGER_MAKERS or name == "wandb.init":
            return ExternalObject(name, args, kwargs, node)
        if name in _LOGGING or name in _HOST_READERS:
            self.read_on_host("logging" if name in _LOGGING else name, [*args, *kwargs.values()], node, frame)
        if name.startswith("math.") or name in _NUMBER_TAKERS:
            for value in args:
                self.convert(value, node, name, frame)
            return Static()
        if (
            name.startswith(_ON_NUMPY)
            and not name.endswith("Result")
            and self.computed_by_numpy([*args, *kwargs.values()], name, node, frame)
        ):
            return UNKNOWN
        made_by_class = name.rpartition(".")[2][:1].isupper() or name in _ON_NUMPY_OBJECTS
        if made_by_class or name.startswith(("jax.", "optax.", *_LAYER_PREFIXES)):
            made = ExternalObject(name, args, kwargs, node)
            given = [*args, *kwargs.values()]
            made.answer = not made_by_class and frame.stage.staged and any(find_array(v, True) for v in given)
            if holds_arrays(name):
                made.staged = next((a for v in [*args, *kwargs.values()] if (a := find_array(v, True))), None)
                if made.staged is None and frame.stage.abstract:
                    made.staged = Array(True, frame.stage.why, tree=True, certain=False)
            return made
        result = self.opaque_call([*args, *kwargs.values()], node, frame)
        if isinstance(result, Unknown):
            return unknown_of([*args, *kwargs.values()])
        why = frame.stage.why
        if frame.stage.abstract and isinstance(result, Array) and why is not None and not why.rests_on_habit:
            self.libraries.setdefault(name.partition(".")[0], why)
        return result

    def computed_by_numpy(self, inputs: list[Value], name: str, node: ast.AST, frame: Frame) -> bool:
        """Tells rules of a tracer that SciPy is given: it computes with NumPy, by a function, an object or its method."""
        for value in inputs:
            if isinstance(value, Array) and value.staged and not value.tree:
                self.emit("numpy", events.NumpyEvent(node, frame, value, name))
                return True
        carrying = self.differentiated(inputs)
        if carrying is not None:
            self.emit("numpy", events.NumpyEvent(node, frame, carrying, name, True))
        return carrying is not None

    def as_returned(
        self, name: str, result: Array, args: list[Value], kwargs: dict[str, Value], frame: Frame
    ) -> Value:
        """The result of an array function in the container that the function returns, where that is known."""
        many = isinstance(args[0] if args else None, (TupleValue, ListValue))
        several = name in MANY_IN_MANY_OUT and (many or (".atleast_" in name and len(args) > 1))
        several = several or (name in SEVERAL_BY_MODE and "mode" in kwargs)
        if name in TREES_OF_ARRAYS or several or not SEVERAL_RESULTS.isdisjoint(kwargs):
            result.tree = True
        elif name == "jax.numpy.meshgrid" and not any(isinstance(arg, StarArgument) for arg in args):
            return ListValue(
                [replace(result, origin=Origin("item")) for _ in args], result, stage=frame.stage
            )
        elif name in LISTS_OF_ARRAYS:
            return ListValue(None, result, stage=frame.stage)
        elif name in TUPLES_OF_ARRAYS or (name == "jax.numpy.where" and len(args) + len(kwargs) == 1):
            return TupleValue(None, result)
        return result

    def collective(self, name: str, value: Value, node: ast.AST, frame: Frame) -> Value:
        """`lax.psum(value, axis)` and its like: each leaf becomes an array, and the tree stays what it is."""
        if isinstance(value, (TupleValue, ListValue)):
            items = (
                [self.collective(name, v, node, frame) for v in value.items]
                if value.items is not None
                else None
            )
            element = self.collective(name, value.element, node, frame)
            return (
                TupleValue(items, element, value.cls, value.exact)
                if isinstance(value, TupleValue)
                else ListValue(items, element, stage=frame.stage)
            )
        if isinstance(value, DictValue):
            known = {k: self.collective(name, v, node, frame) for k, v in value.items.items()}
            rest = self.collective(name, value.element, node, frame) if value.element is not None else None
            return DictValue(known, rest, frame.stage)
        if isinstance(value, Static) and (value.const is None or name in NUMBER_KEEPING_COLLECTIVES):
            # `psum(1, axis)` is the axis' size.
            return value if value.const is None else Static(kind=value.kind)
        if not isinstance(value, (Array, NumpyArray, Static)):
            return self.opaque_call([value], node, frame)
        result = self.array_result(frame, [value], node, name=_short(name), like=value)
        result.tree = isinstance(value, Array) and value.tree
        if not frame.stage.abstract:
            result.certain = False  # what is the same on the whole axis is concrete under an eager vmap
        return result

    def check_shapes(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """Tells rules of values used as shapes, lengths and counts."""
        wanted = SHAPE_ARGUMENTS.get(name) or STATIC_NUMBERS.get(name)
        if "axis" in kwargs and name not in STATIC_NUMBERS:
            self.shape_argument(kwargs["axis"], name, "`axis`", node, frame)
        sized = SIZED_BY_DATA.get(name)
        if sized is not None and sized[2] not in kwargs and len(args) < 3:
            value = args[sized[0]] if sized[0] < len(args) else kwargs.get(sized[1])
            if isinstance(value, Array) and value.staged:
                self.emit("shape", events.ShapeEvent(node, frame, value, name, "the data", sized[2]))
        if wanted is not None:
            for position, keyword in zip(*wanted, strict=False):
                if position < len(args):
                    called = "stop" if name == "jax.numpy.arange" and len(args) == 1 else keyword
                    self.shape_argument(args[position], name, f"`{called}`", node, frame)
            for keyword in wanted[1]:
                if keyword in kwargs:
                    self.shape_argument(kwargs[keyword], name, f"`{keyword}`", node, frame)
        for option in ("size", sized[2] if sized is not None else ""):
            if option in kwargs and (
                sized is not None or name in DATA_DEPENDENT or name == "jax.numpy.where"
            ):
                self.shape_argument(kwargs[option], name, f"`{option}`", node, frame)
        if (
            name in DATA_DEPENDENT or (name == "jax.numpy.where" and len(args) == 1 and "x" not in kwargs)
        ) and "size" not in kwargs:
            found = find_array(args[0], True) if args else None
            if found is None and frame.stage.abstract and args and isinstance(args[0], (Array, NumpyArray)):
                found = self.array_result(frame, [], node, name=_short(name))  # constants are staged out, too
            if found is not None:
                self.emit("shape", events.ShapeEvent(node, frame, found, name, "the data"))

    def shape_argument(self, value: Value, name: str, what: str, node: ast.AST, frame: Frame) -> None:
        parts = value.elements() if isinstance(value, (TupleValue, ListValue)) else [value]
        for part in parts:
            if isinstance(part, (TupleValue, ListValue)):
                self.shape_argument(part, name, what, node, frame)
            elif isinstance(part, Array) and part.staged:
                self.emit("shape", events.ShapeEvent(node, frame, part, name, what))
                return

    # -- random keys

    def call_random(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name in KEY_MAKERS:
            result = self.array_result(frame, args, node, role="key", name=_short(name))
            result.origin = Origin("key")
            return result
        key = kwargs.get("key", args[0] if args else UNKNOWN)
        origin = key.origin if isinstance(key, (Array, Unknown)) else None
        self.check_shapes(name, args, kwargs, node, frame)
        result = self.array_result(frame, [*args, *kwargs.values()], node, name=_short(name))
        self.made_by(result, name, args, kwargs, node, frame)
        if name == "jax.random.fold_in":
            data = constant(kwargs.get("data", args[1] if len(args) > 1 else UNKNOWN))
            result.role = "key"
            if origin is not None:
                self.told_apart(origin, node, frame)
            known = origin is not None and isinstance(data, (int, str))
            result.origin = (
                origin.child(("fold_in", data)) if known and origin is not None else Origin("fold_in")
            )
            return result
        if name in ("jax.random.key_data", "jax.random.clone"):
            return result
        if origin is not None:
            self.use_key(origin, node, frame)
        if name == "jax.random.split":
            result.role = "key"
            result.origin = Origin("split", batch=True)
            result.origin.split_of = origin
        return result

    # -- builtins

    # -- NumPy

    def call_numpy(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        inputs = [*args, *kwargs.values()]
        array = next((a for a in (find_array(v, depth=2) for v in inputs) if a is not None), None)
        staged = next((a for a in (find_array(v, True, 2) for v in inputs) if a is not None), None)
        if array is not None and not array.staged and name not in NUMPY_METADATA:
            self.ledger.settle()  # NumPy needs the numbers
        if name in NUMPY_METADATA:
            if name == "numpy.shape":
                return TupleValue(None, Static(kind="int"))
            if name.endswith("_from"):
                return TupleValue(None, NumpyArray())
            return Static(kind="int" if name in ("numpy.ndim", "numpy.size") else "")
        if name.startswith("numpy.random."):
            generator = name in ("numpy.random.default_rng", "numpy.random.RandomState")
            return ExternalObject(name, args, kwargs, node) if generator else NumpyArray(fresh=True)
        differentiated = staged is None and self.differentiating > 0
        if differentiated:
            staged = self.differentiated(inputs)
        if staged is not None and name in _NUMPY_CHECKS | _NUMPY_WRITERS:
            self.emit("numpy", events.NumpyEvent(node, frame, staged, name, differentiated))
            return Static(None)
        if name in _NUMPY_WRITERS:
            self.read_on_host(name, inputs, node, frame)
            return Static(None)
        if name in _NUMPY_STATIC or name.startswith(_NUMPY_HARMLESS):
            return (
                ExternalObject(name, args, kwargs, node)
                if name in ("numpy.errstate", "numpy.vectorize")
                else Static()
            )
        if staged is not None:
            first = args[0] if args else kwargs.get("a")
            if name in NUMPY_DISPATCHES and isinstance(first, Array):
                result = self.array_result(frame, inputs, node)
                return self.as_returned(f"jax.{name}", result, args, kwargs, frame)
            changed = changed_in_place(name, args, kwargs)
            changes = (
                isinstance(changed, Array) and changed.certain and not (changed.tree or changed.role == "ref")
            )
            self.emit("numpy", events.NumpyEvent(node, frame, staged, name, differentiated, changes))
            return UNKNOWN
        if array is not None:
            self.emit("convert", events.ConvertEvent(node, frame, array, name))
        dtype = numpy_dtype(name, args, kwargs)
        if any(isinstance(v, Unknown) for v in args[:1]) and name not in NUMPY_FRESH:
            return NumpyArray(dtype=dtype)
        fetch = Fetch(node, name, array.jitted) if array is not None and array.certain else None
        shares = name in NUMPY_VIEWS and is_single(args[0] if args else None) and len(inputs) == 1
        empty = bool(args) and lacks_rows(Operation(name.removeprefix("numpy."), tuple(args), kwargs, node))
        return NumpyArray(name in NUMPY_FRESH, dtype, fetch, shares, empty)

    # -- methods

    # -- external objects

    def external_object_attribute(self, base: ExternalObject, name: str) -> Value:
        if base.name in ("argparse.Namespace", "types.SimpleNamespace"):
            return base.kwargs.get(name, UNKNOWN)
        if base.name == "builtins.super":
            return self.super_attribute(base, name)
        if base.name == BOUND_ARGUMENTS and name in base.kwargs:
            return base.kwargs[name]
        if base.name == SIGNATURE and name == "parameters":
            return parameters_of(base.args[0])
        if base.name == "numpy.random.default_rng":
            return ExternalMethod(base, name)
        if base.name in SHAPED and name in ("shape", "dtype", "ndim"):
            return TupleValue(None, Static(kind="int")) if name == "shape" else Static()
        return UNKNOWN if base.name == "jax.core.ShapedArray" else ExternalMethod(base, name)

    def external_object_method(
        self,
        receiver: ExternalObject,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        inputs = [*args, *kwargs.values()]
        owner = receiver.name
        if "value_fn" in kwargs and name == "update":
            call_line_search(self, args, kwargs, node, frame)
        if owner.startswith("flax.TrainState.tx") or (
            owner.startswith("optax.") and name in ("init", "update")
        ):
            if name == "update":
                updated(self, receiver, args, kwargs, node, frame)
                updates = self.array_result(frame, inputs, node, like=args[0] if args else None)
                updates.tree = True
                state = self.array_result(frame, inputs, node, like=args[1] if len(args) > 1 else None)
                state.tree = True
                return TupleValue([updates, state])
            result = self.array_result(frame, inputs, node)
            result.tree = True
            if owner.rpartition(".")[2] in _WITH_MOMENTS:
                result.role = "optimizer state"
            return result
        if owner in (SAMPLER, FITTER) and name == "run":
            run_model(self, receiver, args, kwargs, node, frame)
            return Static(None) if owner == SAMPLER else UNKNOWN
        if owner == PRIMITIVE and name in ("bind", "bind_with_trace"):
            result = self.array_result(frame, inputs, node)
            result.tree = True  # one array, or a list of them
            return result
        if owner == GENERIC and name == "register":
            return register(self, receiver, args)
        if owner == "jax.stages.Lowered" and name == "compile":
            return receiver.args[0]  # a compiled program is called as the jitted function is
        if owner == SIGNATURE and name in ("bind", "bind_partial"):
            return bind_arguments(self, receiver.args[0], args, kwargs)
        if owner == BOUND_ARGUMENTS:
            return Static(None)  # apply_defaults: they are in already
        if owner.startswith("builtins.super"):
            if name == "__new__":
                return self.call_builtin("object.__new__", args, kwargs, node, frame)
            return Static(None) if name == "__init__" else UNKNOWN
        if owner.startswith("numpy.random."):
            return NumpyArray(fresh=True)
        if owner.startswith(_ON_NUMPY) and self.computed_by_numpy(inputs, f"{owner}.{name}", node, frame):
            return UNKNOWN
        if owner in LOGGER_MAKERS:
            if name in _LOGGING_METHODS:
                self.read_on_host("logging", args, node, frame)
            return Static(None)
        if name in _TRACKING_METHODS and (owner == "wandb.init" or owner.endswith("SummaryWriter")):
            self.read_on_host(f"{owner}.{name}", inputs, node, frame)
            return Static(None)
        if owner in _QUEUES and name in ("put", "put_nowait") and args:
            self.check_outer_object(receiver, args[0], node, frame)
            return Static(None)
        if owner == "argparse.ArgumentParser" and name == "parse_args":
            return ExternalObject("argparse.Namespace")
        if owner.startswith(_LAYER_PREFIXES):
            if name in ("__call__", "apply", "init", "encode", "decode", "attend"):
                result = self.array_result(frame, inputs, node)
                result.tree = True
                return result
            if name in ("train", "eval", "set_attributes"):
                return Static(None)
            return self.opaque_call(inputs, node, frame)
        return self.opaque_call(inputs, node, frame)

    def call_external_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if callee.own is None:
            return self.result_of_object(callee, args, kwargs, node, frame)
        own = self.aside(callee.own, args, kwargs, node, frame, odd=True)
        result = self.result_of_object(callee, args, kwargs, node, frame)
        # What it gives may be called in turn, as a decorator that takes options is.
        return (
            replace(result, own=own) if isinstance(result, ExternalObject) and result.own is None else result
        )

    def result_of_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """What calling an object of a library gives, as far as the tables know."""
        inputs = [*args, *kwargs.values()]
        name = callee.name
        if args and isinstance(args[0], ClassValue) and redecorates(name, args[0]):
            return decorated(args[0], callee)
        if name == WRITTEN_INIT and isinstance(callee.args[0], ClassValue):
            return self.fill(callee.args[0], args, kwargs, node, frame)
        if name == GENERIC:
            return call_generic(self, callee, args, kwargs, node, frame)
        if name == REGISTER and args:
            return registered(callee.args[0], callee.args[1], args[0])
        if name == "dataclasses.replace":
            return self.replace_fields(callee.args[0] if callee.args else UNKNOWN, kwargs)
        if name == "flax.linen.Module.param":
            # `self.param(name, init_fn, *shape_args)` runs while tracing and gives an array.
            call_initialiser(self, args, kwargs, node, frame)
            made = self.array_result(frame, [], node, name="self.param")
            made.flow = self.parameter_flow
            made.dtype, made.made = parameter_dtype(args), Operation("self.param", tuple(args), {}, node)
            return made
        if name == "flax.linen.Module.variable":
            return linen_variable(self, args, kwargs, node, frame)
        if name == "flax.linen.Module.tabulate" and callee.args:
            return tabulate_module(self, callee.args[0], args, kwargs, node, frame)
        if name in (LAYER_STACK, STACKED):
            return call_stacked(self, callee, args, kwargs, node, frame)
        if name in SUMMARIES:
            return call_summary(self, callee, args, kwargs, node, frame)
        if name == CAPTURE:
            return call_captured(self, callee, args, kwargs, node, frame)
        if name == "flax.linen.Module.is_initializing":
            return Static(kind="bool")
        if name == "flax.linen.Module.make_rng":
            result = self.array_result(frame, [], node, role="key", name="self.make_rng")
            result.origin = Origin("make_rng")
            return result
        if name == "flax.linen.Module.lazy_init" and callee.args:
            # It is `init`, of shapes alone.
            init = ExternalObject("flax.linen.Module.init", callee.args)
            return self.control_flow("jax.eval_shape", [init, *args], kwargs, node, frame)
        if name in _MODULE_CALLS and callee.args:
            return self.apply_module(callee, name.rpartition(".")[2], args, kwargs, node, frame)
        if name.startswith("equinox.nn.") and "key" in kwargs:
            self.use_library_key(kwargs["key"], node, frame)
        if name.startswith(_LAYER_PREFIXES) or name in ("flax.TrainState.apply_fn",):
            array = next((a for a in map(find_array, inputs) if a is not None), None)
            if array is None and not frame.stage.abstract:
                return UNKNOWN
            result = self.array_result(frame, inputs, node, name=_short(name))
            result.tree = True
            result.flow = result.flow or callee.flow or self.parameter_flow
            result.certain = (
                result.certain and name.startswith(_LAYER_PREFIXES) and not name.startswith("distrax.")
            )
            if "dtype" in callee.kwargs and name in LAYERS_IN_DTYPE:
                result.dtype = canonical_dtype(dtype_named(callee.kwargs["dtype"]))
                result.tree = not result.dtype  # `dtype=None`, or what is not known, says nothing
            return result
        if name.startswith(("jax.nn.initializers.", "flax.linen.initializers.")):
            self.use_library_key(args[0] if args else kwargs.get("key", UNKNOWN), node, frame)
            return self.array_result(frame, inputs, node, name=_short(name))
        if name in _OPTIMISER_MAKERS:
            return ExternalObject("optax.GradientTransformationExtraArgs", args, kwargs, node)
        if name.startswith("optax.") and inputs:
            return self.array_result(frame, inputs, node)  # a schedule
        if name.startswith(_ON_NUMPY) and self.computed_by_numpy(inputs, name, node, frame):
            return UNKNOWN
        if name == "numpy.vectorize":
            staged = next((a for a in (find_array(v, True, 0) for v in inputs) if a is not None), None)
            carrying = self.differentiated(inputs) if staged is None else None
            found = staged or carrying
            if found is not None:
                self.emit("numpy", events.NumpyEvent(node, frame, found, name, carrying is not None))
            return UNKNOWN
        if name == "jax.export.export":
            return ExternalObject("jax.export.Exported")
        if name == "jax.vjp.pullback" and callee.args:
            self.tell_stopped(None, callee.args[0])
        if name.startswith("functools.wraps"):
            return args[0] if args else UNKNOWN
        return self.opaque_call(inputs, node, frame)

    def apply_module(
        self,
        callee: ExternalObject,
        how: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`module.apply(variables, *args)` of a linen module of the project. `how`: "apply", "init" or "init_with_output"."""
        module = callee.args[0]
        assert isinstance(module, Instance)
        options = ("rngs", "mutable", "method", "capture_intermediates")
        inner = {k: v for k, v in kwargs.items() if k not in options}
        method: Value | None = kwargs.get("method")
        if isinstance(method, Static) and isinstance(method.const, str):
            method = module.cls.lookup(method.const)
        if method is None or (isinstance(method, Static) and method.const is None):
            method = self.module_call_method(module)
        if isinstance(method, BoundMethod):
            method = method.function
        result: Value = UNKNOWN
        if isinstance(method, (Function, Transformed)):
            variables = args[0] if args and how == "apply" else kwargs.get("variables")
            result = self.under_parameters(variables, method, [module, *args[1:]], inner, node, frame)
        if how != "apply":
            variables = self.array_result(frame, args, node)
            variables.tree, variables.role = True, "variables"
            return variables if how == "init" else TupleValue([result, variables])
        if "mutable" in kwargs and truthy_constant(kwargs["mutable"]):
            state = self.array_result(frame, args, node)
            state.tree, state.role = True, "variables"
            return TupleValue([result, state])
        return result

    # -- conversions

    def convert(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """A value is made a Python number or text, or it is hashed ("hash")."""
        if isinstance(value, AtIndexer):
            value = value.array
        if how == "hash" and not (isinstance(value, Array) and value.staged and not value.tree):
            return
        if isinstance(value, Array):
            needs_number = how in _NEED_NUMBERS or how.startswith("math.")
            carrying = self.differentiated([value]) if needs_number else None
            if frame.catching and (needs_number or how in ("int", "index", "item")):
                _note_raised(value, frame)
            self.emit(
                "convert", events.ConvertEvent(node, frame, carrying or value, how, carrying is not None)
            )
        elif how in ("print", "str", "format") and isinstance(value, (DictValue, TupleValue, ListValue)):
            found = find_array(value, False, 2)
            if found is not None:
                self.emit("convert", events.ConvertEvent(node, frame, found, how))

    def read_on_host(self, how: str, values: list[Value], node: ast.AST, frame: Frame) -> None:
        """What is handed to `how` is written or sent from the host; of tracers, other events speak."""
        for value in values:
            found = find_array(value, False, 2)
            if found is not None and not found.staged:
                self.emit("convert", events.ConvertEvent(node, frame, found, how))
                return

    def test(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """Python asks for the truth of a value."""
        if type(value) is Array:
            if value.role != "ref":  # a variable of nnx is an object, and true
                if frame.catching and not value.tree:
                    _note_raised(value, frame)
                self.emit("test", events.TestEvent(node, frame, value, how))
        elif type(value) is Instance:
            method = value.cls.lookup("__bool__")
            if type(method) is Function:
                self.call_value(BoundMethod(method, value), [], {}, node, frame)


def truthy_constant(value: Value) -> bool:
    """Whether an option is given and not False or None; unknown counts as given."""
    if isinstance(value, Static) and value.const is not MISSING:
        return bool(value.const)
    return True


def _short(name: str) -> str:
    return name.replace("jax.numpy.", "jnp.")


_NNX_VARIABLES = frozenset(
    f"flax.nnx.{kind}"
    for kind in ("Param", "Variable", "BatchStat", "Cache", "Intermediate", "VariableState", "Perturbation")
)
_CONTEXTS = frozenset(
    {
        "jax.ensure_compile_time_eval",
        "jax.disable_jit",
        "jax.named_scope",
        "jax.make_mesh",
        "jax.set_mesh",
        "jax.eval_shape",
    }
)
_MODULE_CALLS = frozenset(f"flax.linen.Module.{how}" for how in ("apply", "init", "init_with_output"))


def _note_raised(value: Array, frame: Frame) -> None:
    """In a try: for a tracer what follows in its body is not run, and the handler is."""
    if value.staged and not value.certain:
        frame.facts["perhaps raised"] = True
    elif value.staged:
        found = (len(frame.guards) + len(frame.loops), len(frame.returns))
        known = frame.facts.get("raised")
        if not isinstance(known, tuple) or found < known:
            frame.facts["raised"] = found
