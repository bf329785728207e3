"""What the host does within a region, and where its last statement fetches what the region computes.

`model, loss = step(model, x[idx])` of NumPy's `x` leaves the row to the host, and hands it to the jitted function. So does
`grad_fn(params, args.weight_decay)` with the number that an object of the host holds. In `total += float(jnp.sum(grads))` after a region the sum belongs to it, and the host fetches the result.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from jaxlint.codemods.compilation.region import FILTER_JIT, Region
from jaxlint.codemods.compilation.region_attributes import object_of
from jaxlint.codemods.compilation.region_growth import growing_in, is_row
from jaxlint.codemods.compilation.region_statements import NNX
from jaxlint.codemods.compilation.region_text import HostParts
from jaxlint.codemods.compilation.region_values import hold_arrays, is_field
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.effects import Effects
from jaxlint.codemods.purity.expressions import OPTIONS
from jaxlint.codemods.purity.filled_attributes import FilledAttributes
from jaxlint.codemods.purity.host_numbers import HostNumbers
from jaxlint.codemods.purity.known_functions import GRADIENTS
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Region as Searched
from jaxlint.codemods.purity.program import File, parameters
from jaxlint.codemods.purity.traced_before import is_jitted
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMBER,
    NUMPY,
    Ext,
    Fn,
    Inst,
    Method,
    Value,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.layout import fresh_name
from jaxlint.codemods.source.site import Site, place_of

_ASSIGNING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)
_OTHER_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEPTH = 3
_JIT = frozenset({"jax.jit"})
_SAME_PARAMETERS = frozenset({"jax.jit", "equinox.filter_jit", "jax.vmap", *GRADIENTS})


def acts(node: ast.AST, possible: PossibleValues, file: File) -> bool:
    """Whether evaluating an expression may do more than compute a value."""
    own = file.same(node)
    return any(True for _ in Effects(possible, Searched(own, frozenset())).of_nodes([own], file))


def computed_by_host(region: Region, possible: PossibleValues, file: File) -> HostParts:
    """What the host may compute before a region: numbers of Python and arrays of NumPy, of what the region does not set."""
    site = region.site
    parts = list(ast.walk(region.scope.node))
    taken = {part.id for part in parts if isinstance(part, ast.Name)}
    taken |= {part.arg for part in parts if isinstance(part, ast.arg)}
    found = HostParts()
    by_text: dict[str, str] = {}
    for node in _Search(region, possible, file).largest():
        text = site.text(node)
        if text not in by_text:
            wanted = _parameter_for(node, possible, file) or _name_of(node)
            by_text[text] = node.id if isinstance(node, ast.Name) else fresh_name(taken, wanted)
        found.names[node] = by_text[text]
        if NUMBER in leaves_of(possible.of(file.same(node), file)):
            found.numbers.append(node)
    return found


class _Search:
    """Finds what the host may compute before a region. `bound`, `stored`: the variables and attributes that the region sets."""

    def __init__(self, region: Region, possible: PossibleValues, file: File) -> None:
        self.region, self.possible, self.file = region, possible, file
        parts = [part for one in region.nodes for part in ast.walk(one)]
        self.stored = {
            one.attr for one in parts if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        }
        self.bound = set(region.variables()[0])
        self.growing = growing_in(region.loops())
        self.acting: list[ast.expr] = []  # what does more than compute a value

    def largest(self) -> list[ast.expr]:
        """The largest such expressions that the region always evaluates, and before it sets what an exception would leave set."""
        found: list[ast.expr] = []
        around = self.region.site.names.ancestors(self.region.first)
        guarded = any(isinstance(one, ast.Try | ast.With) for one in around)
        for number, one in enumerate(self.region.nodes):
            if number and guarded:
                break
            head = one.value if isinstance(one, _ASSIGNING) else one
            waiting = [head] if isinstance(head, ast.expr) else []
            while waiting:
                node = waiting.pop()
                if self._is_of_host(node) and _fits(node, self.region.site, self.possible, self.file):
                    if not acts(node, self.possible, self.file):
                        found.append(node)
                    elif not number:
                        self.acting.append(node)
                else:
                    waiting += _always_evaluated(node)
            inside = {part for each in found for part in ast.walk(each)}
            others = [part for part in ast.walk(one) if isinstance(part, ast.Attribute)]
            found += [part for part in others if part not in inside and self._is_always_there(part)]
            if any(
                isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in ast.walk(one)
            ):
                break
        if len(self.acting) == 1 and self._comes_first(self.acting[0]):
            found += self.acting
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    def _comes_first(self, node: ast.expr) -> bool:
        """Whether an expression that draws numbers, or does something else, is evaluated before all that the region computes: no more is
        read before than variables, and no attributes of a method's object after, which it may set."""
        site, statement = self.region.site, self.region.nodes[0]
        if object_of(site, self.region.scope) or not isinstance(statement, ast.stmt):
            return False
        before = list(_before(node, statement, site))
        return all(isinstance(one, ast.Name | ast.Constant) or self._is_function(one) for one in before)

    def _is_function(self, node: ast.AST | None) -> bool:
        """Whether an expression names a function of a module."""
        return isinstance(node, ast.Attribute) and bool(
            self.possible.name_of(self.file.same(node), self.file)
        )

    def _is_always_there(self, node: ast.Attribute) -> bool:
        """Whether a node reads a field of an object that is no tree, which may be read early: in a nested function, too."""
        if not isinstance(node.ctx, ast.Load):
            return False
        own = self.file.same(node)
        roots = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        homes = [self.file.names.scope_at(self.file.same(one)).resolve(one.id) for one in roots]
        scope = self.file.names.scope_at(self.file.same(self.region.first))
        if not roots or any(home is not scope for home in homes):
            return False
        return (
            not self.possible.name_of(own, self.file)
            and self._is_of_host(node)
            and _fits(node, self.region.site, self.possible, self.file)
            and is_field(node.attr, self.possible.of(own.value, self.file), self.possible)
        )

    def _is_of_host(self, node: ast.expr) -> bool:
        parts = list(ast.walk(node))
        names = [one for one in parts if isinstance(one, ast.Name)]
        if not isinstance(node, _COMPUTING) and not self._is_held(node) and not self._would_be_static(node):
            return False
        if any(isinstance(one, _OTHER_SCOPES) for one in parts):
            return False
        if node.lineno != node.end_lineno or {one.id for one in names} & self.bound:
            return False
        if not any(self._varies(one) for one in names):
            return False  # a constant of the program
        if self.region.transform == NNX and not all(map(self._is_plain, names)):
            return False  # its modules change without an assignment
        if is_row(node, self.growing):
            return not acts(node, self.possible, self.file)
        values = leaves_of(self.possible.of(self.file.same(node), self.file))
        held = isinstance(node, ast.Attribute) and hold_arrays(values)
        drawn = values == {ARRAY} and isinstance(node, ast.Call) and acts(node, self.possible, self.file)
        return (
            bool(values)
            and (held or drawn or values <= {NUMBER, NUMPY})
            and not self._reads(node, self.file, 0)
        )

    def _is_held(self, node: ast.expr) -> bool:
        """Whether a value is read from an object of the host: options of the command line, or an object of the program that is no
        part of a tree of arrays."""
        if not isinstance(node, ast.Attribute):
            return False
        if isinstance(node.value, ast.Name) and node.value.id == object_of(
            self.region.site, self.region.scope
        ):
            return False  # `region_attributes` hands it in
        values = self.possible.of(self.file.same(node.value), self.file)
        return bool(values) and all(
            value == OPTIONS or (isinstance(value, Inst) and not self.possible.external_bases(value.cls))
            for value in values
        )

    def _would_be_static(self, node: ast.expr) -> bool:
        """Whether it is a number in a variable, for each of which equinox would compile again."""
        return self.region.transform == FILTER_JIT and isinstance(node, ast.Name)

    def _varies(self, name: ast.Name) -> bool:
        """Whether a variable may differ from call to call: of a script, one that the loop sets."""
        home = self.file.names.scope_at(self.file.same(name)).resolve(name.id)
        if home is None or home is not self.file.names.module:
            return home is not None
        if self.region.scope is not self.region.site.names.module:
            return False
        loops = [self.file.same(one) for one in self.region.loops()[-1:]]
        inside = {part for one in loops for part in ast.walk(one)}
        return any(one.node in inside for one in home.bindings.get(name.id, ()))

    def _is_plain(self, name: ast.Name) -> bool:
        values = leaves_of(self.possible.of(self.file.same(name), self.file))
        return bool(values) and all(one in (NUMBER, NUMPY) or isinstance(one, Ext) for one in values)

    def _reads(self, node: ast.AST, file: File, depth: int) -> bool:
        """Whether an expression, or a function that it calls, may read what the region sets, or rebind variables."""
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and one.attr in self.stored:
                return True
            if depth and isinstance(one, ast.Name) and one.id in self.bound:
                return True
            if isinstance(one, ast.Global | ast.Nonlocal):
                return True  # it may set a variable that the region is given
            if isinstance(one, ast.Call):
                for called in self.possible.of(file.same(one.func), file):
                    if isinstance(called, Fn):
                        if depth == _DEPTH or self._reads(called.node, called.file, depth + 1):
                            return True
                    elif not isinstance(called, Ext | Method):
                        return True
        return False


