"""`boolean-to-array`: operators that need the truth of a tracer become array functions.

`and`, `or` and `not` become `jnp.logical_and`, `&` and the like, chained comparisons are split, `in` compares with
each element, and the builtins `max`, `min`, `any` and `all` become those of `jax.numpy`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.facts.local_effects import check_expression, constant_type
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.tracers.select import is_static, is_truth, static_part
from jaxlint.finding import Step

_TAKES_TRUTH = frozenset(
    [
        "jax.numpy.where",
        "jax.lax.cond",
        "jax.lax.select",
        "jax.numpy.logical_and",
        "jax.numpy.logical_or",
        "jax.numpy.logical_not",
    ]
)
_BUILTINS = {
    "max": "jax.numpy.maximum",
    "min": "jax.numpy.minimum",
    "any": "jax.numpy.any",
    "all": "jax.numpy.all",
}
_MAX_ELEMENTS = 6


@codemod("boolean-to-array")
def boolean_to_array(draft: Draft, step: Step) -> None:
    """The span is an operand of `and`, `or` or `not`, a comparison, or the call of a builtin.

    The parameter `array` (bool) says that the single argument of the call is an array.
    """
    node = draft.site.find_ast(step.span, ast.expr)
    writer = Truth(draft, node)
    root = _root(draft, node)
    draft.replace(draft.site.span(root), writer.outermost(root, array=bool(step.parameters.get("array"))))


def _root(draft: Draft, node: ast.AST) -> ast.expr:
    """The whole boolean expression that `node` is an operand of."""
    parents = draft.site.names.parents
    while isinstance(parent := parents.get(node), ast.BoolOp) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    ):
        node = parent
    assert isinstance(node, ast.expr)
    return node


class Truth:
    """Writes boolean expressions with array functions, for one place."""

    def __init__(self, draft: Draft, at: ast.AST) -> None:
        self.draft, self.site, self.at = draft, draft.site, at
        self.layout = Layout(draft.site)

    def name(self, target: str) -> str:
        return reference(self.site, self.draft.imports, target, self.at)

    def outermost(self, node: ast.expr, *, array: bool) -> str:
        check_expression(self.site, node, "the expression")
        around = self.site.names.parents.get(node)
        if isinstance(around, (ast.If, ast.While, ast.IfExp, ast.Assert)) and around.test is node:
            raise Refused("the statement around it also tests it; rewrite that first")
        if self.layout.comments_outside(self.site.span(node), ()):
            raise Refused("the rewrite would lose a comment inside the expression")
        return self.call(node, array=array) if isinstance(node, ast.Call) else self.truth(node)

    def truth(self, node: ast.expr) -> str:
        """`node` with every boolean operator in it rewritten."""
        if isinstance(node, ast.BoolOp):
            if not self._is_truth(node):
                word = "and" if isinstance(node.op, ast.And) else "or"
                raise Refused(f"`{word}` returns one of its operands here, and they are not all booleans")
            return self._operator(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"{self.name('jax.numpy.logical_not')}({self.truth(node.operand)})"
        if isinstance(node, ast.Compare):
            if len(node.ops) > 1:
                return self._chain(node)
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                return self._membership(node)
        return self.layout.argument(node)

    def _is_truth(self, node: ast.expr) -> bool:
        """Whether only the truth of `node` matters, or it is a truth value already."""
        return (
            all(map(self._is_boolean, node.values))
            if isinstance(node, ast.BoolOp) and not self._is_asked(node)
            else True
        )

    def _is_asked(self, node: ast.expr) -> bool:
        parent = self.site.names.parents.get(node)
        if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return parent.test is node
        if isinstance(parent, ast.BoolOp) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        ):
            return isinstance(parent, ast.UnaryOp) or self._is_asked(parent)
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
            return self.site.names.qualified(parent.func) in _TAKES_TRUTH
        return False

    def _is_boolean(self, node: ast.expr) -> bool:
        return is_truth(self.site, node)

    def _operator(self, node: ast.BoolOp) -> str:
        values = list(node.values)
        word = "and" if isinstance(node.op, ast.And) else "or"
        first: list[str] = []
        # Operands known at trace time stay in Python and guard the rest.
        while values and (static_part(values[0]) is not None or constant_type(values[0]) is bool):
            if any(isinstance(part, ast.BoolOp) for part in ast.walk(values[0])):
                raise Refused("an operand mixes compile-time constants with tracers")
            first.append(self.layout.operand(values.pop(0)))
        if any(_guards(value) for value in values):
            raise Refused(
                "a compile-time test may guard the operands after it; put it first, or into its own `if`"
            )
        if not values:
            raise Refused("no operand is a tracer")
        parts = [self.truth(value) for value in values]
        if len(values) == 1:
            rest = parts[0]
        elif all(isinstance(value, ast.Compare) for value in values):
            sign = " & " if isinstance(node.op, ast.And) else " | "
            rest = sign.join(f"({part})" for part in parts)
        else:
            function = self.name(f"jax.numpy.logical_{word}")
            rest = parts[0]
            for part in parts[1:]:
                rest = f"{function}({rest}, {part})"
        if not first:
            return rest
        return f" {word} ".join([*first, f"({rest})" if " " in rest and not rest.endswith(")") else rest])

    def _chain(self, node: ast.Compare) -> str:
        sides = [node.left, *node.comparators]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            raise Refused("the comparison mixes `is` or `in` with others; write it out")
        for middle in sides[1:-1]:
            if any(isinstance(part, ast.Call) for part in ast.walk(middle)):
                raise Refused(
                    f"`{ast.unparse(middle)}` would be evaluated twice; assign it to a variable first"
                )
        parts = []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            sign = _SIGNS[type(op)]
            parts.append(f"({self._side(left)} {sign} {self._side(right)})")
        return " & ".join(parts)

    def _side(self, node: ast.expr) -> str:
        loose = (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda)
        text = self.layout.argument(node)
        multiline = "\n" in text or "\r" in text
        return f"({text})" if isinstance(node, loose) or (multiline and not text.endswith(")")) else text

    def _membership(self, node: ast.Compare) -> str:
        container = node.comparators[0]
        if not isinstance(container, (ast.Tuple, ast.List, ast.Set)) or not container.elts:
            raise Refused("`in` has a JAX counterpart only for a literal tuple, list or set")
        if any(isinstance(one, ast.Starred) for one in container.elts):
            raise Refused("the container unpacks its elements; use jnp.isin")
        if len(container.elts) > _MAX_ELEMENTS:
            raise Refused("too many elements to compare one by one; use jnp.isin")
        if any(isinstance(part, ast.Call) for part in ast.walk(node.left)):
            raise Refused(
                f"`{ast.unparse(node.left)}` would be evaluated several times; assign it to a variable first"
            )
        absent = isinstance(node.ops[0], ast.NotIn)
        left = self._side(node.left)
        parts = [f"({left} {'!=' if absent else '=='} {self._side(one)})" for one in container.elts]
        return parts[0][1:-1] if len(parts) == 1 else (" & " if absent else " | ").join(parts)

    # Builtins

    def call(self, node: ast.Call, *, array: bool) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _BUILTINS or self.site.names.scope_at(node).resolve(name) is not None:
            raise Refused(f"`{ast.unparse(node.func)}` has no direct counterpart in jax.numpy")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Refused(f"`{name}` is called with keywords or unpacked arguments")
        elements: Sequence[ast.expr] = node.args
        if len(node.args) == 1:
            only = node.args[0]
            if isinstance(only, (ast.Tuple, ast.List)) and only.elts:
                elements = only.elts
            elif name in ("any", "all") and isinstance(only, (ast.GeneratorExp, ast.ListComp)):
                return f"{self.name(f'jax.numpy.{name}')}({self._elementwise(only)})"
            elif array and not isinstance(only, (ast.GeneratorExp, ast.ListComp)):
                return f"{self.name(f'jax.numpy.{name}')}({self.layout.argument(only)})"
            else:
                raise Refused(f"`{name}` iterates over a Python sequence; stack it and use jnp.{name}")
        if any(isinstance(element, ast.Starred) for element in elements):
            raise Refused(f"`{name}` is called with unpacked arguments")
        if name in ("any", "all"):
            if not all(map(self._is_boolean, elements)):
                raise Refused(f"the elements of `{name}` are not all booleans")
            function = self.name(f"jax.numpy.logical_{'or' if name == 'any' else 'and'}")
        else:
            function = self.name(_BUILTINS[name])
        text = self.layout.argument(elements[0])
        for element in elements[1:]:
            text = f"{function}({text}, {self.layout.argument(element)})"
        return text

    def _elementwise(self, node: ast.GeneratorExp | ast.ListComp) -> str:
        """`x > 1 for x in xs` as one comparison of the array."""
        loop = node.generators[0]
        simple = len(node.generators) == 1 and not loop.ifs and not loop.is_async
        if (
            not simple
            or not isinstance(loop.target, ast.Name)
            or not isinstance(loop.iter, (ast.Name, ast.Attribute))
        ):
            raise Refused(
                "the builtin iterates over a Python sequence; stack it and use the function of jax.numpy"
            )
        test, element = node.elt, loop.target.id
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _SIGNS):
            raise Refused("only a comparison of the elements works for the whole array")
        sides = [test.left, test.comparators[0]]
        mine = [isinstance(side, ast.Name) and side.id == element for side in sides]
        other = sides[mine.index(False)] if False in mine else None
        if mine.count(True) != 1 or not isinstance(
            other, (ast.Name, ast.Constant, ast.Attribute, ast.UnaryOp)
        ):
            raise Refused("only a comparison of the elements with one value works for the whole array")
        array = f"{self.name('jax.numpy.asarray')}({self.layout.argument(loop.iter)})"
        left, right = (
            array if own else self.layout.argument(side) for own, side in zip(mine, sides, strict=True)
        )
        return f"{left} {_SIGNS[type(test.ops[0])]} {right}"


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def _guards(node: ast.expr) -> bool:
    """Whether `node` tests something that later operands may rely on."""
    part = static_part(node)
    return part is not None and not (isinstance(part, ast.Compare) and any(map(is_static, part.comparators)))
