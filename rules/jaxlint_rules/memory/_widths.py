"""How wide the layers of a program's networks are, by the numbers that its files write down."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from jaxlint.api import Module
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint_rules._names import last_name

# Below this no network of a dozen layers has weights whose second copy matters: a block of a transformer has 12 * 256 ** 2.
_NARROW = 256
_TABLE = 3_000_000  # weights of a table of embeddings
_WIDTH = re.compile(
    r"hidden|embed|n_embd|(^|_)d_?(model|ff|hidden|inner)|features$|channels?$|units$|latent|width_size"
    r"|(^|_)(mlp|ff|fc|model|emb|layer|net|conv)s?_?(dims?|sizes?|widths?|features|layers)$",
    re.IGNORECASE,
)
_ROWS = re.compile(r"vocab|num_embeddings", re.IGNORECASE)
_TABLES = frozenset({"Embed", "Embedding"})
_LAYERS = frozenset(
    """Dense DenseGeneral Linear Conv ConvTranspose Conv1d Conv2d Conv3d Conv1D Conv2D Conv3D MLP GRUCell LSTMCell
    LSTM GRU""".split()  # noqa: SIM905
)
_SIZES = frozenset(
    """features hidden_size hidden_features in_features out_features output_size output_channels in_channels out_channels width_size""".split()  # noqa: SIM905
)
_ANY = re.compile(r"Local|Bilinear|Einsum|Transformer")  # layers whose weights their widths do not tell
_ENDS = re.compile(r"class|action|label|out|shape|target|ndim")  # how wide the output, or the input, is


def are_narrow(modules: Iterable[Module]) -> bool:
    """Whether files write down how wide all layers of their networks are, and all are narrow."""
    trees = [module.tree for module in modules]
    named: dict[str, set[int]] = defaultdict(set)
    for tree in trees:
        for name, numbers in _named(tree).items():
            named[name] |= numbers
    widths = {number for name, numbers in named.items() if _WIDTH.search(name) for number in numbers}
    rows = {number for name, numbers in named.items() if _ROWS.search(name) for number in numbers}
    for tree in trees:
        alike = _run_over(tree)
        for size, of_table in _sizes(tree):
            numbers = _known(size, named, alike)
            if not numbers and (of_table or not _ENDS.search(ast.unparse(size))):
                return False
            if of_table:
                rows |= numbers
            else:
                widths |= numbers
    return bool(widths) and max(widths) < _NARROW and max(rows, default=0) * max(widths) < _TABLE


def _known(size: ast.expr, named: Mapping[str, set[int]], alike: Mapping[str, str]) -> set[int]:
    """The numbers that a size may be, at most: `64`, a name of one, `2 * width`, `width // 2`."""
    if isinstance(size, ast.BinOp):
        left, right = _known(size.left, named, alike), _known(size.right, named, alike)
        if isinstance(size.op, ast.Mult):
            return {max(left) * max(right)} if left and right else set()
        return left if isinstance(size.op, (ast.FloorDiv, ast.Sub)) else set()
    name = alike.get(last_name(size), last_name(size)).lstrip("_")
    return set(_numbers(size)) or named.get(name, set())


@cache
def _named(tree: ast.Module) -> dict[str, set[int]]:
    """The numbers that a file gives names to: by an assignment, an argument, a default, a key, or an option of the command line."""
    found: dict[str, set[int]] = defaultdict(set)
    for name, value in _values(tree):
        found[name.rpartition(".")[2].lstrip("-_").replace("-", "_")].update(_numbers(value))
    return found


def _values(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    for call in nodes_of(tree, ast.Call):
        yield from ((keyword.arg or "", keyword.value) for keyword in call.keywords)
        if call.args and isinstance(
            call.args[0], ast.Constant
        ):  # `parser.add_argument("--hidden", default=64)`
            yield from ((str(call.args[0].value), one.value) for one in call.keywords if one.arg == "default")
    for function in nodes_of(tree, ast.FunctionDef):
        given = function.args
        positional = [*given.posonlyargs, *given.args]
        defaults = zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)
        named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        yield from ((parameter.arg, value) for parameter, value in [*defaults, *named])
    for statement in nodes_of(tree, ast.Assign):
        yield from ((dotted(target), statement.value) for target in statement.targets)
    for field in nodes_of(tree, ast.AnnAssign):
        yield dotted(field.target), field.value
    for table in nodes_of(tree, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            yield str(key.value) if isinstance(key, ast.Constant) else "", value


@cache
def _sizes(tree: ast.Module) -> tuple[tuple[ast.expr, bool], ...]:
    """The sizes that layers get, and whether each is the number of rows of a table. A layer with weights of another number has one that
    nothing tells: itself."""
    found: list[tuple[ast.expr, bool]] = []
    for call in nodes_of(tree, ast.Call):
        name = last_name(call.func)
        if name in _LAYERS:
            positional = call.args[:1] if name in ("Dense", "DenseGeneral") else call.args[:2]
            named = [keyword.value for keyword in call.keywords if keyword.arg in _SIZES]
            found += [(size, False) for size in [*positional, *named]]
        elif name in _TABLES:
            table = [one.value for one in call.keywords if one.arg == "num_embeddings"]
            width = [one.value for one in call.keywords if one.arg in _SIZES]
            found += [(size, True) for size in [*call.args[:1], *table]]
            found += [(size, False) for size in [*call.args[1:2], *width]]
        elif _ANY.search(name) and dotted(call.func).rpartition(".")[0].endswith(
            ("nn", "nnx", "linen", "hk")
        ):
            found.append((call.func, False))
    return tuple(found)


@cache
def _run_over(tree: ast.Module) -> dict[str, str]:
    """The names of the lists that loops run over, by those of their items: `for width in self.widths`."""
    loops = [one for one in walk(tree) if isinstance(one, (ast.For, ast.comprehension))]
    found: dict[str, str] = {}
    for loop in loops:
        through = loop.iter
        if isinstance(through, ast.Call) and last_name(through.func) == "enumerate" and through.args:
            through = through.args[0]
        for target in walk(loop.target):
            if isinstance(target, ast.Name) and last_name(through):
                found[target.id] = last_name(through)
    return found


def _numbers(value: ast.expr | None) -> list[int]:
    """`64`, or the items of `(64, 64)`."""
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    return [
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and type(part.value) is int and part.value > 1
    ]