def _fits(node: ast.expr, site: Site, possible: PossibleValues, file: File) -> bool:
    """Whether JAX takes its value as an argument wherever it takes it now: compiled code has no integers of more than 32 bits, and arithmetic
    with an array raises for them, too."""
    if NUMBER not in leaves_of(possible.of(file.same(node), file)):
        return True
    above = site.names.parents.get(node)
    return (
        isinstance(above, ast.BinOp)
        or _is_real(node, possible, file)
        or HostNumbers(possible, Traced(possible)).number(file.same(node), file).fits
        or _is_traced_already(node, above, possible, file)
    )


def _is_traced_already(node: ast.expr, above: ast.AST | None, possible: PossibleValues, file: File) -> bool:
    """Whether a value is an argument of functions that `jax.jit` compiles with no static arguments: they take it as they do now."""
    if not isinstance(above, ast.Call) or node is above.func:
        return False
    called = possible.of(file.same(above.func), file)
    return bool(called) and all(
        is_jitted(one, possible, _JIT) and not _has_static(one, possible) for one in called
    )


def _has_static(jitted: Value, possible: PossibleValues) -> bool:
    """Whether a jitted function may have static arguments, or arguments that are bound already."""
    if isinstance(jitted, Fn):
        return any(
            _is_set_up(one) for one in getattr(jitted.node, "decorator_list", ()) if isinstance(one, ast.Call)
        )
    if not isinstance(jitted, Wrapped) or jitted.given:
        return True
    makers = [
        call for where, call in possible.program.calls.get("jit", ()) if jitted in possible.of(call, where)
    ]
    return not makers or any(map(_is_set_up, makers))


