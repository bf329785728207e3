"""`attention-call`: written-out attention becomes a call of `jax.nn.dot_product_attention`.

A run of the program determined what the attention computes, its scale and whether it is causal. This codemod finds
the statements that compute it, so that they can be removed. Raises Refused if they are not together, or if other code
uses their results.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_text import siblings
from jaxlint.codemods.statements.remove_statement import delete_statement
from jaxlint.finding import Span, Step

_FUNCTION = "jax.nn.dot_product_attention"
_EINSUM = frozenset({"jax.numpy.einsum"})
_PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot"})
_SOFTMAX = frozenset({"jax.nn.softmax", "flax.linen.softmax", "flax.nnx.softmax"})
_ORDERS = {(0, 1, 2, 3): "", (0, 2, 1, 3): ".swapaxes(1, 2)"}  # of batch, time, heads and depth
_DEFAULT = 1e-3  # tolerance between the scale and the function's own: it may have been rounded to 16 bits


@codemod("attention-call")
def attention_call(draft: Draft, step: Step) -> None:
    """The span is the second product. Parameters: `scale`, `depth` (of the heads) and `causal`, as a run saw them,
    and `implementation`."""
    site = draft.site
    product = site.find_ast(step.span, ast.Call, ast.BinOp)
    assert isinstance(product, (ast.Call, ast.BinOp))
    chain = _Chain(site, product)
    arguments = [f"{name}{order}" for name, order in chain.operands]
    scale, depth = step.parameters.get("scale"), step.parameters.get("depth")
    if not isinstance(scale, (int, float)) or not isinstance(depth, int):
        raise Refused("the scale of the attention is unknown")
    if abs(scale * math.sqrt(depth) - 1.0) > _DEFAULT:
        arguments.append(f"scale={scale:.9g}")
    if step.parameters.get("causal"):
        arguments.append("is_causal=True")
    elif chain.masks:
        raise Refused("the axes of the mask are unknown")
    if implementation := step.parameters.get("implementation"):
        arguments.append(f'implementation="{implementation}"')
    dropped = chain.dropped()
    called = reference(site, draft.imports, _FUNCTION, product)
    draft.replace(site.span(product), f"{called}({', '.join(arguments)}){chain.order}")
    for statement in dropped:
        delete_statement(draft, statement)


def find_products(site: Site, line: int) -> list[Span]:
    """The outermost products in the statement at a line."""
    found: list[ast.AST] = []
    for node in ast.walk(site.tree):
        if not isinstance(node, ast.stmt) or isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            continue
        if node.lineno <= line <= (node.end_lineno or node.lineno) and not hasattr(node, "body"):
            found += [part for part in ast.walk(node) if _factors(site, part) is not None]
    outermost = [node for node in found if not any(other in found for other in site.names.ancestors(node))]
    return [site.span(node) for node in outermost]


def _factors(site: Site, node: ast.AST) -> tuple[str | None, ast.expr, ast.expr] | None:
    """The subscripts of a product (None for a matrix product) and both factors."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return None, node.left, node.right
    if not isinstance(node, ast.Call):
        return None
    name = site.names.qualified(node.func)
    if name in _PRODUCTS and len(node.args) == 2:
        return None, node.args[0], node.args[1]
    if name in _EINSUM and len(node.args) == 3 and isinstance(node.args[0], ast.Constant):
        if isinstance(node.args[0].value, str):
            return node.args[0].value.replace(" ", ""), node.args[1], node.args[2]
    return None


