"""How a loss is computed from the logits of one product, row by row: the part that may be computed for some rows at a
time.

An expression is read backwards, from the loss to the product, through the assignments of its block. Each part is
described by its last axis: all classes, one element, or none. Code that mixes rows, or that no rule here covers, is
refused.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass, field, replace

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_text import siblings
from jaxlint.finding import Span

_INTEGER_LOSS = "optax.softmax_cross_entropy_with_integer_labels"
_DENSE_LOSS = "optax.softmax_cross_entropy"
_MODULES = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.scipy.special.")
_PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot"})
_OF_PRODUCTS = frozenset({"precision", "preferred_element_type"})
_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "amax", "logsumexp"})
_NORMALISED = frozenset({"softmax", "log_softmax"})
_ELEMENTWISE = frozenset(
    {"exp", "log", "log1p", "expm1", "tanh", "square", "abs", "negative", "stop_gradient", "astype"}
)
_TOTALS = frozenset({"sum", "mean"})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Kind(enum.Enum):
    """What an array has beside the axes of the rows."""

    SCORES = enum.auto()  # all classes; as the product returns them, apart from a bias or a scale
    WIDE = enum.auto()  # all classes
    ONE = enum.auto()  # an axis of one element
    ROW = enum.auto()  # nothing


@dataclass(frozen=True)
class Setting:
    """Facts from the run: the number of row axes, and whether a linear layer computes the logits."""

    rank: int = 1
    layer: bool = False


@dataclass
class RowLoss:
    """The parts of one loss: its statements, its operands, and what must be rewritten for any number of row axes."""

    expression: ast.expr
    total: str | None = None  # `sum` or `mean`, if it is applied to all classes of all rows at once
    product: ast.expr | None = None
    rows: list[ast.expr] = field(default_factory=list)
    labels: list[ast.expr] = field(default_factory=list)
    statements: dict[ast.Assign, None] = field(default_factory=dict)
    edits: dict[Span, str] = field(default_factory=dict)
    gone: list[ast.expr] = field(default_factory=list)  # removed text
    part: str = ""  # the index that selects some rows, which is then applied before the product
    products: int = 0  # how often the logits are read, and how often only those of some rows
    parts: int = 0

    def copied(self) -> RowLoss:
        """A copy that can be extended separately."""
        return replace(
            self,
            rows=list(self.rows),
            labels=list(self.labels),
            statements=dict(self.statements),
            edits=dict(self.edits),
            gone=list(self.gone),
        )


def row_loss(site: Site, expression: ast.expr, setting: Setting) -> RowLoss:
    """The computation of the loss in `expression`. Raises Refused if it is not a loss by rows."""
    reader = _Reader(site, setting, RowLoss(expression))
    kind = reader.read(expression)
    if kind in (Kind.SCORES, Kind.WIDE):
        reader.found.total = _total_of(site, expression)
        if reader.found.total is None:
            raise Refused("it is not a loss per row")
    elif isinstance(expression, ast.Name):
        raise Refused("another statement computes the loss")
    if reader.found.parts not in (0, reader.found.products):
        raise Refused("the scores are also used for part of the rows")
    texts = {ast.unparse(label) for label in reader.found.labels}
    if len(reader.found.rows) != 1 or len(texts) != 1:
        raise Refused("it is not computed from the scores of one product and one array of labels")
    return reader.found


def _total_of(site: Site, operand: ast.expr) -> str | None:
    """How the call around an array sums or averages all of it."""
    call = site.names.parents.get(operand)
    if isinstance(call, ast.Attribute):
        call = site.names.parents.get(call)
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    name, given, rest = _called(site, call)
    return name if name in _TOTALS and given is operand and not rest else None


def _called(site: Site, call: ast.Call) -> tuple[str, ast.expr | None, list[ast.expr]]:
    """The function of jax.numpy and the like, or the method, behind a call; its first operand, and the others."""
    qualified = site.names.qualified(call.func)
    if qualified is not None and qualified.startswith(_MODULES) and call.args:
        return qualified.rpartition(".")[2], call.args[0], call.args[1:]
    if qualified is None and isinstance(call.func, ast.Attribute):
        return call.func.attr, call.func.value, call.args
    return "", None, []


class _Reader:
    """Reads one expression, and records its parts."""

    def __init__(self, site: Site, setting: Setting, found: RowLoss) -> None:
        self.site = site
        self.setting = setting
        self.found = found

    def read(self, node: ast.expr) -> Kind:
        """The kind of `node`. Raises Refused if it is not computed from the logits or the labels, row by row."""
        if isinstance(node, ast.Name):
            statement = given(self.site, node)
            if statement is None:
                raise Refused(f"`{node.id}` is not assigned in the same block")
            kind = self.read(statement.value)
            self.found.statements[statement] = None
            return kind
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._applied(self.read(node.operand))
        if isinstance(node, ast.BinOp):
            return self._of_two(node)
        if isinstance(node, ast.Subscript):
            return self._picked(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise self._unknown(node)

    # ---- operators ----

    def _of_two(self, node: ast.BinOp) -> Kind:
        if isinstance(node.op, ast.MatMult):
            return self._product(node, node.left, node.right)
        if not isinstance(node.op, _OPERATORS):
            raise self._unknown(node)
        kinds = [self._attempt(side) for side in (node.left, node.right)]
        ours = [kind for kind in kinds if kind is not None]
        if len(ours) == 2:
            rowwise = [kind is Kind.ROW for kind in ours]
            if all(rowwise) or all(kind is Kind.ONE for kind in ours):
                return ours[0]
            if any(rowwise):
                raise self._unknown(node)
            return Kind.WIDE
        if len(ours) == 1:
            other = node.left if kinds[0] is None else node.right
            divides = isinstance(node.op, ast.Div) and other is node.left
            if isinstance(other, ast.Constant) or (ours[0] is Kind.SCORES and not divides):
                self._constant(other)
                return self._applied(ours[0]) if divides else ours[0]
        raise self._unknown(node)

    def _attempt(self, node: ast.expr) -> Kind | None:
        """The kind of `node`, or None if it does not involve the logits; then nothing is recorded."""
        found = self.found
        self.found = found.copied()
        try:
            return self.read(node)
        except Refused:
            self.found = found
            return None

    @staticmethod
    def _applied(kind: Kind) -> Kind:
        """The kind of the result of an elementwise function."""
        return Kind.WIDE if kind is Kind.SCORES else kind

    # ---- the product ----

    def _product(self, node: ast.expr, rows: ast.expr, table: ast.expr) -> Kind:
        self._constant(table)
        return self._made(node, rows)

    def _made(self, node: ast.expr, rows: ast.expr) -> Kind:
        self.found.product = node
        self.found.products += 1
        if rows not in self.found.rows:
            self.found.rows.append(rows)
        return Kind.SCORES

    def _layer(self, node: ast.Call) -> Kind:
        """The call of a linear layer, perhaps for each row."""
        if not self.setting.layer or len(node.args) != 1 or node.keywords:
            raise self._unknown(node)
        mapped = node.func
        if isinstance(mapped, ast.Call) and self.site.names.qualified(mapped.func) == "jax.vmap":
            if self.setting.rank != 1 or len(mapped.args) != 1 or mapped.keywords:
                raise self._unknown(node)
            self.found.edits[self.site.span(mapped)] = self.site.text(mapped.args[0])
        return self._made(node, node.args[0])

    def _constant(self, node: ast.expr) -> None:
        """A value that is the same for all rows. Raises Refused if it has side effects, or reads moved values other
        than by shape."""
        check_expression(self.site, node, "the computation of the scores")
        counted = self.found.products, self.found.parts
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and self._attempt(part) is not None:
                shape = self.site.names.parents[part]
                taken = self.site.names.parents[shape]
                if not (isinstance(shape, ast.Attribute) and shape.attr == "shape"):
                    raise self._unknown(node)
                if not isinstance(taken, ast.Subscript) or not self._is_last(taken.slice):
                    raise self._unknown(node)
        self.found.products, self.found.parts = counted

    # ---- functions ----

    def _call(self, node: ast.Call) -> Kind:
        qualified = self.site.names.qualified(node.func)
        if qualified in _PRODUCTS and len(node.args) == 2:
            if {keyword.arg for keyword in node.keywords} <= _OF_PRODUCTS:
                return self._product(node, *node.args)
        if qualified in (_INTEGER_LOSS, _DENSE_LOSS):
            return self._optax(node, qualified)
        if qualified == "jax.nn.one_hot":
            return self._one_hot(node)
        if qualified == "jax.numpy.take_along_axis":
            return self._along(node)
        name, operand, rest = _called(self.site, node)
        known = name in _REDUCTIONS | _NORMALISED | _ELEMENTWISE or name == "squeeze"
        if operand is None or not known:
            return self._layer(node)
        kind = self.read(operand)
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        if name in _ELEMENTWISE:
            if named or len(rest) > (name == "astype"):
                raise self._unknown(node)
            return kind if name == "astype" else self._applied(kind)
        keep = named.pop("keepdims", None)
        axis = named.pop("axis", None) if not rest else rest.pop(0)
        if named or rest or (axis is not None and not self._is_last(axis)):
            raise self._unknown(node)
        if name in _NORMALISED and kind in (Kind.SCORES, Kind.WIDE) and keep is None:
            return Kind.WIDE
        if name == "squeeze" and kind is Kind.ONE and axis is not None and keep is None:
            return Kind.ROW
        if name in _REDUCTIONS and kind in (Kind.SCORES, Kind.WIDE) and axis is not None:
            kept = keep is not None and ast.unparse(keep) == "True"
            if kept or keep is None or ast.unparse(keep) == "False":
                return Kind.ONE if kept else Kind.ROW
        raise self._unknown(node)

    def _optax(self, node: ast.Call, loss: str) -> Kind:
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        both = [*node.args, *(named.pop(name) for name in ("logits", "labels") if name in named)]
        if len(both) != 2 or named:
            raise Refused("the loss has other arguments than scores and labels")
        if self.read(both[0]) not in (Kind.SCORES, Kind.WIDE):
            raise self._unknown(node)
        if loss == _INTEGER_LOSS:
            self._labels(both[1])
        elif self.read(both[1]) is not Kind.WIDE:
            raise self._unknown(node)
        return Kind.ROW

    def _one_hot(self, node: ast.Call) -> Kind:
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        axis = named.pop("axis", None)
        sizes = [*node.args[1:], *named.values()]
        if not node.args or not sizes or (axis is not None and not self._is_last(axis)):
            raise self._unknown(node)
        self._labels(node.args[0])
        for size in sizes:
            self._constant(size)
        return Kind.WIDE

    def _along(self, node: ast.Call) -> Kind:
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        parts = [*node.args, *(named.pop(name) for name in ("indices", "axis") if name in named)]
        if len(parts) != 3 or named or not self._is_last(parts[2]):
            raise self._unknown(node)
        if self.read(parts[0]) not in (Kind.SCORES, Kind.WIDE):
            raise self._unknown(node)
        self._index(parts[1])
        return Kind.ONE

    # ---- labels ----

    def _labels(self, node: ast.expr) -> None:
        self.found.labels.append(node)

    def _index(self, node: ast.expr) -> None:
        """Labels with a last axis of one element."""
        if isinstance(node, ast.Name):
            statement = given(self.site, node)
            if statement is None:
                raise self._unknown(node)
            self._index(statement.value)
            self.found.statements[statement] = None
            return
        if isinstance(node, ast.Subscript) and self._is_element(node.slice, "None"):
            self._sliced(node, "None")
            self._labels(node.value)
            return
        if isinstance(node, ast.Call):
            name, labels, rest = _called(self.site, node)
            axes = [*rest, *(keyword.value for keyword in node.keywords if keyword.arg == "axis")]
            if name == "expand_dims" and labels is not None and len(axes) == 1 and self._is_last(axes[0]):
                self._labels(labels)
                return
            column = [ast.unparse(axis) for axis in rest] in (["-1", "1"], ["(-1, 1)"])
            if name == "reshape" and labels is not None and column and self.setting.rank == 1:
                whole, inner = self.site.span(node), self.site.span(labels)
                self.found.edits[_between(whole, inner)] = ""
                self.found.edits[_between_ends(inner, whole)] = "[..., None]"
                self._labels(labels)
                return
        raise self._unknown(node)

    def _picked(self, node: ast.Subscript) -> Kind:
        """One element of the last axis, or the element that the labels select in each row."""
        if self._is_element(node.slice, "0"):
            if self.read(node.value) is not Kind.ONE:
                raise self._unknown(node)
            self._sliced(node, "0")
            return Kind.ROW
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2 and self.setting.rank == 1:
            count, labels = node.slice.elts
            counted = isinstance(count, ast.Call) and len(count.args) == 1 and not count.keywords
            if counted and self.site.names.qualified(count.func) == "jax.numpy.arange":  # type: ignore[attr-defined]
                if self.read(node.value) in (Kind.SCORES, Kind.WIDE):
                    self._labels(labels)
                    self.found.gone.append(count)
                    self.found.edits[_between(self.site.span(count), self.site.span(labels))] = ""
                    return Kind.ROW
        if self._takes_rows(node.slice) and self.read(node.value) is Kind.SCORES:
            text = self.site.text(node)[len(self.site.text(node.value)) :]
            if self.found.part not in ("", text):
                raise self._unknown(node)
            inner, whole = self.site.span(node.value), self.site.span(node)
            self.found.edits[_between_ends(inner, whole)] = ""
            self.found.part = text
            self.found.parts += 1
            return Kind.SCORES
        raise self._unknown(node)

    def _takes_rows(self, index: ast.expr) -> bool:
        """Whether an index selects a range along row axes, and all classes."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not all(isinstance(part, ast.Slice) and part.step is None for part in parts):
            return False
        classes = [ast.unparse(part) for part in parts[self.setting.rank :]]
        return classes in ([], [":"]) and any(ast.unparse(part) != ":" for part in parts)

    def _is_element(self, index: ast.expr, element: str) -> bool:
        """Whether an index selects, or creates, one element after all row axes."""
        if not isinstance(index, ast.Tuple) or len(index.elts) < 2:
            return False
        *before, last = (ast.unparse(part) for part in index.elts)
        newaxis = element == "None" and last.endswith(".newaxis")
        return (last == element or newaxis) and before in (["..."], [":"] * self.setting.rank)

    def _sliced(self, node: ast.Subscript, element: str) -> None:
        """Writes the index for any number of row axes."""
        if ast.unparse(node.slice.elts[0]) != "...":  # type: ignore[attr-defined]
            self.found.edits[self.site.span(node.slice)] = f"..., {element}"

    def _is_last(self, axis: ast.expr) -> bool:
        """Whether a number means the last axis; it is then written as such."""
        if ast.unparse(axis) == str(self.setting.rank):
            self.found.edits[self.site.span(axis)] = "-1"
            return True
        return ast.unparse(axis) == "-1"

    def _unknown(self, node: ast.expr) -> Refused:
        return Refused(f"`{ast.unparse(node)[:40]}` may not be computed row by row")


def _between(one: Span, other: Span) -> Span:
    """From the start of one span to the start of the other."""
    return Span(one.line, one.column, other.line, other.column)


def _between_ends(one: Span, other: Span) -> Span:
    """From the end of one span to the end of the other."""
    return Span(one.end_line, one.end_column, other.end_line, other.end_column)


def given(site: Site, name: ast.Name) -> ast.Assign | None:
    """The only statement of the same block, before this one, that assigns a name."""
    last = next(node for node in site.names.ancestors(name) if isinstance(node, ast.stmt))
    block = siblings(site, last)
    for statement in reversed(block[: block.index(last)]):
        if name.id in stored(statement):
            single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            if single and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                return statement
            return None
    return None


def stored(statement: ast.stmt) -> set[str]:
    """The names that a statement assigns, completely or in part."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            while isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value  # type: ignore[assignment]
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found
