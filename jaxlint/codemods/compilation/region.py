"""Adjacent statements of one block that become one jitted function: what it reads, and what it hands out."""

from __future__ import annotations

import ast
import functools
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.compilation.object_copies import attributes_of_copy
from jaxlint.codemods.compilation.outline import line_above, line_with_comments, missing_lines
from jaxlint.codemods.compilation.region_attributes import (
    OwnAttributes,
    is_equinox_tree,
    kept_as_static,
    object_of,
    own_attributes,
)
from jaxlint.codemods.compilation.region_growth import growing_in
from jaxlint.codemods.compilation.region_statements import (
    NNX,
    binds_names,
    may_hold,
    name_of_value,
    runs_often,
    statements_at,
    stores_attributes,
    targets_of,
)
from jaxlint.codemods.compilation.region_text import HostParts
from jaxlint.codemods.compilation.region_values import (
    computes_more_than_a_call,
    is_kept,
    is_of_numpy,
    only_unknown,
    uses_haiku_layers,
)
from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import (
    NONE,
    NUMBER,
    TEXT,
    TYPE,
    Inst,
    Place,
    Value,
    leaves_of,
)
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.name_scopes import Names, Scope
from jaxlint.codemods.source.site import Refused, Site, place_of
from jaxlint.codemods.source.statement_regions import first_line
from jaxlint.finding import Span

FILTER_JIT = "equinox.filter_jit"
_LOOPS = (ast.For, ast.While)
_MOVES = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_LARGE = 2.0**24  # float32 has all integers below it
_UPDATES = frozenset({"apply_updates", "apply_gradients", "incremental_update"})


