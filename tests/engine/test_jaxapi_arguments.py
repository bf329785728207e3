"""What the engine knows of tracers as arguments, held against the installed libraries: NumPy, attributes, shapes."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.jaxapi.array_members import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    AXIS_METHODS,
    CONCRETE_ATTRIBUTES,
    CONVERTING_METHODS,
    NUMPY_ONLY_METHODS,
    OTHER_ATTRIBUTES,
    RULE_FLAGS,
    SPECIAL_METHODS,
    STATIC_ATTRIBUTES,
)
from jaxlint.jaxapi.functions import IN_PLACE_FUNCTIONS, NUMPY_DISPATCHES, NUMPY_METADATA
from jaxlint.jaxapi.static_arguments import DATA_DEPENDENT, SHAPE_ARGUMENTS, SIZED_BY_DATA, STATIC_NUMBERS
from jaxlint.jaxapi.static_options import static_arguments
from tests.helpers.jax_probe import (
    fails,
    holds_tracer,
    inside_jit,
    present,
    raises_inside_jit,
    resolve,
)

pytestmark = pytest.mark.filterwarnings("ignore")
KEY = jax.random.key(0)


# -- NumPy on tracers


def numpy_call(name: str, x: Any) -> Any:
    function = resolve(name)
    extra: dict[str, tuple[Any, ...]] = {
        "reshape": ((4,),),
        "repeat": (2,),
        "swapaxes": (0, 1),
        "split": (2,),
        "array_split": (2,),
        "hsplit": (2,),
        "vsplit": (2,),
        "moveaxis": (0, 1),
        "permute_dims": ((1, 0),),
        "rollaxis": (1,),
    }
    short = name.rpartition(".")[2]
    if short == "searchsorted":
        return function(x[0], x[1])
    if short == "take_along_axis":
        return function(x, x.astype(int), 0)
    return function(x, *extra.get(short, ()))


@pytest.mark.parametrize("name", present(NUMPY_DISPATCHES))
def test_numpy_dispatches_work_on_tracers(name: str) -> None:
    result = inside_jit(functools.partial(numpy_call, name), np.ones((2, 2), np.float32))
    assert holds_tracer(result)


@pytest.mark.parametrize("name", present(NUMPY_METADATA))
def test_numpy_metadata_of_tracers_is_static(name: str) -> None:
    function = resolve(name)
    pair = name.startswith("numpy.array_")
    result = inside_jit(lambda x: function(x, x) if pair else function(x), np.ones((2, 2), np.float32))
    assert not holds_tracer(result)


def test_other_numpy_functions_raise_on_tracers() -> None:
    known = NUMPY_DISPATCHES | NUMPY_METADATA
    quiet = set()

    def attempt(x: Any) -> None:
        for short in np.__all__:
            function = getattr(np, short, None)
            name = f"numpy.{short}"
            if name in known or not callable(function) or isinstance(function, type):
                continue
            if short in ("diff", "info", "bmat", "set_printoptions", "show_config", "test"):
                continue  # they do nothing here
            for given in ((x,), (x, x), (x, 0), (x[0], x[0])):
                with contextlib.suppress(Exception):
                    if holds_tracer(function(*given)):
                        quiet.add(name)

    inside_jit(attempt, np.ones((2, 2), np.float32))
    assert quiet == set()


@pytest.mark.parametrize(
    "name", ["sin", "asarray", "array", "where", "clip", "diff", "ravel", "concatenate", "zeros_like", "sqrt"]
)
def test_common_numpy_functions_raise_on_tracers(name: str) -> None:
    function = getattr(np, name)

    def call(x: Any) -> Any:
        if name == "where":
            return function(x > 0, x, x)
        if name == "concatenate":
            return function([x, x])
        return function(x, 0, 1) if name == "clip" else function(x)

    assert raises_inside_jit(call, jnp.ones(2))


# -- attributes of tracers


@pytest.mark.parametrize("name", sorted(STATIC_ATTRIBUTES))
def test_static_attributes_hold_no_tracer(name: str) -> None:
    def look(x: Any) -> Any:
        try:
            return getattr(x, name)
        except (AttributeError, jax.errors.ConcretizationTypeError):
            return None  # as good as static: it never is a tracer

    assert hasattr(jnp.ones(2), name)
    assert not holds_tracer(inside_jit(look, jnp.ones(2)))


@pytest.mark.parametrize("name", sorted(RULE_FLAGS))
def test_flags_of_symbolic_zeros_are_known_under_a_trace(name: str) -> None:
    found: list[object] = []

    @jax.custom_vjp
    def twice(x: Any) -> Any:
        return 2 * x

    def forward(x: Any) -> tuple[Any, None]:
        found.append(getattr(x, name))
        return twice(x.value), None

    twice.defvjp(forward, lambda _, g: (2 * g,), symbolic_zeros=True)
    jax.jit(jax.grad(twice))(1.0)
    assert [type(value) for value in found] == [bool]
    assert not hasattr(jnp.ones(2), name)


def test_what_hasattr_says() -> None:
    listed = STATIC_ATTRIBUTES | ARRAY_ATTRIBUTES | ARRAY_METHODS | SPECIAL_METHODS

    def has(x: Any, name: str) -> bool:
        try:
            return hasattr(x, name)
        except (ValueError, NotImplementedError):  # `mT` of a vector, `flat`
            return True
        except jax.errors.ConcretizationTypeError:  # the program fails at the question
            return True

    matrix = jnp.ones((2, 2))
    assert {name for name in listed if not has(matrix, name)} == set()

    def tracer(x: Any) -> tuple[set[str], set[str]]:
        absent = {name for name in listed - CONCRETE_ATTRIBUTES if not has(x, name)}
        public = {name for name in dir(x) if not name.startswith("_")}
        return absent, public

    absent, public = inside_jit(tracer, matrix)
    assert absent == set()
    internal = {"aval_mutable_qdd", "cur_qdd", "get_const", "get_referent", "mutable_qdd"}
    assert public - listed - OTHER_ATTRIBUTES - internal == set()
    more = {name for name in dir(matrix) if not name.startswith("_")} - {"unsafe_raw_buffer"}
    assert more - listed - OTHER_ATTRIBUTES == set()


def test_concrete_attributes_are_missing_on_tracers() -> None:
    for name in sorted(CONCRETE_ATTRIBUTES):

        def look(x: Any, name: str = name) -> bool:
            return hasattr(x, name)

        assert look(jnp.ones(2)), name
        assert not inside_jit(look, jnp.ones(2)), name


@pytest.mark.parametrize("name", sorted(CONVERTING_METHODS))
def test_converting_methods_raise(name: str) -> None:
    assert raises_inside_jit(lambda x: getattr(x, name)(), jnp.ones((), int))


# -- arguments that must be static


def call_with_traced(name: str, position: int | str, count: Any) -> Any:
    """Calls the function with `count` at a position or keyword, and something sensible elsewhere."""
    function = resolve(name)
    x = np.ones(8, np.float32)
    given: dict[str, list[Any]] = {
        "full": [(8,), 1.0],
        "full_like": [x, 1.0],
        "linspace": [0.0, 1.0, 5],
        "logspace": [0.0, 1.0, 5],
        "geomspace": [1.0, 2.0, 5],
        "reshape": [x, (8,)],
        "broadcast_to": [x, (8,)],
        "broadcast": [x, (2,)],
        "tile": [x, 2],
        "one_hot": [np.arange(3), 3],
        "broadcasted_iota": [jnp.int32, (8,), 0],
        "iota": [jnp.int32, 8],
        "dynamic_slice": [x, (0,), (2,)],
        "dynamic_slice_in_dim": [x, 0, 2],
        "top_k": [x, 2],
        "arange": [8],
        "eye": [8],
        "identity": [8],
        "tri": [8],
        "indices": [(8,)],
        "zeros_like": [x],
        "ones_like": [x],
        "empty_like": [x],
    }
    short = name.rpartition(".")[2]
    arguments = given.get(short, [(8,)])
    if name == "jax.lax.full":
        arguments = [(8,), 1.0]
    if name.startswith("jax.random."):
        between: dict[str, list[Any]] = {
            "bernoulli": [0.5],
            "truncated_normal": [-1.0, 1.0],
            "multivariate_normal": [np.zeros(2), np.eye(2)],
            "choice": [8],
            "categorical": [np.zeros(8)],
            "gamma": [1.0],
            "beta": [1.0, 1.0],
            "dirichlet": [np.ones(3)],
            "poisson": [1.0],
        }
        arguments = [KEY, *between.get(short, [])]
        if short == "randint":
            arguments = [KEY, (8,), 0, 9]
    keywords: dict[str, Any] = {}
    if isinstance(position, str):
        # The keyword takes the place of the positional argument that it names.
        names = list(inspect.signature(function).parameters)
        index = names.index(position)
        if index < len(arguments):
            head, tail = arguments[:index], arguments[index + 1 :]
            keywords = dict(zip(names[index + 1 :], tail, strict=False))
            arguments = head
        keywords[position] = shaped(name, position, count)
    else:
        value = shaped(name, list(inspect.signature(function).parameters)[position], count)
        arguments[position : position + 1] = [value]
        if name == "jax.numpy.arange" and position:
            arguments = [*[0, 8, 1][:position], count]
    return function(*arguments, **keywords)


def shaped(name: str, parameter: str, count: Any) -> Any:
    """The count as the parameter wants it: a number, or a shape made of it."""
    wants_shape = parameter in (
        "shape",
        "newshape",
        "new_sizes",
        "sizes",
        "slice_sizes",
        "dimensions",
        "reps",
    )
    return (count,) if wants_shape else count


SHAPE_CASES = [
    (name, place)
    for name, (positions, keywords) in SHAPE_ARGUMENTS.items()
    for place in (*positions, *keywords)
    if not (isinstance(place, str) and place not in inspect.signature(resolve(name)).parameters)
]


@pytest.mark.parametrize(("name", "place"), SHAPE_CASES, ids=lambda part: str(part).removeprefix("jax."))
def test_shape_arguments_raise_when_they_are_traced(name: str, place: int | str) -> None:
    count = np.int32(8)
    if name in ("jax.lax.top_k", "jax.lax.dynamic_slice", "jax.lax.dynamic_slice_in_dim"):
        count = np.int32(2)
    call = functools.partial(call_with_traced, name, place)
    inside_jit(lambda: call(int(count)))  # it is a sensible call, but for the tracer
    assert inside_jit(functools.partial(fails, call), count)


def test_positions_and_keywords_of_shape_arguments_agree() -> None:
    for name, (positions, keywords) in SHAPE_ARGUMENTS.items():
        parameters = list(inspect.signature(resolve(name)).parameters)
        # In this order, since messages name the parameter that a position is.
        assert [parameters[position] for position in positions] == list(keywords[: len(positions)]), name
        assert any(keyword in parameters for keyword in keywords), name


@pytest.mark.parametrize("name", present(DATA_DEPENDENT))
def test_data_dependent_functions_raise(name: str) -> None:
    function = resolve(name)
    x = jnp.array([1, 0, 2])
    if name.rpartition(".")[2] in ("extract", "compress"):
        assert raises_inside_jit(lambda x: function(x > 0, x), x)
        return
    pair = name.endswith("1d")
    assert raises_inside_jit(lambda x: function(x, x) if pair else function(x), x)
    assert holds_tracer(inside_jit(lambda x: function(x, x, size=2) if pair else function(x, size=2), x))


def test_where_with_a_condition_alone_depends_on_the_data() -> None:
    assert raises_inside_jit(jnp.where, jnp.array([1, 0, 2]))


STATIC_NUMBER_CASES = [
    (name, keyword) for name, (_, keywords) in STATIC_NUMBERS.items() for keyword in keywords
]


@pytest.mark.parametrize(("name", "keyword"), STATIC_NUMBER_CASES, ids=str)
def test_static_numbers_raise_when_they_are_traced(name: str, keyword: str) -> None:
    function = resolve(name)
    parameters = list(inspect.signature(function).parameters)
    assert [parameters[position] for position in STATIC_NUMBERS[name][0]] == list(STATIC_NUMBERS[name][1])
    others = {"source": 0, "destination": 0, "axis1": 0, "axis2": 0, "indices": 0, "shift": 1, "q": 0.5}
    x = jnp.ones({"N": (1,), "k": (1, 1)}.get(keyword, (1, 1, 1, 1)))

    def call(number: Any) -> Any:
        given = {parameter: others[parameter] for parameter in parameters if parameter in others}
        given[keyword] = (number, 1, 2, 3) if keyword == "axes" else number
        return function(**given) if keyword in ("n", "M") else function(x, **given)

    inside_jit(lambda: call(1 if keyword in ("indices_or_sections", "N") else 0))
    with pytest.raises((TypeError, ValueError)):
        inside_jit(call, np.int32(1))


@pytest.mark.parametrize("name", sorted(NUMPY_ONLY_METHODS))
def test_methods_of_numpy_that_arrays_do_not_have(name: str) -> None:
    assert hasattr(np.ones(2), name) or name == "itemset"
    assert not hasattr(jnp.ones(2), name)


@pytest.mark.parametrize("name", sorted(IN_PLACE_FUNCTIONS))
def test_functions_that_cannot_change_an_array_in_place(name: str) -> None:
    arguments = {
        "put": (0, 2.0),
        "putmask": (np.eye(2) > 0, 2.0),
        "place": (np.eye(2) > 0, 2.0),
        "shuffle": (),
    }
    given = arguments.get(name.rpartition(".")[2], (2.0,))
    if name.endswith(".at"):
        given = (0, 2.0)
    elif name == "numpy.put_along_axis":
        given = (np.zeros((1, 2), int), 2.0, 0)
    with pytest.raises((TypeError, NotImplementedError)):
        resolve(name)(jnp.ones((2, 2)), *given)


@pytest.mark.parametrize("name", sorted(AXIS_METHODS))
def test_axes_of_methods_raise_when_they_are_traced(name: str) -> None:
    x = jnp.ones((1, 1))
    inside_jit(lambda: getattr(x, name)(0))
    with pytest.raises((TypeError, ValueError)):
        inside_jit(lambda axis: getattr(x, name)(axis), np.int32(1))


@pytest.mark.parametrize("name", sorted(SIZED_BY_DATA))
def test_sizes_that_data_say_need_an_option(name: str) -> None:
    function = resolve(name)
    position, keyword, option = SIZED_BY_DATA[name]
    assert list(inspect.signature(function).parameters)[position] == keyword
    data = jnp.array([1, 0, 2])
    first = () if position == 0 else (jnp.ones(3),)
    assert raises_inside_jit(lambda x: function(*first, x), data)
    assert holds_tracer(inside_jit(lambda x: function(*first, x, **{option: 3}), data))


# -- Static parameters


def static_in(call: str, name: str) -> list[str]:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    return [ast.unparse(argument) for argument in static_arguments(node, name)]


def test_what_jax_itself_compiles_as_static_is_in_the_table() -> None:
    """`python tools/static_options.py` writes it again for a newer JAX."""
    missing = []
    for module in ("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.nn", "jax.scipy.linalg"):
        for name in dir(resolve(module)):
            info = getattr(resolve(f"{module}.{name}"), "_jit_info", None)
            for option in getattr(info, "static_argnames", None) or ():
                if not name.startswith("_") and not static_in(f"f(x, {option}=option)", f"{module}.{name}"):
                    missing.append(f"{module}.{name}({option})")
    assert missing == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("jnp.linalg.norm(x, option)", "jax.numpy.linalg.norm"),
        ("jnp.linalg.norm(x, ord=option)", "jax.numpy.linalg.norm"),
        ("jnp.sum(x, option)", "jax.numpy.sum"),
        ("jnp.mean(x, keepdims=option)", "jax.numpy.mean"),
        ("jnp.linalg.matrix_power(x, option)", "jax.numpy.linalg.matrix_power"),
        ("jnp.fft.fft(x, option)", "jax.numpy.fft.fft"),
        ("jnp.round(x, option)", "jax.numpy.round"),
        ("jax.nn.one_hot(x, option)", "jax.nn.one_hot"),
        ("jax.lax.cumsum(x, reverse=option)", "jax.lax.cumsum"),
        ("jax.lax.top_k(x, option)", "jax.lax.top_k"),
        ("jax.random.normal(jax.random.key(0), (option,))", "jax.random.normal"),
        ("x.sum(option)", ""),
        ("x.std(keepdims=option)", ""),
        ("x.reshape(2, option)", ""),
        ("x.swapaxes(0, option)", ""),
        ("x.round(option)", ""),
    ],
)
def test_a_tracer_for_a_static_parameter_raises(call: str, name: str) -> None:
    assert "option" in static_in(call, name)[-1]
    x = jnp.arange(4.0).reshape(2, 2) if "one_hot" not in call else jnp.arange(2)
    with pytest.raises(Exception, match=r"static|concrete|Tracer|tracer|hash|hapes must be"):
        jax.jit(lambda option: eval(call, {"jnp": jnp, "jax": jax, "x": x, "option": option}))(1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("jnp.clip(x, option)", "jax.numpy.clip"),
        ("jnp.roll(x, option)", "jax.numpy.roll"),
        ("jax.random.key(option)", "jax.random.key"),
        ("jax.random.fold_in(jax.random.key(0), option)", "jax.random.fold_in"),
        ("jax.nn.leaky_relu(x, option)", "jax.nn.leaky_relu"),
        ("jax.nn.elu(x, option)", "jax.nn.elu"),
        ("jax.lax.dynamic_slice_in_dim(x, option, 1)", "jax.lax.dynamic_slice_in_dim"),
        ("jnp.full((2,), option)", "jax.numpy.full"),
        ("x.clip(option)", ""),
        ("x.at[0].set(option)", ""),
    ],
)
def test_a_tracer_for_any_other_parameter_does_not(call: str, name: str) -> None:
    assert "option" not in static_in(call, name)
    x = jnp.arange(4.0).reshape(2, 2)
    jax.jit(lambda option: eval(call, {"jnp": jnp, "jax": jax, "x": x, "option": option}))(1)
