"""The host statements of a loop: they fetch numbers, count, and store results in lists of their own.

Such statements may run after all iterations are computed: no computation on arrays depends on them, and they
change only variables and lists that this function created for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.codemods.loops.host_fetches import fetched_by
from jaxlint.codemods.loops.result_containers import ResultContainers, appended_to, bound_in, names_in
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, NONE, NUMBER, NUMPY, TEXT, Place, Value
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

_BUILTINS = frozenset({"float", "int", "bool"})
_METHODS = frozenset({"item", "tolist"})
_TO_NUMPY = frozenset({"numpy.asarray", "numpy.array"})
_QUIET = frozenset(
    {"float", "int", "bool", "str", "len", "abs", "round", "min", "max", "sum", "repr", "chr", "ord"}
)
_PLAIN = frozenset({NUMBER, TEXT, NONE})


@dataclass(slots=True)
class Output:
    """A value of one iteration that the host uses. `value`: the fetched value; `call`: the fetching call;
    `variable`: the variable that holds the number, as in `n = int(x)`; `kept`: the host reads a variable of
    the step as an array; `stacked`: the host only uses it to build a NumPy array of all rows.
    """

    value: ast.expr
    call: ast.expr
    variable: str = ""
    kept: bool = False
    stacked: bool = False
    name: str = ""  # in the function where the host reads it
    row: str = ""  # where the host reads it

    def is_one_of(self, kept: set[str]) -> bool:
        """Whether it fetches a variable that the host has as an array in any case."""
        fetches = isinstance(self.value, ast.Name) and not self.kept and not self.variable
        return fetches and self.value.id in kept  # type: ignore[attr-defined]


@dataclass(slots=True)
class HostPart:
    """The divided body of a loop. `order`: the computing statements and the outputs, in the order of the text."""

    computing: list[ast.stmt] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)  # of the host
    order: list[ast.stmt | Output] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)  # variables that the host sets
    numbers: list[str] = field(
        default_factory=list
    )  # of these, numbers of outputs that host expressions compute with
    prints: bool = False  # prints, which a reader waits for

    def reads(self, name: str) -> int:
        """The number of times that the host reads a variable, apart from expressions that become outputs."""
        computed = {node for one in self.outputs if not one.name for node in ast.walk(one.value)}
        return sum(
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
            and node not in computed
            for statement in self.statements
            for node in ast.walk(statement)
        )

    @property
    def outputs(self) -> list[Output]:
        return [one for one in self.order if isinstance(one, Output)]


def host_part(
    site: Site, loop: ast.For, possible: PossibleValues, file: File, arrays: frozenset[str] = frozenset()
) -> HostPart:
    """Divides the body of a loop. Raises Refused if the host statements may not run after the rest. `arrays`:
    variables that were arrays in a run.
    """
    return _Division(site, loop, possible, file, arrays).divided()


class _Division:
    def __init__(
        self, site: Site, loop: ast.For, possible: PossibleValues, file: File, arrays: frozenset[str]
    ) -> None:
        self.site, self.loop, self.possible, self.file = site, loop, possible, file
        self.arrays = arrays
        self.scope: Scope = site.names.scope_at(loop)
        self._host: set[ast.stmt] = set()
        self.keepers = ResultContainers(site, loop, file, self._kinds)

    def divided(self) -> HostPart:
        part = HostPart()
        host = self._host = self._of_host()
        computed = {name for one in self.loop.body if one not in host for name in bound_in(one)}
        for statement in self.loop.body:
            if statement in host:
                part.statements.append(statement)
                part.bound |= bound_in(statement)
                part.order += self._outputs(statement)
                part.order += self._arrays_kept(statement, computed, part)
                part.prints = part.prints or any(map(self._prints, ast.walk(statement)))
            else:
                part.computing.append(statement)
                part.order.append(statement)
        kept = {one.name for one in part.outputs if one.name}
        part.order = [one for one in part.order if not (isinstance(one, Output) and one.is_one_of(kept))]
        for one in part.outputs:
            if one.name:
                one.stacked = all(map(self.keepers.is_for_numpy, self._reads(one.name, part)))
        part.numbers = [one.variable for one in part.outputs if one.variable]
        self._check(part)
        return part

    def _of_host(self) -> set[ast.stmt]:
        """Statements that fetch, count or store, and those that read the results of these, apart from numbers of outputs."""
        host: set[ast.stmt] = set()
        names: set[str] = set()
        while True:
            more = {one for one in self.loop.body if one not in host and self._is_of_host(one, names)}
            if not more:
                return host
            host |= more
            for one in more:
                if self._number_of(one) is None:
                    names |= bound_in(one)

    def _is_of_host(self, statement: ast.stmt, names: set[str]) -> bool:
        if isinstance(statement, ast.Expr):
            return True
        if isinstance(statement, ast.If):
            return all(self._is_of_host(one, names) for one in (*statement.body, *statement.orelse))
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            return False
        if any(self._fetched(node) is not None for node in ast.walk(statement)) or names & _read(statement):
            return True
        if self.keepers.buffer_of(statement) is not None:
            return True
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(one, ast.Name) and self._is_plain(one) for one in targets)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is always a number or a string."""
        kinds = self._kinds(node)
        return bool(kinds) and kinds <= _PLAIN

    def _kinds(self, node: ast.expr) -> frozenset[Value]:
        """The possible kinds of an expression; for a variable, of all its assigned values."""
        node = self.file.same(node)
        if isinstance(node, ast.Name):
            home = self.file.names.scope_at(node).resolve(node.id)
            if home is not None:
                return self.possible.of_place(Place(self.file, home, node.id))
        return self.possible.of(node, self.file)

    def _fetched(self, node: ast.AST) -> ast.expr | None:
        """The value that a call fetches from the device."""
        value = fetched_by(self.site.names, node, _BUILTINS, _TO_NUMPY, _METHODS)
        if value is None or isinstance(value, ast.Constant):
            return None
        kinds = self._kinds(value)
        return None if kinds and kinds <= {*_PLAIN, NUMPY} else value

    def _number_of(self, statement: ast.stmt) -> ast.Call | None:
        """The call in `n = int(x)`, if nothing else assigns `n` in the loop."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target, call = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or self._fetched(call) is None:
            return None
        is_int = self.site.names.builtin(call.func) == "int"
        once = sum(target.id in bound_in(one) for one in self.loop.body) == 1
        return call if is_int and once else None

    def _outputs(self, statement: ast.stmt) -> Iterator[Output]:
        if (added := self._array_added(statement)) is not None:
            yield Output(added, added, kept=True, stacked=self.keepers.is_for_numpy(added))
            return
        number = self._number_of(statement)
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
                raise Refused("a comprehension or lambda on the host would run later")
            value = self._fetched(node)
            if value is None:
                waiting += ast.iter_child_nodes(node)
                continue
            assert isinstance(node, ast.Call)
            if isinstance(statement, ast.If) and any(isinstance(one, ast.Call) for one in ast.walk(value)):
                raise Refused("the host reads a value in some steps only, and every step would compute it")
            target = statement.targets[0] if node is number and isinstance(statement, ast.Assign) else None
            yield Output(value, node, target.id if isinstance(target, ast.Name) else "")

    def _array_added(self, statement: ast.stmt) -> ast.expr | None:
        """The array that is computed in the storing statement itself, as in `energies.append(energy(state))`
        or `energies[i] = energy(state)`.
        """
        call = statement.value if isinstance(statement, ast.Expr) else None
        if self.keepers.buffer_of(statement) is not None:
            value = statement.value  # type: ignore[attr-defined]
        elif appended_to(call) is None or not isinstance(call, ast.Call) or len(call.args) != 1:
            return None
        else:
            value = call.args[0]
        if isinstance(value, ast.Name) or any(self._fetched(node) is not None for node in ast.walk(value)):
            return None
        return value if self._kinds(value) == {ARRAY} else None

    def _arrays_kept(self, statement: ast.stmt, computed: set[str], part: HostPart) -> Iterator[Output]:
        """The variables of the step that the host reads as arrays: it prints them, or appends them to a list."""
        fetched = {node for one in part.outputs for node in ast.walk(one.value)}
        for node in ast.walk(statement):
            if not isinstance(node, ast.Name) or node.id not in computed or node in fetched:
                continue
            if not isinstance(node.ctx, ast.Load) or any(
                one.kept and one.name == node.id for one in part.outputs
            ):
                continue
            yield Output(node, node, name=node.id, kept=True)

    def _reads(self, name: str, part: HostPart) -> list[ast.Name]:
        """The places where the host reads a variable, apart from expressions that become outputs."""
        computed = {node for one in part.outputs if not one.name for node in ast.walk(one.value)}
        reads = [one for one in ast.walk(self.loop) if isinstance(one, ast.Name) and one.id == name]
        return [one for one in reads if one not in computed and self._of_the_host(one)]

    def _of_the_host(self, read: ast.Name) -> bool:
        """Whether a host statement reads a variable."""
        around = {read, *self.site.names.ancestors(read)}
        return isinstance(read.ctx, ast.Load) and any(one in around for one in self._host)

    # What the host does

    def _check(self, part: HostPart) -> None:
        """Raises Refused if a host statement does more than count and store, or needs more than it fetches."""
        computed = {name for one in part.computing for name in bound_in(one)}
        fetched = [one.value for one in part.outputs if not one.name]
        inside = {node for value in fetched for node in ast.walk(value)}
        inside |= self._reads_of_kept(part)
        counted = part.bound - set(part.numbers)
        for name in computed & part.bound:
            raise Refused(f"`{name}` is assigned both in the step and on the host")
        for statement in part.computing:
            if found := sorted(_read(statement) & counted):
                raise Refused(
                    f"`{found[0]}` is a Python number that the host changes, and the next step computes with it"
                )
        for value in fetched:
            if found := sorted(names_in(value) & counted):
                raise Refused(
                    f"`{found[0]}` is a Python number that the host changes, and a value that it reads depends on it"
                )
        for name in part.numbers:  # a JAX array in computations, a Python number where the host reads it
            self._check_order(part, name)
        for statement in part.statements:
            self._check_statement(statement, inside, computed)

    def _reads_of_kept(self, part: HostPart) -> set[ast.AST]:
        """The places where the host reads arrays. Raises Refused if these may not be arrays, or differ from
        those at the end of the step.
        """
        kept = {one.name for one in part.outputs if one.name}
        last = {name: one for one in part.computing for name in bound_in(one)}
        reads: set[ast.AST] = set()
        for statement in part.statements:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Name) or node.id not in kept:
                    continue
                if self.loop.body.index(statement) < self.loop.body.index(last[node.id]):
                    raise Refused(f"the host reads `{node.id}` before the step computes it")
                reads.add(node)
        for name in kept:
            if sum(name in bound_in(one) for one in part.computing) != 1:
                raise Refused(f"`{name}` is assigned twice in the step")
            if not self._shows_that_it_is_an_array(name, part):
                raise Refused(
                    f"`{name}` is kept on the host and may not be an array; convert it with `float` or `int`"
                )
        return reads

    def _shows_that_it_is_an_array(self, name: str, part: HostPart) -> bool:
        """Whether a variable is certainly an array, or is printed or stacked, so that a run shows its kind."""
        reads = [
            node
            for statement in part.statements
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
        if name in self.arrays or self._kinds(reads[0]) == {ARRAY}:
            return True
        around = (above for node in reads for above in self.site.names.ancestors(node))
        return any(self._prints(above) for above in around) or any(map(self.keepers.is_stacked, reads))

    def _prints(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.site.names.builtin(node.func) == "print"

    def _check_order(self, part: HostPart, name: str) -> None:
        """Raises Refused if the host reads a number before it is fetched, so that it is the number of the previous step."""
        for statement in part.statements:
            if name in bound_in(statement):
                return
            if name in names_in(statement):
                raise Refused(f"`{name}` of the previous step is read on the host")

    def _check_statement(self, statement: ast.stmt, inside: set[ast.AST], computed: set[str]) -> None:
        value: ast.expr | None
        if isinstance(statement, ast.If):
            for one in (*statement.body, *statement.orelse):
                self._check_statement(one, inside, computed)
            value = statement.test
        elif isinstance(statement, ast.Expr):
            value = self._kept(statement.value)
        else:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
            buffer = self.keepers.buffer_of(statement)
            if buffer is not None and isinstance(statement, ast.Assign):
                self.keepers.check_buffer(buffer, statement, computed)
            elif not all(isinstance(one, ast.Name) for one in targets):
                raise Refused("the host stores into an object or a container")
            if isinstance(statement, ast.AugAssign) and not self._is_plain(statement.target):
                raise Refused(f"`{ast.unparse(statement.target)}` may be changed in place")
            value = statement.value  # type: ignore[attr-defined]
        for node in ast.walk(value) if value is not None else ():
            if node in inside:
                continue
            if isinstance(node, ast.Name) and node.id in computed:
                raise Refused(
                    f"`{node.id}` is kept on the host as an array; convert it with `float` or `int`"
                )
            if isinstance(node, ast.Call) and self._fetched(node) is None and not self._is_quiet(node):
                raise Refused(f"`{ast.unparse(node.func)}` may do more than compute a number")
            if isinstance(node, ast.Attribute) and not isinstance(
                self.site.names.parents.get(node), ast.Call
            ):
                if self.site.names.qualified(node) is None and not self._is_out_of_sight(node, computed):
                    raise Refused("the host reads an attribute, and that may run code")

    def _is_out_of_sight(self, node: ast.Attribute, computed: set[str]) -> bool:
        """Whether the code behind an attribute cannot read variables of the loop: these are local, and the
        object is not one of them.
        """
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        local = self.scope.node is not self.site.names.tree
        return local and isinstance(root, ast.Name) and root.id not in computed

    def _kept(self, node: ast.expr) -> ast.expr:
        """The value that a statement appends to a list. Raises Refused for any other statement."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            if (
                not node.keywords
                and len(node.args) == 1
                and self.keepers.is_list_of_the_function(node.func.value)
            ):
                return node.args[0]
        if isinstance(node, ast.Call) and self._prints(node):
            if any(isinstance(one, ast.Starred) for one in node.args) or any(
                not isinstance(one.value, ast.Constant) for one in node.keywords
            ):
                raise Refused(
                    "`print` unpacks values, or has an option that is not a constant, such as `file`"
                )
            return ast.Tuple(node.args, ast.Load())
        raise Refused("the host does more than count and append numbers to lists")

    def _is_quiet(self, call: ast.Call) -> bool:
        if self.site.names.builtin(call.func) in _QUIET:
            return True
        name = self.site.names.qualified(call.func) or ""
        return name.startswith(("numpy.", "math.")) and not name.startswith(
            ("numpy.random.", "numpy.load", "numpy.save")
        )


def _read(statement: ast.stmt) -> set[str]:
    target = (
        {statement.target.id}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
        else set()
    )
    return names_in(statement) | target
