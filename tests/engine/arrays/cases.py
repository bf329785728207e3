"""Random calls of array functions, by family: what is passed to JAX, of which shapes and dtypes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import einops
import jax
import jax.numpy as jnp
import jax.scipy
import optax

from jaxlint.staging.shapes.applied import RULES

LIBRARIES = {"einops": einops, "optax": optax}
Struct = jax.ShapeDtypeStruct
SIZES = (1, 2, 3, 4, 6)
FLOATS = ("float32", "bfloat16", "float16")
NUMBERS = (*FLOATS, "int32", "int8", "uint8", "bool")


@dataclass
class Case:
    """A call of `name`, below `jax`."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}(*{self.args}, **{self.kwargs})"


class Draw:
    """What a generator draws from."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def size(self) -> int:
        return self.random.choice(SIZES)

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.random.randint(least, most)))

    def array(
        self, shape: tuple[int, ...] | None = None, dtypes: tuple[str, ...] = FLOATS, least: int = 0
    ) -> Struct:
        return Struct(self.shape(least) if shape is None else shape, self.random.choice(dtypes))

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def axis(self, rank: int) -> int:
        return self.random.randint(-rank, rank - 1)

    def axes(self, rank: int) -> tuple[int, ...]:
        found = self.random.sample(range(rank), self.random.randint(1, rank))
        return tuple(axis - rank if self.maybe(0.3) else axis for axis in found)

    def beside(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that mostly broadcasts with another."""
        kept = [size if self.maybe(0.6) else 1 if self.maybe(0.8) else self.size() for size in shape]
        return tuple(kept[self.random.randint(0, len(kept)) if self.maybe(0.4) else 0 :])


def function_of(name: str) -> Callable[..., Any]:
    """What a case calls. Raises AttributeError where this JAX has it no longer."""
    if name == "numpy.getitem":
        return lambda x, index: x[index]
    found: Any = jax
    for part in name.split("."):
        found = LIBRARIES[part] if found is jax and part in LIBRARIES else getattr(found, part)
    return found  # type: ignore[no-any-return]


def is_there(name: str) -> bool:
    try:
        function_of(name)
    except AttributeError:
        return False
    return True


Arguments = tuple[list[Any], dict[str, Any]]
Generator = Callable[[Draw, str], Arguments]
FAMILIES: dict[str, tuple[list[str], Generator]] = {}


def family(label: str, names: str | Callable[[], Iterator[str]]) -> Callable[[Generator], Generator]:
    def register(generator: Generator) -> Generator:
        listed = names.split() if isinstance(names, str) else list(names())
        FAMILIES[label] = ([name for name in listed if is_there(name)], generator)
        return generator

    return register


def ruled_by(rule: str, below: str = "") -> Callable[[], Iterator[str]]:
    """The names that one rule of shapes is for."""
    return lambda: (n for n, r in RULES.items() if r.__name__ == rule and n.startswith(below))