@dataclass(slots=True)
class Region:
    """Adjacent statements of one block. `parameters`, `results`: names, once they are classified."""

    site: Site
    scope: Scope
    statements: Sequence[ast.stmt]
    flow: Flow
    transform: str
    parameters: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # variables of enclosing functions that it reads unchanged
    own: OwnAttributes | None = None
    expression: ast.expr | None = None  # if it is not a statement
    given: set[str] = field(default_factory=set)  # variables that its function is given besides `parameters`
    is_method: bool = False  # whether its function is a method
    object_is_tree: bool = False  # and its object an argument like others: a module of equinox
    is_called_often: bool = False  # the function around it: nothing in there is compiled once
    prefers_method: bool = False  # over a function in the enclosing one, which each call of that one compiles
    ending: ast.expr | None = None  # what it returns, if it ends its function
    fetched: ast.expr | None = None  # what it computes of the statement after it
    from_host: HostParts = field(default_factory=HostParts)  # what the host computes for it
    copies_object: bool = False  # whether its function works on a copy of the method's object
    behind: Sequence[ast.stmt] = ()  # statements of the host between its own, which then follow it
    ahead: Sequence[ast.stmt] = ()  # and those that then come before it

    @classmethod
    def at(
        cls,
        site: Site,
        span: Span,
        transform: str,
        *,
        wide: bool = False,
        behind: Sequence[Sequence[int]] = (),
        ahead: Sequence[Sequence[int]] = (),
        lengths: Mapping[str, object] | None = None,
    ) -> Region:
        """The statements at a span, without those at the places `behind` and `ahead`. Raises Refused if there are none, or one of them
        does more than bind variables. `lengths`: how often loops ran, by what they run over."""
        statements = statements_at(site, span)
        if not statements:
            return cls._of_expression(site, span, transform)
        after, before = (
            [one for one in statements if place_of(one) in [list(place) for place in places]]
            for places in (behind, ahead)
        )
        if {statements[0], statements[-1]} & {*after, *before}:
            raise Refused("a statement of the host begins or ends it")
        statements = [one for one in statements if one not in after and one not in before]
        scope = site.names.scope_at(statements[0])
        if scope.is_class:
            raise Refused("the body of a class cannot be compiled")
        for statement in statements:
            if any(isinstance(part, ast.Global | ast.Nonlocal) for part in ast.walk(statement)):
                raise Refused("it has a `global` or `nonlocal` statement")
            if any(isinstance(part, _MOVES) for part in ast.walk(statement)):
                raise Refused("it assigns inside an expression, awaits or yields")
            if not may_hold(statement, transform, wide=wide) or (
                isinstance(statement, ast.AnnAssign) and statement.value is None
            ):
                raise Refused("it does more than assign variables")
            if not all(binds_names(target, object_of(site, scope)) for target in targets_of(statement)):
                raise Refused("it stores into an object or a container")
        if why := runs_often(statements, lengths or {}):
            raise Refused(why)
        found = cls(site, scope, statements, Flow(site.names, scope), transform, behind=after, ahead=before)
        last = statements[-1]
        if isinstance(last, ast.Return):
            if last not in getattr(scope.node, "body", ()) or isinstance(last.value, ast.Tuple):
                raise Refused("it returns inside a block, or returns several values")
            found.ending = last.value
        return found

    @classmethod
    def _of_expression(cls, site: Site, span: Span, transform: str) -> Region:
        """The expression at a span, whose value a host statement uses."""
        node = site.find_ast(span, ast.expr)
        assert isinstance(node, ast.expr)
        statement = next(one for one in site.names.ancestors(node) if isinstance(one, ast.stmt))
        scope = site.names.scope_at(node)
        if scope.is_class or scope is not site.names.scope_at(statement):
            raise Refused("it belongs to a class, a comprehension or a nested function")
        if any(isinstance(part, _MOVES) for part in ast.walk(node)):
            raise Refused("it assigns inside an expression, awaits or yields")
        if span.line != span.end_line and not isinstance(node, ast.Call):
            raise Refused("it spans several lines")
        return cls(site, scope, [statement], Flow(site.names, scope), transform, expression=node)

    @property
    def nodes(self) -> Sequence[ast.stmt | ast.expr]:
        """The nodes that move into the function."""
        if self.fetched is not None:
            return [*self.statements, self.fetched]
        return self.moved

    @property
    def moved(self) -> Sequence[ast.stmt | ast.expr]:
        """The statements, or the expression, whose text is replaced by the call."""
        return self.statements if self.expression is None else [self.expression]

    @property
    def first(self) -> ast.stmt:
        return self.statements[0]

    def loops(self) -> list[ast.stmt]:
        """The loops around it in its function, the innermost first."""
        around = self.site.names.ancestors_below(self.first, self.scope.node)
        return [one for one in around if isinstance(one, _LOOPS)]

    def variables(self) -> tuple[list[str], set[str]]:
        """The variables that it binds, and those that it may read before it binds them."""
        if self.expression is not None:
            return [], self.flow.reads(self.expression)
        bound, exposed = (
            list(self.flow.bound(self.statements)),
            self.flow.sequence(list(self.statements)).exposed,
        )
        if self.fetched is not None:
            loops = [one for one in self.statements if isinstance(one, ast.For)]
            exposed = exposed | (self.flow.reads(self.fetched) - (set(bound) - set(self.flow.bound(loops))))
        return bound, exposed

    def divide(self, possible: PossibleValues, file: File) -> None:
        """Classifies each variable as parameter, result or closed over. Raises Refused."""
        left = {part for node in self.from_host.names for part in ast.walk(node)}
        own = {part for node in self.nodes for part in ast.walk(node)} - left
        bound, exposed = self.variables()
        read = [name for name in self._in_order(own) if name in exposed]
        carried = [name for name in read if name in bound]
        shown = {
            part.id for one in self.behind for part in ast.walk(one) if isinstance(part, ast.Name)
        }  # to the host, between its statements
        stored = {
            node.id for node in own if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        for name in sorted(stored):
            if name in self.scope.redirected:
                raise Refused(f"`{name}` belongs to an outer scope")
            if name in bound and self._is_bound_elsewhere(name):
                raise Refused(f"a nested function also assigns `{name}`")
        self.results = (
            []
            if self.ending is not None
            else [
                *(name for name in carried if name in shown or self._is_read_later(name)),
                *(
                    name
                    for name in bound
                    if name not in carried
                    and (name in shown or (self._is_read_outside(name, own) and self._is_read_later(name)))
                ),
            ]
        )
        acts = (
            self.expression is not None
            or self.fetched is not None
            or any(isinstance(one, ast.Expr) or stores_attributes(one) for one in self.statements)
        )
        if not self.results and not acts and self.ending is None:
            raise Refused("nothing that it computes is used")
        for statement in self.statements:
            if isinstance(statement, ast.FunctionDef) and statement.name in self.results:
                raise Refused(
                    f"`{statement.name}` is used later, and a compiled function cannot return a function"
                )
        for node in own:
            if isinstance(node, ast.expr) and is_of_numpy(node, possible, file):
                raise Refused(f"`{self.site.text(node)}` runs in NumPy, on the host")
        if uses_haiku_layers(self.nodes, possible, file):
            raise Refused("its layers keep their parameters in the `hk.transform` around them")
        others = [name for name in read if name not in bound and name not in self.given]
        stays = functools.partial(is_kept, possible=possible)
        if self.copies_object:
            attributes = attributes_of_copy(
                self.site, self.scope, self.nodes, possible, file, stays, self.transform
            )
        else:
            attributes = own_attributes(
                self.site, self.scope, self.nodes, possible, file, stays, self.transform, left
            )
        self.own = attributes
        if attributes.me in others:
            others.remove(attributes.me)
        self.kept = [name for name in others if self.stays_around(name, possible, file)]
        self.parameters = [*carried, *(name for name in others if name not in self.kept)]
        for name in self.parameters:
            if TEXT in self.values_of(name, possible, file):
                raise Refused(f"`{name}` may be a string, which a compiled function does not take")
        for name in (one for one in growing_in(self.loops()) if one in self.parameters):
            raise Refused(
                f"`{name}` grows in the loop, so a function that takes it recompiles for each length"
            )
        if attributes.stays:
            self.kept.append(attributes.me)
        if self.transform == FILTER_JIT and self.loops():
            for name in self.parameters:
                if self.values_of(name, possible, file) == {NUMBER}:
                    raise Refused(f"`{name}` is a number, and `eqx.filter_jit` compiles again for each value")
        self.kept += self._names_of_functions_around(own)
        self.is_method = self.kept == [attributes.me] != [""] and (
            attributes.copied or self.prefers_method or not self.may_keep()
        )
        if attributes.copied and not self.is_method:
            raise Refused("it reads variables of its function that are no arrays")
        if self.is_method:
            method = file.same(self.scope.node)
            self.object_is_tree = self.transform == FILTER_JIT and is_equinox_tree(possible, method, file)
            if not self.object_is_tree and (what := kept_as_static(possible, method, file)) is not None:
                raise Refused(what)
        elif self.kept and not self.may_keep():
            raise Refused(f"`{self.kept[0]}` is not an array, so the function would recompile at each call")
        if not self.parameters and not attributes.taken and not self.from_host.names:
            raise Refused("it has no argument to trace")

    @property
    def me(self) -> str:
        """The method's name for its object; "" outside methods."""
        return self.own.me if self.own is not None else ""

    def arguments(self) -> list[ast.expr]:
        """A place at which it reads each of its arguments."""
        assert self.own is not None
        read: dict[str, ast.expr] = {
            one.attr: one for one in reversed(self.own.nodes) if one.attr in self.own.taken
        }
        for part in (part for node in self.nodes for part in ast.walk(node)):
            if isinstance(part, ast.Name) and part.id in self.parameters:
                read.setdefault(part.id, part)
        return [*read.values(), *self.from_host.names]

    def does_more(self, possible: PossibleValues, file: File) -> bool:
        """Whether it does more than call one function that may be compiled already."""
        if self.expression is not None or self.fetched is not None:
            return True
        return computes_more_than_a_call(self.statements, possible, file, self.from_host.names)

    def renewed(self) -> list[int]:
        """The positions of parameters that the region rebinds, or changes as `nnx.jit` allows."""
        assert self.own is not None
        changed = {
            part.id
            for one in self.statements
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
            for node in (one.value.func, *one.value.args[:1])
            for part in ast.walk(node)
            if isinstance(part, ast.Name)
        }
        names = [*(one in self.own.set for one in self.own.taken)]
        names += [one in self.results or one in changed for one in self.parameters]
        return [position for position, renewed in enumerate(names) if renewed]

    def _names_of_functions_around(self, own: set[ast.AST]) -> list[str]:
        """Variables of the functions around the enclosing one."""
        names = self.site.names
        found: dict[str, None] = {}
        for node in own:
            if isinstance(node, ast.Name):
                home = names.scope_at(node).resolve(node.id)
                if home not in (None, self.scope, names.module) and home.node not in own:
                    found[node.id] = None
        return list(found)

    def only_fetched(self) -> Iterator[str]:
        """Results that the code around makes a `float` of, wherever it reads them: an array is the same there as the number that a loop
        with no turn leaves."""
        names = self.site.names
        own = {part for node in self.nodes for part in ast.walk(node)}
        for name in self.results:
            uses = [use.name for use in names.uses_of(name, self.scope) if use.name not in own]
            above = [names.parents.get(one) for one in uses if isinstance(one.ctx, ast.Load)]
            numbers = [
                statement.value
                for statement in self.statements
                if isinstance(statement, ast.Assign)
                for target in statement.targets
                if isinstance(target, ast.Name) and target.id == name
            ]
            if all(map(_is_float_of, above)) and all(map(_is_exact, numbers)):
                yield name

    def may_keep(self) -> bool:
        """Whether its function may be defined in the enclosing one without being compiled again at each call of that one."""
        return self._top_of_loop() is not None and not self.is_called_often

    def _top_of_loop(self) -> ast.stmt | None:
        """The statement above which a function may stand that closes over variables of the enclosing function; None
        outside loops."""
        return self.top() if self.loops() or self.scope.node is self.site.names.tree else None

    def _is_bound_elsewhere(self, name: str) -> bool:
        """Whether a nested function of the enclosing one binds the variable."""
        return any(
            isinstance(binding.node, ast.Name) and self.site.names.scope_at(binding.node) is not self.scope
            for binding in self.scope.bindings.get(name, ())
        )

    def _is_read_outside(self, name: str, own: set[ast.AST]) -> bool:
        names: Names = self.site.names
        shown = self.scope.node is names.tree and names.is_shown(name)
        return shown or any(use.name not in own for use in names.uses_of(name, self.scope))

    def _is_read_later(self, name: str) -> bool:
        """Whether the value that the region leaves in a variable may be read."""
        shown = self.scope.node is self.site.names.tree and self.site.names.is_shown(name)
        bindings = self.scope.bindings.get(name, ())
        deleted = any(isinstance(getattr(one.node, "ctx", None), ast.Del) for one in bindings)
        return shown or deleted or self.flow.is_used_after(name, self.statements[-1], importable=False)

    def _in_order(self, own: set[ast.AST]) -> list[str]:
        reads = [node for node in own if isinstance(node, ast.Name)]
        return list(
            dict.fromkeys(one.id for one in sorted(reads, key=lambda one: (one.lineno, one.col_offset)))
        )

    def values_of(self, name: str, possible: PossibleValues, file: File) -> frozenset[Value]:
        """What a variable of the enclosing function may be."""
        home = file.names.scope_at(file.same(self.first)).resolve(name)
        return leaves_of(possible.of_place(Place(file, home, name))) if home is not None else frozenset()

    def stays_around(self, name: str, possible: PossibleValues, file: File) -> bool:
        """Whether a variable is not an array and is constant for all calls of the function, so that it is closed over."""
        values = self.values_of(name, possible, file)
        holds_none = bool(values) and all(is_kept(one, possible) for one in values)
        if not holds_none and not (values <= {NUMBER, TEXT, NONE, TYPE} and values):
            plain = bool(values) and all(
                isinstance(one, Inst) and not possible.external_bases(one.cls) - {"object", "abc.ABC"}
                for one in values
            )
            if self.transform == NNX or not only_unknown(values):
                return False
            if not self._is_only_called(name, reads=plain and self._is_made_here(name)):
                return False
        if not self._is_bound_before_place(name):
            if holds_none:
                raise Refused(f"`{name}` is not an array, and is reassigned before the function could use it")
            return False
        return True

    def _is_made_here(self, name: str) -> bool:
        """Whether a variable is no argument: another call would bring another object, and compile again."""
        return all(not isinstance(one.node, ast.arg) for one in self.scope.bindings.get(name, ()))

    def _is_only_called(self, name: str, *, reads: bool) -> bool:
        """Whether the program only calls a variable, or a method of it; `reads`: or reads its attributes."""
        names = self.site.names
        for use in names.uses_of(name, self.scope):
            above = names.parents.get(use.name)
            if isinstance(above, ast.Attribute):
                if reads and isinstance(above.ctx, ast.Load):
                    continue
                above, inner = names.parents.get(above), above
            else:
                inner = use.name  # type: ignore[assignment]
            if not (isinstance(above, ast.Call) and above.func is inner):
                return False
        return True

    def _is_bound_before_place(self, name: str) -> bool:
        """Whether a variable is bound above the function that closes over it, and nowhere after."""
        top = self._top_of_loop()
        if top is None:
            return False
        first = first_line(top)
        after = [
            one
            for one in self.scope.bindings.get(name, ())
            if not isinstance(one.node, ast.arg) and getattr(one.node, "lineno", first) >= first
        ]
        return not after and self.flow.is_bound_before(name, top)

    def top(self) -> ast.stmt | None:
        """The statement in the function's own block that contains the region."""
        around = [self.first, *self.site.names.ancestors_below(self.first, self.scope.node)]
        last = around[-1]
        return last if isinstance(last, ast.stmt) else None

    def name(self) -> str:
        """A name for the new function, as a person would choose it."""
        if self.expression is not None:
            return name_of_value(self.expression)
        called = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for statement in self.statements
            for node in ast.walk(statement)
            if isinstance(node, ast.Call)
        }
        trains = called & _UPDATES or any(isinstance(one, ast.Expr) for one in self.statements)
        return "train_step" if trains else "step"

    def name_of_fetched(self) -> str:
        """What to call the value that the next statement fetches."""
        assert self.fetched is not None
        return name_of_value(self.fetched).replace("compute", "computed", 1)

    def place(self, layout: Layout) -> tuple[str, list[str], list[str], int]:
        """The indentation of the function, the blank lines before and after it, and the line that it goes above."""
        site = self.site
        if self.is_method:
            method = self.scope.node
            assert isinstance(method, ast.stmt)
            return layout.indent(method), [], [""], line_with_comments(site, method)
        if not self.kept or self.scope.node is site.names.tree:
            before = line_above(site, self.first)
            return "", [""] * missing_lines(site, before), ["", ""], before
        top = self.top()
        assert top is not None
        before = line_with_comments(site, top)
        above = site.lines.lines[before - 2].strip() if before > 1 else ""
        return layout.indent(top), [""] if above and not above.endswith(":") else [], [""], before


def _is_float_of(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "float" and len(node.args) == 1


def _is_exact(node: ast.expr) -> bool:
    """Whether a number that is written out, or anything else, has 32 bits at most."""
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, int | float):
        return True
    return abs(value) < _LARGE and struct.unpack("f", struct.pack("f", value))[0] == value