@dataclass
class _Chain:
    """The statements from the product of queries and keys to `product`, that with the values."""

    site: Site
    product: ast.Call | ast.BinOp
    # Queries, keys, values, and the transpose of each.
    operands: list[tuple[str, str]] = field(default_factory=list)
    order: str = ""  # the transpose of the result
    masks: list[ast.expr] = field(default_factory=list)
    others: list[ast.expr] = field(default_factory=list)  # scales, which the number replaces
    statements: list[ast.stmt] = field(default_factory=list)

    def __post_init__(self) -> None:
        parents = (self.product, *self.site.names.ancestors(self.product))
        self.last = next(node for node in parents if isinstance(node, ast.stmt))
        self.block = siblings(self.site, self.last)
        factors = _factors(self.site, self.product)
        if factors is None:
            raise Refused("the second product is neither an einsum nor a matrix product")
        subscripts, weights, values = factors
        scores = self._scores_under(*self._resolved(weights, self.last))
        first = _factors(self.site, scores)
        assert first is not None
        self._read(first, subscripts, values)

    # ---- backward along the statements ----

    def _resolved(self, expression: ast.expr, before: ast.stmt) -> tuple[ast.expr, ast.stmt]:
        """An expression without casts; for a name its last value, with the statement that assigns it."""
        while True:
            if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
                if expression.func.attr == "astype":
                    expression = expression.func.value
                    continue
            if not isinstance(expression, ast.Name):
                return expression, before
            statement = self._given(expression.id, before)
            self.statements.append(statement)
            if isinstance(statement, ast.AugAssign):
                operation = ast.BinOp(ast.Name(expression.id, ast.Load()), statement.op, statement.value)
                return operation, statement
            expression, before = statement.value, statement

    def _given(self, name: str, before: ast.stmt) -> ast.Assign | ast.AugAssign:
        for statement in reversed(self.block[: self.block.index(before)]):
            binds = {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            }
            if name not in binds:
                continue
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                return statement
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                if isinstance(statement.targets[0], ast.Name):
                    return statement
            break
        raise Refused(f"`{name}` is not assigned in the same block")

    def _scores_under(self, weights: ast.expr, before: ast.stmt) -> ast.expr:
        """The product of queries and keys, from the weights."""
        if not isinstance(weights, ast.Call) or self.site.names.qualified(weights.func) not in _SOFTMAX:
            raise Refused("the weights do not come from one softmax call")
        axes = [k.value for k in weights.keywords if k.arg == "axis"] + weights.args[1:]
        if any(k.arg != "axis" for k in weights.keywords) or any(
            ast.unparse(a) not in ("-1", "3") for a in axes
        ):
            raise Refused("the softmax has unsupported arguments")
        expression, before = self._resolved(weights.args[0], before)
        while _factors(self.site, expression) is None:
            expression, before = self._resolved(self._inner(expression, before), before)
        return expression

    def _inner(self, expression: ast.expr, before: ast.stmt) -> ast.expr:
        """The expression that another one scales or masks."""
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, (ast.Mult, ast.Div)):
            left = self._leads(expression.left, before)
            if left and not self._leads(expression.right, before):
                self.others.append(expression.right)
                return expression.left
            if not left and isinstance(expression.op, ast.Mult):
                self.others.append(expression.left)
                return expression.right
        if isinstance(expression, ast.Call) and len(expression.args) == 3:
            if self.site.names.qualified(expression.func) == "jax.numpy.where":
                self.masks.append(expression.args[0])
                self.others.append(expression.args[2])
                return expression.args[1]
        raise Refused(f"the call cannot apply `{ast.unparse(expression)[:40]}` to the scores")

    def _leads(self, expression: ast.expr, before: ast.stmt) -> bool:
        """Whether an expression derives from a product."""
        for node in ast.walk(expression):
            if _factors(self.site, node) is not None:
                return True
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                try:
                    given = self._given(node.id, before)
                except Refused:
                    continue
                if isinstance(given, ast.AugAssign) or self._leads(given.value, given):
                    if not _shape_alone(self.site, node):
                        return True
        return False

    # ---- operands ----

    def _read(
        self, first: tuple[str | None, ast.expr, ast.expr], second: str | None, values: ast.expr
    ) -> None:
        subscripts, queries, keys = first
        if (subscripts is None) != (second is None):
            raise Refused("only one of the two products is an einsum")
        if subscripts is None or second is None:
            turned = _ORDERS[(0, 2, 1, 3)]
            named = [self._name(queries), self._name(_untransposed(self.site, keys)), self._name(values)]
            self.operands, self.order = [(name, turned) for name in named], turned
            return
        (of_queries, of_keys), scores = _split(subscripts)
        (of_weights, of_values), result = _split(second)
        if len(scores) != 4 or len(of_weights) != 4:
            raise Refused("its axes are not batch, heads, time and depth")
        if scores[-1] in of_queries:
            queries, keys, of_queries, of_keys = keys, queries, of_keys, of_queries
        batch, heads, time, positions = tuple(scores)
        depth = (set(of_queries) & set(of_keys)) - {batch, heads}
        b, h, t, s = tuple(of_weights)
        width = set(of_values) - {b, h, s}
        if len(depth) != 1 or len(width) != 1 or time not in of_queries or positions not in of_keys:
            raise Refused("its axes are not batch, heads, time and depth")
        (d,), (e,) = depth, width
        parts = (
            (queries, of_queries, (batch, time, heads, d)),
            (keys, of_keys, (batch, positions, heads, d)),
        )
        for node, own, wanted in (*parts, (values, of_values, (b, s, h, e))):
            self.operands.append((self._name(node), _turned(own, wanted)))
        self.order = _turned((b, t, h, e), tuple(result))

    def _name(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            raise Refused(f"`{ast.unparse(node)[:40]}` is not a plain name")
        begin = min(
            (self.block.index(statement) for statement in self.statements),
            default=self.block.index(self.last),
        )
        for statement in self.block[begin : self.block.index(self.last)]:
            for other in ast.walk(statement):
                if (
                    isinstance(other, ast.Name)
                    and other.id == node.id
                    and not isinstance(other.ctx, ast.Load)
                ):
                    raise Refused(f"`{node.id}` is reassigned in between")
        return node.id

    # ---- removable statements ----

    def dropped(self) -> list[ast.stmt]:
        """The statements that are no longer needed, in order. Raises Refused if their results are used elsewhere."""
        chain = list(dict.fromkeys(self.statements))
        helpers = [statement for statement in self._helpers() if statement not in chain]
        while True:
            gone = [*chain, *helpers]
            kept = [statement for statement in helpers if self._used_outside(statement, gone)]
            if not kept:
                break
            helpers = [statement for statement in helpers if statement not in kept]
        for statement in chain:
            name = self._used_outside(statement, [*chain, *helpers])
            if name:
                raise Refused(f"`{name}` is also used elsewhere")
        return sorted([*chain, *helpers], key=lambda statement: statement.lineno)

    def _helpers(self) -> list[ast.stmt]:
        """Statements that compute masks and scales."""
        found: dict[ast.stmt, None] = {}
        pending: list[ast.expr] = [*self.masks, *self.others]
        while pending:
            for node in ast.walk(pending.pop()):
                if not isinstance(node, ast.Name):
                    continue
                for statement in self.block[: self.block.index(self.last)]:
                    if statement in found or not isinstance(statement, ast.Assign):
                        continue
                    if [ast.unparse(target) for target in statement.targets] != [node.id]:
                        continue
                    try:
                        check_expression(self.site, statement.value, "a mask")
                    except Refused:
                        continue
                    found[statement] = None
                    pending.append(statement.value)
        return list(found)

    def _used_outside(self, statement: ast.stmt, gone: list[ast.stmt]) -> str | None:
        """The name that a statement binds, if a remaining statement reads it."""
        target = (
            statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        )
        assert isinstance(target, ast.Name)
        home = self.site.names.scope_at(statement).resolve(target.id)
        for use in self.site.names.uses_of(target.id, home) if home is not None else ():
            around = [use.name, *self.site.names.ancestors(use.name)]
            if self.product not in around and not any(one in around for one in gone):
                return target.id
        return None


def _split(subscripts: str) -> tuple[list[str], str]:
    operands, arrow, result = subscripts.partition("->")
    parts = operands.split(",")
    if not arrow or len(parts) != 2 or not (operands.replace(",", "") + result).isalpha():
        raise Refused("the subscripts of the einsum are not a literal string")
    return parts, result


def _turned(own: str | tuple[str, ...], wanted: tuple[str, ...]) -> str:
    order = tuple(list(own).index(letter) for letter in wanted) if set(own) == set(wanted) else ()
    if order not in _ORDERS:
        raise Refused("the call does not support the axis order of an operand")
    return _ORDERS[order]


def _untransposed(site: Site, keys: ast.expr) -> ast.expr:
    """The keys, from their transpose."""
    if isinstance(keys, ast.Attribute) and keys.attr == "mT":
        return keys.value
    if isinstance(keys, ast.Call):
        numbers = [ast.unparse(part) for part in keys.args]
        if isinstance(keys.func, ast.Attribute) and keys.func.attr == "swapaxes" and len(numbers) == 2:
            if set(numbers) in ({"-1", "-2"}, {"2", "3"}):
                return keys.func.value
        if site.names.qualified(keys.func) == "jax.numpy.swapaxes" and set(numbers[1:]) in (
            {"-1", "-2"},
            {"2", "3"},
        ):
            return keys.args[0]
        if isinstance(keys.func, ast.Attribute) and keys.func.attr == "transpose":
            if numbers in (["0", "1", "3", "2"], ["(0, 1, 3, 2)"]):
                return keys.func.value
    raise Refused("the keys are not transposed in the product")


def _shape_alone(site: Site, node: ast.Name) -> bool:
    """Whether a name is only read for its shape or dtype."""
    parent = site.names.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "ndim", "size")
