"""`stable-form`: formulas that overflow or lose digits become JAX functions that do not.

`jnp.exp(x) / jnp.exp(x).sum()` becomes `jax.nn.softmax(x)`, `jnp.log(1 + x)` becomes `jnp.log1p(x)`, `jnp.linalg.inv(a) @ b` becomes
`jnp.linalg.solve(a, b)`, and so on.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.expressions.reaching_definition import Definitions
from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step

_EXP = frozenset({"jax.numpy.exp", "jax.lax.exp"})
_SUM = frozenset({"jax.numpy.sum"})
_ABS = frozenset({"jax.numpy.abs", "jax.numpy.absolute", "jax.lax.abs", "abs"})
_DET = frozenset({"jax.numpy.linalg.det"})
_INV = frozenset({"jax.numpy.linalg.inv"})
_PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot"})
_SOFTMAX = frozenset({"jax.nn.softmax", "flax.linen.softmax", "flax.nnx.softmax"})
_SIGMOID = frozenset(
    [
        "jax.nn.sigmoid",
        "jax.lax.logistic",
        "jax.scipy.special.expit",
        "flax.linen.sigmoid",
        "flax.nnx.sigmoid",
    ]
)
_OTHER_FORM = "the rewrite does not know this form of the formula"


@codemod("stable-form")
def stable_form(draft: Draft, step: Step) -> None:
    """The span is the division, logarithm, difference or product. Takes no parameters."""
    site = draft.site
    node = site.find_ast(step.span, ast.BinOp, ast.Call)
    assert isinstance(node, (ast.BinOp, ast.Call))
    check_expression(site, node, "the formula")
    form = _Form(draft, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        text = form.solution(node.left, node.right)
    elif isinstance(node, ast.Call) and site.names.qualified(node.func) in _PRODUCTS and len(node.args) == 2:
        text = form.solution(*node.args)
    elif isinstance(node, ast.Call):
        text = form.logarithm(node)
    elif isinstance(node.op, ast.Div):
        text = form.softmax(node)
    else:
        text = form.difference(node)
    if Layout(site).comments_outside(site.span(node), ()):
        raise Refused("the rewrite would lose a comment inside the formula")
    draft.replace(site.span(node), text)
    form.definitions.drop_unused(draft, node, text)


class _Form:
    def __init__(self, draft: Draft, at: ast.expr) -> None:
        self.draft, self.site, self.at = draft, draft.site, at
        self.layout = Layout(draft.site)
        self.definitions = Definitions(draft.site)

    def call(self, target: str, *arguments: str) -> str:
        name = reference(self.site, self.draft.imports, target, self.at)
        return f"{name}({', '.join(arguments)})"

    def softmax(self, node: ast.BinOp) -> str:
        top = self.argument_of(node.left, _EXP)
        total, view = self.definitions.value(node.right), ""
        if isinstance(total, ast.Subscript):
            view = self.site.text(total.slice).replace(" ", "")
            total = self.definitions.value(total.value)
            view = view.replace("jnp.newaxis", "None").replace("np.newaxis", "None")
        summed, options = self.sum(total)
        bottom = self.argument_of(summed, _EXP)
        if ast.dump(top) != ast.dump(bottom):
            raise Refused(_OTHER_FORM)
        axis = options.pop("axis", "None")
        keeps = options.pop("keepdims", "False") == "True"
        # The sum must keep its axis in the broadcast.
        fits = keeps or axis in ("None", "0")
        if view:
            fits = not keeps and (
                (view == "...,None" and axis == "-1") or (view == ":,None" and axis in ("-1", "1"))
            )
        if options or not fits:
            raise Refused("the axes of the sum and of the division may differ")
        return self.call("jax.nn.softmax", self.layout.argument(top), f"axis={axis}")

    def logarithm(self, node: ast.Call) -> str:
        if (self.site.names.qualified(node.func) or "") not in ("jax.numpy.log", "jax.lax.log") or len(
            node.args
        ) != 1:
            raise Refused(_OTHER_FORM)
        inner = self.definitions.value(node.args[0])
        if isinstance(inner, ast.BinOp):
            return self._log_of_sum(inner)
        if isinstance(inner, ast.Call):
            name = self.site.names.qualified(inner.func) or ""
            if name in _SOFTMAX:
                arguments = [self._keyword(one) for one in inner.keywords]
                return self.call("jax.nn.log_softmax", *map(self.layout.argument, inner.args), *arguments)
            if name in _SIGMOID:
                return self.call(
                    "jax.nn.log_sigmoid", self.layout.argument(self.argument_of(inner, _SIGMOID))
                )
            if name in _DET or name in _ABS:
                matrix = self.argument_of(self.argument_of(inner, _ABS) if name in _ABS else inner, _DET)
                return f"{self.call('jax.numpy.linalg.slogdet', self.layout.argument(matrix))}[1]"
            summed, options = self.sum(inner)
            if not options.keys() <= {"axis", "keepdims", "where"}:
                raise Refused(_OTHER_FORM)
            given = [f"{name}={value}" for name, value in options.items()]
            return self.call("jax.nn.logsumexp", self.layout.argument(self.argument_of(summed, _EXP)), *given)
        raise Refused(_OTHER_FORM)

    def _log_of_sum(self, node: ast.BinOp) -> str:
        """For `1 + exp(x)`, `1 + x`, `1 - sigmoid(x)` and `1 - x`."""
        if isinstance(node.op, ast.Add):
            sides = [node.left, node.right]
            other = sides[1] if _is_one(sides[0]) else sides[0] if _is_one(sides[1]) else None
            if other is not None:
                term = self.definitions.value(other, peek=True)
                if isinstance(term, ast.Call) and self.site.names.qualified(term.func) in _EXP:
                    return self.call("jax.nn.softplus", self.layout.argument(self.argument_of(other, _EXP)))
                return self.call("jax.numpy.log1p", self.layout.argument(other))
        if isinstance(node.op, ast.Sub) and _is_one(node.left):
            term = self.definitions.value(node.right, peek=True)
            if isinstance(term, ast.Call) and self.site.names.qualified(term.func) in _SIGMOID:
                argument = self.argument_of(node.right, _SIGMOID)
                return self.call("jax.nn.log_sigmoid", f"-{self.layout.operand(argument)}")
            return self.call("jax.numpy.log1p", f"-{self.layout.operand(node.right)}")
        raise Refused(_OTHER_FORM)

    def solution(self, left: ast.expr, right: ast.expr) -> str:
        """For `inv(a) @ b`."""
        matrix = self.argument_of(left, _INV)
        return self.call("jax.numpy.linalg.solve", self.layout.argument(matrix), self.layout.argument(right))

    def difference(self, node: ast.BinOp) -> str:
        """For `exp(x) - 1`."""
        if not isinstance(node.op, ast.Sub) or not _is_one(node.right):
            raise Refused(_OTHER_FORM)
        return self.call("jax.numpy.expm1", self.layout.argument(self.argument_of(node.left, _EXP)))

    def argument_of(self, node: ast.expr, functions: frozenset[str]) -> ast.expr:
        """The single argument of a call of one of `functions`. Raises Refused."""
        call = self.definitions.value(node)
        if not isinstance(call, ast.Call) or self.site.names.qualified(call.func) not in functions:
            raise Refused(_OTHER_FORM)
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            raise Refused(_OTHER_FORM)
        return call.args[0]

    def sum(self, node: ast.expr) -> tuple[ast.expr, dict[str, str]]:
        """The summed expression, and the options of the sum as text. Raises Refused."""
        if not isinstance(node, ast.Call) or any(isinstance(one, ast.Starred) for one in node.args):
            raise Refused(_OTHER_FORM)
        positional = list(node.args)
        if self.site.names.qualified(node.func) in _SUM and positional:
            summed = positional.pop(0)
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "sum"
            and not self._is_imported(node.func)
        ):
            summed = node.func.value
        else:
            raise Refused(_OTHER_FORM)
        options = {}
        if len(positional) > 1 or any(one.arg is None for one in node.keywords):
            raise Refused(_OTHER_FORM)
        if positional:
            options["axis"] = self.layout.argument(positional[0])
        options |= {str(one.arg): self.layout.argument(one.value) for one in node.keywords}
        return summed, options

    def _is_imported(self, function: ast.expr) -> bool:
        return self.site.names.qualified(function) is not None

    def _keyword(self, node: ast.keyword) -> str:
        value = self.layout.argument(node.value)
        return f"{node.arg}={value}" if node.arg else f"**{value}"


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 1