@family("one operand", ruled_by("same"))
def one_operand(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    x = draw.array(
        dtypes=("int32",) if "bit" in last or last in ("invert", "clz", "population_count", "not") else FLOATS
    )
    if last in ("tril", "triu", "fliplr", "flipud"):
        x = draw.array(draw.shape(2), FLOATS)
    rank = len(x.shape)
    extra: dict[str, list[Any]] = {
        "astype": [jnp.bfloat16], "convert_element_type": [jnp.float16], "integer_pow": [2],
        "reduce_precision": [8, 7], "roll": [1], "rev": [tuple(a % rank for a in draw.axes(rank))] if rank else [()],
    }  # fmt: skip
    if last in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        x = draw.array(least=1)
        return [x], {"axis": draw.random.randrange(len(x.shape))}
    if last in ("softmax", "log_softmax", "standardize"):
        x = draw.array(least=1)
        return [x], ({"axis": draw.axis(len(x.shape))} if draw.maybe() else {})
    if last in ("flip", "fftshift", "ifftshift") and rank and draw.maybe():
        return [x, draw.axis(rank)], {}
    return [x, *extra.get(last, [])], {}


@family("two operands", lambda: iter([*ruled_by("of_two")(), *ruled_by("loss_by_elements", "optax")()]))
def two_operands(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    integral = ("bit" in last or "shift" in last or last in ("gcd", "lcm")) or ("bitwise" in last)
    kinds = ("int32",) if integral else NUMBERS
    shape = draw.shape()
    sides: list[Any] = [draw.array(shape, kinds), draw.array(draw.beside(shape), kinds)]
    if draw.maybe(0.2) and not name.startswith("optax"):
        sides[1] = 2 if integral or draw.maybe() else 2.5
    return sides, {}


@family("operands of lax", ruled_by("of_lax"))
def operands_of_lax(draw: Draw, name: str) -> Arguments:
    x = draw.array(dtypes=("int32",) if "bit" in name or "shift" in name else ("float32",))
    return [x, x], {}


@family("where and clip", "numpy.where numpy.clip lax.select lax.clamp")
def several_operands(draw: Draw, name: str) -> Arguments:
    shape = draw.shape()
    if name == "lax.select":
        x = draw.array(shape)
        return [Struct(shape, "bool"), x, x], {}
    if name == "lax.clamp":
        x = draw.array(shape, ("float32",))
        return [Struct((), "float32"), x, Struct((), "float32")], {}
    if name == "numpy.clip":
        return (
            [draw.array(shape), 0, 1] if draw.maybe() else [draw.array(shape), draw.array(draw.beside(shape))]
        ), {}
    other: Any = draw.array(draw.beside(shape), NUMBERS) if draw.maybe(0.7) else 0.0
    return [Struct(draw.beside(shape), "bool"), draw.array(shape, NUMBERS), other], {}


@family("over axes", lambda: iter([*ruled_by("reduce")(), *ruled_by("index_of_largest")(), "numpy.average"]))
def over_axes(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    x = draw.array(dtypes=FLOATS if "log" in last or last.startswith("nan") else NUMBERS, least=1)
    if last == "ptp" and x.dtype == bool:
        x = draw.array(x.shape)
    rank, kwargs = len(x.shape), dict[str, Any]()
    if draw.maybe(0.4):
        kwargs["keepdims"] = draw.maybe()
    if draw.maybe(0.3):
        return [x], kwargs
    axis: Any = draw.axis(rank)
    if "arg" not in last and draw.maybe(0.4):
        axis = draw.axes(rank)
    return ([x], {"axis": axis, **kwargs}) if draw.maybe() else ([x, axis], kwargs)


@family("over axes, in lax", ruled_by("reduce_of_lax"))
def over_axes_of_lax(draw: Draw, name: str) -> Arguments:
    logic = name.rpartition("_")[2] in ("and", "or", "xor")
    x = draw.array(dtypes=("bool",) if logic else ("float32", "int32"), least=1)
    if "arg" in name:
        return [x, draw.random.randrange(len(x.shape)), jnp.int32], {}
    return [x, tuple(a % len(x.shape) for a in draw.axes(len(x.shape)))], {}


@family(
    "sorts and sums along",
    "numpy.sort numpy.argsort numpy.cumsum numpy.cumprod numpy.nancumsum numpy.nancumprod numpy.diff nn.glu lax.sort numpy.trace",
)
def along(draw: Draw, name: str) -> Arguments:
    x = draw.array(draw.shape(2, 4) if name.endswith("trace") else draw.shape(1, 4))
    if name in ("lax.sort", "numpy.trace") or draw.maybe(0.4):
        return [x], {}
    return [x], {"axis": draw.axis(len(x.shape))}


@family("quantiles", ruled_by("quantile"))
def quantiles(draw: Draw, name: str) -> Arguments:
    x = draw.array(dtypes=("float32",), least=1)
    q: Any = 0.5 if draw.maybe() else Struct((draw.size(),), "float32")
    return [x, q], ({"axis": draw.axis(len(x.shape))} if draw.maybe() else {})


@family("one-hot", "nn.one_hot")
def one_hot(draw: Draw, name: str) -> Arguments:
    x = draw.array(dtypes=("int32",))
    return [x, draw.size()], ({"axis": draw.axis(len(x.shape) + 1)} if draw.maybe(0.3) else {})


@family("made of sizes", "numpy.zeros numpy.ones numpy.empty numpy.full lax.full lax.broadcasted_iota")
def made_of_sizes(draw: Draw, name: str) -> Arguments:
    shape: Any = draw.shape()
    if draw.maybe(0.2) and not name.startswith("lax"):
        shape = draw.size()
    if name.endswith("full"):
        return [shape, 1.5 if draw.maybe() else 2], {}
    if name.endswith("iota"):
        shape = draw.shape(1)
        return [jnp.int32, shape, draw.random.randrange(len(shape))], {}
    return [shape, *([jnp.int32] if draw.maybe(0.3) else [])], {}


@family(
    "like others",
    "numpy.zeros_like numpy.ones_like numpy.empty_like numpy.full_like numpy.array numpy.asarray",
)
def like_others(draw: Draw, name: str) -> Arguments:
    x: Any = draw.array(dtypes=NUMBERS)
    if name.endswith("array"):
        return [draw.random.choice([x, [1.0, 2.0], [[1, 2, 3]], 3, 2.5, [x, x]])], {}
    return [x, *([1] if "full" in name else [])], ({"dtype": jnp.float16} if draw.maybe(0.3) else {})


@family(
    "ranges",
    "numpy.arange numpy.linspace numpy.logspace numpy.eye numpy.identity numpy.tri numpy.indices lax.iota numpy.fft.fftfreq numpy.fft.rfftfreq numpy.hanning",
)
def ranges(draw: Draw, name: str) -> Arguments:
    if name.endswith("arange"):
        return draw.random.choice([[draw.size()], [1, 5], [0, 9, 2], [0.0, 1.0, 0.25], [0, draw.size()]]), {}
    if name.endswith("space"):
        return [0.0, 1.0, *([draw.size()] if draw.maybe() else [])], {}
    if name.endswith("indices"):
        return [draw.shape(1)], {}
    if name == "lax.iota":
        return [jnp.int32, draw.size()], {}
    wide = name.endswith(("eye", "tri")) and draw.maybe()
    return [draw.size() + 1, *([draw.size()] if wide else [])], {}


@family("meshes", "numpy.meshgrid")
def meshes(draw: Draw, name: str) -> Arguments:
    sides = [draw.array(draw.shape(0, 1)) for _ in range(draw.random.randint(1, 3))]
    return sides, ({"indexing": draw.random.choice(["xy", "ij"])} if draw.maybe() else {})


@family(
    "drawn",
    lambda: iter(
        [
            *ruled_by("drawn")(),
            *(
                f"random.{n}"
                for n in [
                    "categorical",
                    "dirichlet",
                    "multivariate_normal",
                    "permutation",
                    "choice",
                    "orthogonal",
                    "ball",
                ]
            ),
        ]
    ),
)
def drawn(draw: Draw, name: str) -> Arguments:
    last = name.removeprefix("random.")
    shape = draw.shape(0, 3)
    key: Any = "KEY"
    plain = (
        "normal",
        "uniform",
        "bits",
        "exponential",
        "gumbel",
        "laplace",
        "logistic",
        "cauchy",
        "rademacher",
        "maxwell",
    )
    if last in plain:
        return [key, *([shape] if draw.maybe(0.8) else [])], (
            {"dtype": jnp.float32} if last == "normal" and draw.maybe(0.3) else {}
        )
    if last == "randint":
        return [key, shape, 0, 10], {}
    p = draw.array(draw.beside(shape), ("float32",))
    given = {"shape": shape} if draw.maybe() and p.shape == shape[len(shape) - len(p.shape) :] else {}
    if last in (
        "bernoulli",
        "gamma",
        "loggamma",
        "chisquare",
        "t",
        "pareto",
        "poisson",
        "rayleigh",
        "geometric",
        "wald",
        "lognormal",
    ):
        return ([key] if last == "bernoulli" and draw.maybe(0.2) else [key, p]), dict(given)
    if last in ("truncated_normal", "beta", "binomial", "f"):
        return [key, p, draw.array(p.shape, ("float32",))], dict(given)
    if last in ("weibull_min", "double_sided_maxwell"):
        return [key, 1.0, 1.0, shape], {}
    if last == "generalized_normal":
        return [key, 1.0, shape], {}
    if last == "triangular":
        return [key, 0.0, 0.5, 1.0, shape], {}
    if last in ("categorical", "dirichlet"):
        return [key, draw.array(draw.shape(1, 3), ("float32",))], {}
    size = draw.size()
    if last == "multivariate_normal":
        return [key, Struct((size,), "float32"), Struct((size, size), "float32")], (
            {"shape": shape} if draw.maybe() else {}
        )
    if last == "permutation":
        return [key, size if draw.maybe() else draw.array(draw.shape(1), ("float32",))], {}
    if last == "choice":
        return [key, size if draw.maybe() else draw.array(draw.shape(1), ("float32",)), shape], {}
    return [key, size], ({"shape": shape} if draw.maybe() else {})


@family("reshapes", "numpy.reshape lax.reshape numpy.ravel")
def reshapes(draw: Draw, name: str) -> Arguments:
    shape = draw.shape(1, 4)
    x = draw.array(shape)
    if name.endswith("ravel"):
        return [x], {}
    kept = list(shape)
    if len(kept) > 1 and draw.maybe(0.7):
        place = draw.random.randrange(len(kept) - 1)
        kept[place : place + 2] = [kept[place] * kept[place + 1]]
    if draw.maybe(0.3):
        kept.insert(draw.random.randint(0, len(kept)), 1)
    if draw.maybe(0.15):
        kept[0] += 1
    if draw.maybe(0.4) and not name.startswith("lax"):
        kept[draw.random.randrange(len(kept))] = -1
    return [x, tuple(kept)], {}


@family(
    "transposes",
    "numpy.transpose lax.transpose numpy.permute_dims numpy.matrix_transpose numpy.swapaxes numpy.moveaxis numpy.rot90",
)
def transposes(draw: Draw, name: str) -> Arguments:
    x = draw.array(draw.shape(2, 4))
    rank = len(x.shape)
    order = draw.random.sample(range(rank), rank)
    if name.endswith("matrix_transpose"):
        return [x], {}
    if name.endswith("swapaxes"):
        return [x, draw.axis(rank), draw.axis(rank)], {}
    if name.endswith("moveaxis"):
        one, two = draw.random.sample(range(rank), 2)
        return ([x, one, two - rank] if draw.maybe() else [x, (one, two), (two, one)]), {}
    if name.endswith("rot90"):
        return [x, draw.random.randint(0, 3)], {}
    return ([x] if name == "numpy.transpose" and draw.maybe(0.4) else [x, tuple(order)]), {}


@family(
    "axes of one",
    "numpy.expand_dims lax.expand_dims numpy.squeeze lax.squeeze numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d lax.collapse",
)
def axes_of_one(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    if last == "squeeze":
        shape = tuple(1 if draw.maybe(0.6) else draw.size() for _ in range(draw.random.randint(1, 4)))
        x = draw.array(shape)
        if name.startswith("numpy") and draw.maybe(0.4):
            return [x], {}
        return [x, draw.axes(len(shape)) if name.startswith("lax") else draw.axis(len(shape))], {}
    x = draw.array(draw.shape(1, 3) if last == "collapse" else None)
    if last == "expand_dims":
        return [
            x,
            (draw.axis(len(x.shape) + 1),) if name.startswith("lax") else draw.axis(len(x.shape) + 1),
        ], {}
    return [x, *([0, draw.random.randint(1, len(x.shape))] if last == "collapse" else [])], {}


@family(
    "broadcasts",
    "numpy.broadcast_to lax.broadcast numpy.tile numpy.repeat numpy.broadcast_arrays numpy.resize image.resize",
)
def broadcasts(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    shape = draw.shape(1, 3)
    x = draw.array(draw.beside(shape) if last == "broadcast_to" else shape)
    if last in ("tile", "broadcast"):
        return [x, draw.shape(1, 3)], {}
    if last == "repeat":
        return [x, draw.size()], ({"axis": draw.axis(len(shape))} if draw.maybe(0.7) else {})
    if last == "broadcast_arrays":
        return [x, draw.array(draw.beside(shape))], {}
    if name == "image.resize":
        return [x, tuple(draw.size() for _ in shape), "linear"], {}
    return [x, shape if last == "broadcast_to" else draw.shape(1, 3)], {}


@family("paddings", "numpy.pad lax.pad")
def paddings(draw: Draw, name: str) -> Arguments:
    x = draw.array(draw.shape(1, 3), ("float32",))
    if name == "lax.pad":
        return [x, 0.0, tuple((draw.size(), draw.size(), draw.random.randint(0, 1)) for _ in x.shape)], {}
    return [x, draw.random.choice([1, (1, 2), ((1, 2),), tuple((draw.size(), 0) for _ in x.shape)])], {}


@family(
    "joins",
    "numpy.concatenate numpy.concat lax.concatenate numpy.stack numpy.hstack numpy.vstack numpy.dstack numpy.column_stack numpy.append",
)
def joins(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape)) if not name.startswith("lax") else draw.random.randrange(len(shape))
    if last == "hstack":
        axis = min(1, len(shape) - 1)
    elif last in ("vstack", "dstack", "column_stack"):
        axis = {"vstack": 0, "dstack": 2, "column_stack": 1}[last]
    parts = []
    for _ in range(2 if last == "append" else draw.random.randint(1, 3)):
        part = list(shape)
        if (
            last != "stack"
            and -len(part) <= axis < len(part)
            and (len(part) > 1 or last not in ("vstack", "column_stack"))
        ):
            part[axis] = draw.size()
        if draw.maybe(0.1):
            part[draw.random.randrange(len(part))] += 1
        parts.append(draw.array(tuple(part), NUMBERS))
    if last == "append":
        return [*parts, *([axis] if draw.maybe() else [])], {}
    if last == "stack":
        return [parts, draw.axis(len(shape) + 1)], {}
    return (
        [parts]
        if last.endswith("stack")
        or (
            (draw.maybe(0.2) and last != "concatenate")
            and last != "concatenate"
            and not name.startswith("lax")
        )
        else [parts, axis]
    ), {}


@family("splits", "numpy.split numpy.array_split numpy.hsplit numpy.vsplit numpy.unstack lax.split lax.top_k")
def splits(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    x = draw.array(draw.shape(2, 3), ("float32",))
    if last == "top_k":
        return [x, 1], {}
    if last == "unstack":
        return [x], ({"axis": draw.axis(len(x.shape))} if draw.maybe() else {})
    axis = draw.axis(len(x.shape))
    if name == "lax.split":
        return [x, (1, x.shape[0] - 1)], {}
    where: Any = draw.random.choice([2, 3, (1,), (1, 2)])
    return ([x, where] if last in ("hsplit", "vsplit") else [x, where, axis]), {}


@family("diagonals", "numpy.diag numpy.diagonal")
def diagonals(draw: Draw, name: str) -> Arguments:
    x = draw.array(draw.shape(1 if name.endswith("diag") else 2, 2))
    return [x, *([draw.random.randint(-1, 2)] if draw.maybe() else [])], {}


@family(
    "matrix products",
    "numpy.matmul numpy.dot numpy.inner numpy.outer numpy.kron numpy.vdot lax.dot lax.batch_matmul",
)
def matrix_products(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    inner = draw.size()
    other = inner if draw.maybe(0.9) else draw.size()
    if last in ("outer", "kron"):
        return [draw.array(draw.shape(1, 2)), draw.array(draw.shape(1, 2))], {}
    if last == "vdot":
        return [draw.array((inner,)), draw.array((other,))], {}
    if last == "batch_matmul":
        batch = draw.shape(1, 2)
        return [
            draw.array((*batch, 2, inner), ("float32",)),
            draw.array((*batch, other, 3), ("float32",)),
        ], {}
    batch = draw.shape(0, 2) if last != "dot" or name.startswith("numpy") else ()
    left = draw.array(
        (*batch, *draw.shape(0, 1), inner), NUMBERS if name.startswith("numpy") else ("float32",)
    )
    if last == "inner":
        return [left, draw.array((*draw.shape(0, 2), other), NUMBERS)], {}
    around = draw.beside(batch) if last == "matmul" else ()
    right = (*around, other, draw.size()) if draw.maybe(0.8) else (other,)
    return [left, draw.array(right, NUMBERS if name.startswith("numpy") else ("float32",))], {}


@family("contractions", "numpy.tensordot lax.dot_general numpy.einsum nn.dot_product_attention")
def contractions(draw: Draw, name: str) -> Arguments:
    sizes = {letter: draw.size() for letter in "abcde"}
    if name == "numpy.tensordot":
        left, right = draw.shape(1, 2), draw.shape(1, 2)
        common = draw.shape(1, 2)
        if draw.maybe():
            return [draw.array((*left, *common)), draw.array((*common, *right)), len(common)], {}
        return [draw.array((*left, common[0])), draw.array((common[0], *right)), ((len(left),), (0,))], {}
    if name == "lax.dot_general":
        b, m, k, n = (draw.size() for _ in range(4))
        return [
            draw.array((b, m, k), ("float32",)),
            draw.array((b, k, n), ("float32",)),
            (((2,), (1,)), ((0,), (0,))),
        ], {}
    if name == "nn.dot_product_attention":
        b, t, s, h, d = (draw.size() for _ in range(5))
        return [
            draw.array((b, t, h, d), ("float32",)),
            draw.array((b, s, h, d), ("float32",)),
            draw.array((b, s, h, d), ("float32",)),
        ], {}
    terms = [
        "".join(draw.random.sample("abcde", draw.random.randint(1, 4)))
        for _ in range(draw.random.randint(1, 2))
    ]
    dots = draw.maybe(0.2)
    used = sorted(set("".join(terms)))
    out = "".join(draw.random.sample(used, draw.random.randint(0, len(used))))
    extra = draw.shape(0, 2) if dots else ()
    arrays = [
        draw.array((*extra, *(sizes[letter] if draw.maybe(0.97) else 5 for letter in term)), ("float32",))
        for term in terms
    ]
    prefix = "..." if dots else ""
    spec = ",".join(prefix + term for term in terms) + (f"->{prefix}{out}" if draw.maybe(0.8) else "")
    return [spec, *arrays], {}


@family("convolutions", "lax.conv_general_dilated lax.conv")
def convolutions(draw: Draw, name: str) -> Arguments:
    n, c, o = draw.size(), draw.size(), draw.size()
    if name == "lax.conv":
        return [
            draw.array((n, c, 8, 8), ("float32",)),
            draw.array((o, c, 3, 3), ("float32",)),
            (1, 1),
            "SAME",
        ], {}
    x, w = draw.array((n, 8, 8, c), ("float32",)), draw.array((3, 3, c, o), ("float32",))
    return [x, w, (1, 1), "SAME"], {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}


@family("indices", "numpy.getitem")
def indices(draw: Draw, name: str) -> Arguments:
    shape = draw.shape(1, 4)
    x = draw.array(shape, NUMBERS)
    parts: list[Any] = []
    joint = draw.shape(0, 2)
    for size in shape[: draw.random.randint(1, len(shape))]:
        kind = draw.random.choice("iissssnea")
        if kind == "i":
            parts.append(draw.random.randint(-size, size - 1))
        elif kind == "s":
            bounds = [draw.random.choice([None, 0, 1, 2, -1]) for _ in range(2)]
            parts.append(
                slice(
                    *bounds,
                    draw.random.choice([None, None, None, 2, -1])
                    if bounds == [None, None] or draw.maybe(0.2)
                    else None,
                )
            )
        elif kind == "n":
            parts.append(None)
        elif kind == "e" and ... not in parts:
            parts.append(...)
        elif kind == "a":
            parts.append(Struct(draw.beside(joint), "int32") if draw.maybe(0.8) else [0, 0])
    return [x, tuple(parts) if len(parts) != 1 or draw.maybe() else parts[0]], {}


@family(
    "taken",
    "numpy.take numpy.take_along_axis lax.dynamic_slice lax.dynamic_slice_in_dim lax.dynamic_index_in_dim lax.slice lax.slice_in_dim lax.index_in_dim",
)
def taken(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    x = draw.array(draw.shape(1, 3), ("float32",))
    rank = len(x.shape)
    if last == "take":
        return [x, draw.array(None, ("int32",))], ({"axis": draw.axis(rank)} if draw.maybe(0.7) else {})
    if last == "take_along_axis":
        axis = draw.axis(rank)
        shape = list(x.shape)
        shape[axis] = draw.size()
        return [x, Struct(tuple(shape), "int32")], {"axis": axis}
    if last == "dynamic_slice":
        return [x, [0] * rank, tuple(draw.random.randint(1, size) for size in x.shape)], {}
    axis = draw.axis(rank)
    if last == "slice":
        return [x, (0,) * rank, x.shape], {}
    if last == "slice_in_dim":
        return [x, 0, x.shape[axis]], {"axis": axis}
    if last == "dynamic_slice_in_dim":
        return [x, 0, draw.random.randint(1, x.shape[axis])], {"axis": axis}
    return [x, 0], {"axis": axis, **({"keepdims": draw.maybe()} if draw.maybe() else {})}


@family(
    "linear algebra",
    "numpy.linalg.inv numpy.linalg.cholesky numpy.linalg.det numpy.linalg.slogdet numpy.linalg.eigh numpy.linalg.eigvalsh numpy.linalg.svd numpy.linalg.qr numpy.linalg.pinv numpy.linalg.solve numpy.linalg.norm numpy.linalg.vector_norm numpy.linalg.matrix_norm scipy.linalg.inv scipy.linalg.expm scipy.linalg.solve scipy.linalg.solve_triangular scipy.linalg.block_diag numpy.cov",
)
def linear_algebra(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    size, batch = draw.size(), draw.shape(0, 1)
    if last in ("svd", "qr", "pinv"):
        return [draw.array((*batch, size, draw.size()), ("float32",))], (
            {"full_matrices": draw.maybe()} if last == "svd" and draw.maybe() else {}
        )
    if last == "matrix_norm":
        x = draw.array((*batch, size, draw.size()), ("float32", "complex64"))
        return [x], ({"keepdims": draw.maybe()} if draw.maybe() else {})
    if last in ("norm", "vector_norm"):
        x = draw.array(draw.shape(1, 2), ("float32",))
        return [x], draw.random.choice([{}, {"axis": -1}, {"axis": -1, "keepdims": True}])
    if last == "block_diag":
        return [draw.array(draw.shape(2, 2), ("float32",)) for _ in range(2)], {}
    if last == "cov":
        return [draw.array((size, 5), ("float32",))], {}
    if last.startswith("solve"):
        rows = size if draw.maybe(0.9) else draw.size()
        return [
            draw.array((size, size), ("float32",)),
            draw.array((rows, *draw.shape(0, 1)), ("float32",)),
        ], {}
    other = size if draw.maybe(0.95) else draw.size()
    return [
        draw.array((*(() if "scipy" in name and last == "solve" else batch), size, other), ("float32",))
    ], {}


@family("Fourier", lambda: iter([*ruled_by("fft")(), *ruled_by("fftn")()]))
def fourier(draw: Draw, name: str) -> Arguments:
    x = draw.array(tuple(s + 1 for s in draw.shape(2, 3)), ("float32",))
    if name.endswith(("n", "2")) or draw.maybe(0.3):
        return [x], {}
    return [x], draw.random.choice([{"axis": draw.axis(len(x.shape))}, {"n": 4}])


@family("losses", lambda: iter([*ruled_by("loss_by_rows")(), *ruled_by("loss_of_labels")()]))
def losses(draw: Draw, name: str) -> Arguments:
    logits = draw.array(draw.shape(1, 3), ("float32",))
    if "integer" in name:
        return [logits, Struct(logits.shape[:-1], "int32")], {}
    return [logits, draw.array(logits.shape, ("float32",))], {}


@family("einops", "einops.rearrange einops.reduce einops.repeat einops.einsum")
def einops(draw: Draw, name: str) -> Arguments:
    b, h, d, t = (draw.size() for _ in range(4))
    x = draw.array((b, t, h * d), ("float32",))
    last = name.rpartition(".")[2]
    if last == "rearrange":
        return draw.random.choice(
            [
                ([x, "b t (h d) -> b h t d"], {"h": h}),
                ([x, "b t c -> b (t c)"], {}),
                ([x, "... c -> c ..."], {}),
                ([x, "b t (h d) -> (b h) t d"], {"d": d}),
            ]
        )
    if last == "reduce":
        return [x, "b t c -> b c", "mean"], {}
    if last == "repeat":
        return [x, "b t c -> b t r c"], {"r": draw.size()}
    return [x, draw.array((h * d, t), ("float32",)), "b t c, c e -> b e"], {}


@family(
    "densities",
    " ".join(
        f"scipy.stats.{name}"
        for name in (
            *(
                "norm.logpdf",
                "norm.cdf",
                "norm.ppf",
                "cauchy.sf",
                "laplace.pdf",
                "uniform.logpdf",
                "expon.pdf",
            ),
            *(
                "beta.logpdf",
                "gamma.logsf",
                "t.pdf",
                "truncnorm.logpdf",
                "poisson.pmf",
                "binom.logpmf",
                "bernoulli.pmf",
            ),
        )
    ),
)
def densities(draw: Draw, name: str) -> Arguments:
    shape = draw.shape(0, 3)
    x = draw.array(shape, ("float32", "bfloat16", "int32"))
    needed = {
        "beta": 2,
        "t": 1,
        "chi2": 1,
        "gamma": 1,
        "pareto": 1,
        "truncnorm": 2,
        "geom": 1,
        "poisson": 1,
        "bernoulli": 1,
    }
    needed |= {"binom": 2, "betabinom": 3, "nbinom": 2, "vonmises": 1, "wrapcauchy": 1, "gennorm": 1}
    more = [draw.array(draw.beside(shape), ("float32",)) for _ in range(needed.get(name.split(".")[2], 0))]
    if draw.maybe(0.3) and name.split(".")[2] in ("norm", "cauchy", "laplace"):
        return [x, *more], {"scale": draw.array(draw.beside(shape), ("float32", "bfloat16"))}
    return [x, *more], {}


@family(
    "windows",
    "lax.reduce_window lax.reduce lax.associative_scan numpy.convolve numpy.correlate numpy.trapezoid numpy.unique",
)
def windows(draw: Draw, name: str) -> Arguments:
    last = name.rpartition(".")[2]
    if last in ("convolve", "correlate"):
        one, two = draw.array((draw.size(),), NUMBERS), draw.array((draw.size(),), NUMBERS)
        return [one, two], draw.random.choice([{}, {"mode": "same"}, {"mode": "valid"}, {"mode": "full"}])
    shape = draw.shape(1, 3)
    if last == "trapezoid":
        return [draw.array(shape, NUMBERS)], draw.random.choice(
            [{}, {"axis": draw.axis(len(shape))}, {"dx": 0.5}]
        )
    if last == "unique":
        return [draw.array(shape, ("float32", "bfloat16", "int32"))], {"size": draw.size()}
    x = draw.array(shape, ("float32", "bfloat16"))
    zero = jnp.zeros((), x.dtype)
    if last == "associative_scan":
        return [jax.lax.add, x], draw.random.choice([{}, {"reverse": True}])
    if last == "reduce":
        return [
            x,
            zero,
            jax.lax.add,
            tuple(draw.random.sample(range(len(shape)), draw.random.randint(1, len(shape)))),
        ], {}
    window = tuple(draw.random.choice((1, 2, 3)) for _ in shape)
    strides = tuple(draw.random.choice((1, 2)) for _ in shape)
    padding: Any = draw.random.choice(["SAME", "VALID", tuple((draw.size(), 1) for _ in shape)])
    return [x, zero, jax.lax.max, window, strides, padding], {}


@family(
    "choices and blocks", "numpy.select numpy.block numpy.cross numpy.interp numpy.polyval ops.segment_sum"
)
def choices(draw: Draw, name: str) -> Arguments:
    last, shape = name.rpartition(".")[2], draw.shape(1, 3)
    if last == "select":
        pairs = range(draw.random.randint(1, 2))
        tests = [draw.array(draw.beside(shape), ("bool",)) for _ in pairs]
        values = [draw.array(draw.beside(shape), NUMBERS) for _ in pairs]
        return [tests, values], draw.random.choice(
            [{}, {"default": 1.0}, {"default": draw.array((), NUMBERS)}]
        )
    if last == "block":
        high, wide = draw.size(), draw.size()
        rows = [[draw.array((high, draw.size()), FLOATS), draw.array((high, wide), FLOATS)]]
        total = rows[0][0].shape[1] + wide
        return ([[*rows, [draw.array((2, total), FLOATS)]]] if draw.maybe() else [rows[0]]), {}
    if last == "cross":
        return [draw.array((*shape[:-1], 3), NUMBERS), draw.array((3,), NUMBERS)], {}
    if last == "interp":
        return [draw.array(shape, FLOATS), draw.array((4,), FLOATS), draw.array((4,), FLOATS)], {}
    if last == "polyval":
        return [draw.array((3,), NUMBERS), draw.array(shape, NUMBERS)], {}
    return [draw.array(shape, NUMBERS[:-1]), Struct(shape[:1], "int32")], {"num_segments": draw.size()}


def cases(label: str, count: int, seed: int = 0) -> Iterator[Case]:
    names, generator = FAMILIES[label]
    draw = Draw(seed)
    for number in range(max(count, 0)):
        name = names[number % len(names)]
        args, kwargs = generator(draw, name)
        yield Case(name, args, kwargs)