def _is_set_up(call: ast.Call) -> bool:
    return any(one.arg is None or one.arg.startswith("static") for one in call.keywords)


def _is_real(node: ast.expr, possible: PossibleValues, file: File, depth: int = 0) -> bool:
    """Whether a number is visibly no integer."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) or any(
            _is_real(one, possible, file, depth) for one in (node.left, node.right)
        )
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_real(node.operand, possible, file, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        of_all = node.func.id in ("min", "max") and len(node.args) > 1
        return node.func.id == "float" or (
            of_all and all(_is_real(one, possible, file, depth) for one in node.args)
        )
    if isinstance(node, ast.Name) and depth < _DEPTH:
        scope = file.names.scope_at(file.same(node)).resolve(node.id)
        given = [file.names.parents.get(one.node) for one in scope.bindings.get(node.id, ())] if scope else []
        return bool(given) and all(
            isinstance(one, ast.Assign) and _is_real(one.value, possible, file, depth + 1) for one in given
        )
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and depth < _DEPTH:
        return _holds_reals(file.same(node.value), possible, file, depth + 1)
    return False


def _holds_reals(attribute: ast.Attribute, possible: PossibleValues, file: File, depth: int) -> bool:
    """Whether an attribute is a list or tuple of visible numbers, none of them an integer, that nothing fills later."""
    holders = possible.classes.holders
    objects = holders.of(attribute.value, file)
    stores = list(holders.stores(attribute.attr, objects))
    given = [(other.names.parents.get(store), other) for other, store in stores]
    return (
        bool(given)
        and all(
            isinstance(one, ast.Assign) and _are_reals(one.value, possible, other, depth)
            for one, other in given
        )
        and not FilledAttributes(possible).may_be_filled(attribute.attr, objects)
    )


def _are_reals(node: ast.expr, possible: PossibleValues, file: File, depth: int) -> bool:
    if isinstance(node, ast.ListComp):
        return _is_real(node.elt, possible, file, depth)
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return bool(items) and all(_is_real(one, possible, file, depth) for one in items)


def _always_evaluated(node: ast.expr) -> list[ast.expr]:
    """The operands that are evaluated whenever an expression is."""
    if isinstance(node, _OTHER_SCOPES):
        return []
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.IfExp):
        return [node.test]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators[:1]]
    if isinstance(node, ast.Call):
        return [node.func, *node.args, *(one.value for one in node.keywords)]
    return [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]


def fetched_after(
    site: Site, last: ast.stmt, place: Sequence[int], possible: PossibleValues, file: File
) -> ast.expr | None:
    """The expression at a place (lines and columns of `ast`) of the statement after `last`, if that evaluates it always, and before it does
    anything else."""
    following = next_to(site, last)
    if following is None:
        return None
    for node in ast.walk(following):
        if isinstance(node, ast.expr) and place_of(node) == list(place) and node.lineno == node.end_lineno:
            first = list(_before(node, following, site))
            if None not in first and not any(acts(one, possible, file) for one in first if one is not None):
                return node
    return None


def next_to(site: Site, statement: ast.stmt) -> ast.stmt | None:
    """The statement after another one in its block, in the tree of `site`."""
    place = statement.lineno, statement.col_offset
    for above in ast.walk(site.tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            for one, following in itertools.pairwise(block if isinstance(block, list) else ()):
                if (one.lineno, one.col_offset) == place and isinstance(following, ast.stmt):
                    return following
    return None


def _before(node: ast.expr, statement: ast.stmt, site: Site) -> Iterator[ast.AST | None]:
    """What a statement evaluates before one of its expressions; None where it may not evaluate that at all."""
    inner: ast.AST = node
    while inner is not statement:
        above = site.names.parents.get(inner)
        if isinstance(above, ast.keyword):
            inner, above = above, site.names.parents.get(above)
        if isinstance(above, ast.stmt):
            head = above.test if isinstance(above, ast.If) else getattr(above, "value", None)
            if (
                above is not statement
                or head is not inner
                or not isinstance(above, (*_ASSIGNING, ast.Expr, ast.If))
            ):
                yield None
            if isinstance(above, ast.AugAssign):
                yield _read_by(above.target, site)
            return
        operands: list[ast.AST] = []
        if isinstance(above, ast.Call):
            operands = [above.func, *above.args, *above.keywords]
        elif isinstance(above, ast.expr) and not isinstance(above, ast.Dict):
            operands = list(_always_evaluated(above))
        if inner not in operands:
            yield None
            return
        yield from operands[: operands.index(inner)]
        assert above is not None
        inner = above


def _read_by(target: ast.expr, site: Site) -> ast.AST | None:
    """What `+=` evaluates of its target; None if that may be a property."""
    if not isinstance(target, ast.Attribute):
        return target
    named = {one.name for one in ast.walk(site.tree) if isinstance(one, ast.FunctionDef)}
    return None if target.attr in named else target.value


def _parameter_for(node: ast.expr, possible: PossibleValues, file: File) -> str:
    """The parameter of the program's function that takes a value; "" if it is no argument of one."""
    above = file.names.parents.get(file.same(node))
    if isinstance(above, ast.keyword):
        return above.arg or ""
    if not isinstance(above, ast.Call) or any(isinstance(one, ast.Starred) for one in above.args):
        return ""
    place = above.args.index(file.same(node)) if file.same(node) in above.args else None
    called = possible.of(above.func, file)
    for _ in range(_DEPTH):
        outer = [one for one in called if isinstance(one, Wrapped)]
        if len(called) == 1 and outer and outer[0].how in _SAME_PARAMETERS and not outer[0].given:
            called = outer[0].inner
    functions = [one for one in called if isinstance(one, Fn)]
    if place is None or len(functions) != 1 or len(called) != 1:
        return ""
    names = [one.arg for one in parameters(functions[0].node)]
    return names[place] if place < len(names) and names[0] not in ("self", "cls") else ""


def _name_of(node: ast.expr) -> str:
    """What to call a value that the host computes."""
    if isinstance(node, ast.Attribute):
        return node.attr.lstrip("_") or "number"
    root: ast.expr = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Subscript):
        root = node.value
    last = root.id if isinstance(root, ast.Name) else root.attr if isinstance(root, ast.Attribute) else ""
    if not last:
        return "number"
    if last.isupper():
        return f"{last.lower()}_item"  # of a table of the module
    return f"{last}_rows" if isinstance(node, ast.Subscript) else f"{last}_value"
