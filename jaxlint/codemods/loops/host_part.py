"""What the host does in a loop beside what is computed on arrays: it fetches numbers, counts, and keeps them in lists of its own.

Such statements may follow when all turns of the loop are computed: nothing that is computed depends on them, and they touch nothing but
variables and lists that this function made for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.codemods.loops.host_fetches import fetched_by
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, reaching
from jaxlint.codemods.purity.values import ARRAY, NONE, NUMBER, NUMPY, TEXT, Place, Value
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

_BUILTINS = frozenset({"float", "int", "bool"})
_METHODS = frozenset({"item", "tolist"})
_TO_NUMPY = frozenset({"numpy.asarray", "numpy.array"})
_QUIET = frozenset(
    {"float", "int", "bool", "str", "len", "abs", "round", "min", "max", "sum", "repr", "chr", "ord"}
)
_STACKS = frozenset(f"{module}.{name}" for module in ("numpy", "jax.numpy") for name in ("stack", "array", "asarray", "concatenate", "vstack"))  # fmt: skip
_BUFFERS = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "full"))
_PLAIN = frozenset({NUMBER, TEXT, NONE})


@dataclass(slots=True)
class Output:
    """What the host asks of one turn. `value`: what it fetches; `call`: how; `variable`: that it becomes the number of, as in `n = int(x)`;
    `kept`: it is a variable that the host reads as the array that it is; `stacked`: only to make an array of NumPy of all rows."""

    value: ast.expr
    call: ast.expr
    variable: str = ""
    kept: bool = False
    stacked: bool = False
    name: str = ""  # in the function
    row: str = ""  # where the host reads it

    def is_one_of(self, kept: set[str]) -> bool:
        """Whether it fetches a variable that the host has as an array anyway."""
        fetches = isinstance(self.value, ast.Name) and not self.kept and not self.variable
        return fetches and self.value.id in kept  # type: ignore[attr-defined]


@dataclass(slots=True)
class HostPart:
    """The body of a loop, divided. `order`: the statements that compute and the outputs, in the order of the text."""

    computing: list[ast.stmt] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)  # of the host
    order: list[ast.stmt | Output] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)  # variables that the host gives values
    numbers: list[str] = field(default_factory=list)  # of these, numbers of outputs that are computed with
    prints: bool = False  # it prints, which a reader waits for

    def reads(self, name: str) -> int:
        """How often the host reads a variable, besides what it asks to be computed of it."""
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
    """Divides the body of a loop. Raises Refused where the host's part may not follow the rest. `arrays`: variables that were arrays in a run."""
    return _Division(site, loop, possible, file, arrays).divided()


class _Division:
    def __init__(
        self, site: Site, loop: ast.For, possible: PossibleValues, file: File, arrays: frozenset[str]
    ) -> None:
        self.site, self.loop, self.possible, self.file = site, loop, possible, file
        self.arrays = arrays
        self.scope: Scope = site.names.scope_at(loop)
        self._host: set[ast.stmt] = set()

    def divided(self) -> HostPart:
        part = HostPart()
        host = self._host = self._of_host()
        computed = {name for one in self.loop.body if one not in host for name in _bound(one)}
        for statement in self.loop.body:
            if statement in host:
                part.statements.append(statement)
                part.bound |= _bound(statement)
                part.order += self._outputs(statement)
                part.order += self._arrays_kept(statement, computed, part)
                part.prints = part.prints or any(map(self._prints, ast.walk(statement)))
            else:
                part.computing.append(statement)
                part.order.append(statement)
        kept = {one.name for one in part.outputs if one.name}
        part.order = [one for one in part.order if not (isinstance(one, Output) and one.is_one_of(kept))]
        part.numbers = [one.variable for one in part.outputs if one.variable]
        self._check(part)
        return part

    def _of_host(self) -> set[ast.stmt]:
        """Statements that fetch, count or keep; and those that ask what these do, but for numbers that an output has."""
        host: set[ast.stmt] = set()
        names: set[str] = set()
        while True:
            more = {one for one in self.loop.body if one not in host and self._is_of_host(one, names)}
            if not more:
                return host
            host |= more
            for one in more:
                if self._number_of(one) is None:
                    names |= _bound(one)

    def _is_of_host(self, statement: ast.stmt, names: set[str]) -> bool:
        if isinstance(statement, ast.Expr):
            return True
        if isinstance(statement, ast.If):
            return all(self._is_of_host(one, names) for one in (*statement.body, *statement.orelse))
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            return False
        if any(self._fetched(node) is not None for node in ast.walk(statement)) or names & _read(statement):
            return True
        if self._buffer_of(statement) is not None:
            return True
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(one, ast.Name) and self._is_plain(one) for one in targets)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is never more than a number or a text."""
        kinds = self._kinds(node)
        return bool(kinds) and kinds <= _PLAIN

    def _kinds(self, node: ast.expr) -> frozenset[Value]:
        """What an expression may be; of a variable all that it is given."""
        node = self.file.same(node)
        if isinstance(node, ast.Name):
            home = self.file.names.scope_at(node).resolve(node.id)
            if home is not None:
                return self.possible.of_place(Place(self.file, home, node.id))
        return self.possible.of(node, self.file)

    def _fetched(self, node: ast.AST) -> ast.expr | None:
        """What a call fetches from the device."""
        value = fetched_by(self.site.names, node, _BUILTINS, _TO_NUMPY, _METHODS)
        if value is None or isinstance(value, ast.Constant):
            return None
        kinds = self._kinds(value)
        return None if kinds and kinds <= {*_PLAIN, NUMPY} else value

    def _number_of(self, statement: ast.stmt) -> ast.Call | None:
        """The call in `n = int(x)`, where nothing else gives `n` a value in the loop."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target, call = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or self._fetched(call) is None:
            return None
        is_int = self.site.names.builtin(call.func) == "int"
        once = sum(target.id in _bound(one) for one in self.loop.body) == 1
        return call if is_int and once else None

    def _outputs(self, statement: ast.stmt) -> Iterator[Output]:
        if (added := self._array_added(statement)) is not None:
            yield Output(added, added, kept=True, stacked=self._is_for_numpy(added))
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
                raise Refused("the host asks for a value in some steps only, and every step would compute it")
            target = statement.targets[0] if node is number and isinstance(statement, ast.Assign) else None
            yield Output(value, node, target.id if isinstance(target, ast.Name) else "")

    def _array_added(self, statement: ast.stmt) -> ast.expr | None:
        """The array that is computed where it is kept, as in `energies.append(energy(state))` or `energies[i] = energy(state)`."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if self._buffer_of(statement) is not None:
            value = statement.value  # type: ignore[attr-defined]
        elif appended_to(call) is None or not isinstance(call, ast.Call) or len(call.args) != 1:
            return None
        else:
            value = call.args[0]
        if isinstance(value, ast.Name) or any(self._fetched(node) is not None for node in ast.walk(value)):
            return None
        return value if self._kinds(value) == {ARRAY} else None

    def _arrays_kept(self, statement: ast.stmt, computed: set[str], part: HostPart) -> Iterator[Output]:
        """The variables of the step that the host reads as arrays: prints, or appends to a list."""
        fetched = {node for one in part.outputs for node in ast.walk(one.value)}
        for node in ast.walk(statement):
            if not isinstance(node, ast.Name) or node.id not in computed or node in fetched:
                continue
            if not isinstance(node.ctx, ast.Load) or any(
                one.kept and one.name == node.id for one in part.outputs
            ):
                continue
            reads = [one for one in ast.walk(self.loop) if isinstance(one, ast.Name) and one.id == node.id]
            asked = [one for one in reads if one not in fetched and self._of_the_host(one)]
            yield Output(node, node, name=node.id, kept=True, stacked=all(map(self._is_for_numpy, asked)))

    def _of_the_host(self, read: ast.Name) -> bool:
        """Whether a host statement reads a variable."""
        around = {read, *self.site.names.ancestors(read)}
        return isinstance(read.ctx, ast.Load) and any(one in around for one in self._host)

    def _buffer_of(self, statement: ast.stmt | None) -> ast.Name | None:
        """The array of NumPy, made in this function, of which a statement fills a row: `rows` in `rows[i] = x`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return None
        return target.value if self._kinds(target.value) == {NUMPY} else None

    def _check_buffer(self, buffer: ast.Name, statement: ast.Assign, computed: set[str]) -> None:
        """Raises Refused where others may see a buffer before it is filled, or what it is filled at depends on what is computed."""
        names, name = self.site.names, buffer.id
        node = self.file.same(buffer)
        home = self.file.names.scope_at(node).resolve(name)
        given = [
            self.file.names.given(one.node)
            for one in (reaching(home, node, self.file) if home is not None else ())
        ]
        own = self.scope.resolve(name) is self.scope and name not in self.scope.redirected
        made = [self.file.names.qualified(one.func) if isinstance(one, ast.Call) else None for one in given]
        if not own or not made or not all(one in _BUFFERS for one in made):
            raise Refused(f"`{name}` is an array of NumPy that others may hold")
        for use in names.uses_of(name, self.scope):
            above = names.parents.get(use.name)
            stores = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store)
            made_here = isinstance(use.name.ctx, ast.Store)
            if use.scope is not self.scope or (
                use.name.lineno <= (self.loop.end_lineno or 0) and not stores and not made_here
            ):
                raise Refused(f"`{name}` is read before it is filled")
        index = statement.targets[0].slice  # type: ignore[attr-defined]
        if _names(index) & computed or any(isinstance(one, ast.Call) for one in ast.walk(index)):
            raise Refused(f"the row of `{name}` that is filled is computed")

    def _is_for_numpy(self, read: ast.expr) -> bool:
        """Whether a value goes into an array of NumPy, or into a list of which nothing else is made."""
        above = self.site.names.parents.get(read)
        if isinstance(above, ast.Assign) and self._buffer_of(above) is not None:
            return True
        added_to = appended_to(self.site.names.parents.get(read))
        if added_to is None:
            return False
        names = self.site.names
        uses = [
            one.name
            for one in names.uses_of(added_to, self.scope)
            if one.name.lineno <= self._rebound(added_to)
        ]
        uses = [one for one in uses if not isinstance(names.parents.get(one), ast.Attribute)]
        stacks = self.stacks_of(added_to)
        return 0 < len(uses) == len(stacks) and all(one.startswith("numpy.") for one in stacks)

    def _rebound(self, name: str) -> float:
        """The line after the loop, in its block, from which on a variable is another, as in `rows = np.stack(rows)`."""
        names = self.site.names
        block = next(
            one
            for one in (getattr(names.parents.get(self.loop), "body", ()), [self.loop])
            if self.loop in one
        )
        for one in block[block.index(self.loop) + 1 :]:
            if isinstance(one, ast.Assign) and name in _bound(one):
                return one.end_lineno or one.lineno
        return float("inf")

    # What the host does

    def _check(self, part: HostPart) -> None:
        """Raises Refused where a statement of the host does more than count and keep, or needs more than it fetches."""
        computed = {name for one in part.computing for name in _bound(one)}
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
            if found := sorted(_names(value) & counted):
                raise Refused(
                    f"`{found[0]}` is a Python number that the host changes, and what it fetches depends on it"
                )
        for (
            name
        ) in part.numbers:  # an array where it is computed with, a number of Python where the host reads it
            self._check_order(part, name)
        for statement in part.statements:
            self._check_statement(statement, inside, computed)

    def _reads_of_kept(self, part: HostPart) -> set[ast.AST]:
        """Where the host reads arrays. Raises Refused where these may be none, or others than those at the end of the step."""
        kept = {one.name for one in part.outputs if one.name}
        last = {name: one for one in part.computing for name in _bound(one)}
        reads: set[ast.AST] = set()
        for statement in part.statements:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Name) or node.id not in kept:
                    continue
                if self.loop.body.index(statement) < self.loop.body.index(last[node.id]):
                    raise Refused(f"the host reads `{node.id}` before the step computes it")
                reads.add(node)
        for name in kept:
            if sum(name in _bound(one) for one in part.computing) != 1:
                raise Refused(f"`{name}` is assigned twice in the step")
            if not self._shows_that_it_is_an_array(name, part):
                raise Refused(
                    f"`{name}` is kept on the host and may be no array; convert it with `float` or `int`"
                )
        return reads

    def _shows_that_it_is_an_array(self, name: str, part: HostPart) -> bool:
        """Whether a variable is an array, or is printed or stacked, so that a run shows what else it may be."""
        reads = [
            node
            for statement in part.statements
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
        if name in self.arrays or self._kinds(reads[0]) == {ARRAY}:
            return True
        around = (above for node in reads for above in self.site.names.ancestors(node))
        return any(self._prints(above) for above in around) or any(map(self._is_stacked, reads))

    def _is_stacked(self, read: ast.expr) -> bool:
        """Whether a value is appended to a list of which an array is made after the loop, or becomes a row of one."""
        above = self.site.names.parents.get(read)
        if isinstance(above, ast.Assign) and self._buffer_of(above) is not None:
            return True
        added_to = appended_to(self.site.names.parents.get(read))
        return added_to is not None and bool(self.stacks_of(added_to))

    def stacks_of(self, name: str) -> list[str]:
        """The functions that take a list as their only argument after the loop, as in `jnp.stack(rows)`."""
        names = self.site.names
        found = []
        for use in names.uses_of(name, self.scope):
            call = names.parents.get(use.name)
            after = self.loop.lineno < use.name.lineno <= self._rebound(name)
            if isinstance(call, ast.Call) and call.args == [use.name] and after:
                called = names.qualified(call.func) or ""
                found += [called] if called in _STACKS else []
        return found

    def _prints(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.site.names.builtin(node.func) == "print"

    def _check_order(self, part: HostPart, name: str) -> None:
        """Raises Refused where the host reads a number before it is fetched: that of the step before."""
        for statement in part.statements:
            if name in _bound(statement):
                return
            if name in _names(statement):
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
            buffer = self._buffer_of(statement)
            if buffer is not None and isinstance(statement, ast.Assign):
                self._check_buffer(buffer, statement, computed)
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
                raise Refused(f"`{ast.unparse(node.func)}` may do more on the host than compute a number")
            if isinstance(node, ast.Attribute) and not isinstance(
                self.site.names.parents.get(node), ast.Call
            ):
                if self.site.names.qualified(node) is None and not self._is_out_of_sight(node, computed):
                    raise Refused("the host reads an attribute, which may run code")

    def _is_out_of_sight(self, node: ast.Attribute, computed: set[str]) -> bool:
        """Whether the code of an attribute could see no variable of the loop: these are local, and its object is none of them."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        local = self.scope.node is not self.site.names.tree
        return local and isinstance(root, ast.Name) and root.id not in computed

    def _kept(self, node: ast.expr) -> ast.expr:
        """What a statement appends to a list. Raises Refused where it does anything else."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            if not node.keywords and len(node.args) == 1 and self._is_list_of_the_function(node.func.value):
                return node.args[0]
        if isinstance(node, ast.Call) and self._prints(node):
            if any(isinstance(one, ast.Starred) for one in node.args) or any(
                not isinstance(one.value, ast.Constant) for one in node.keywords
            ):
                raise Refused("the host prints to another place, or values that it unpacks")
            return ast.Tuple(node.args, ast.Load())
        raise Refused("the host does more than count and append numbers to lists")

    def _is_quiet(self, call: ast.Call) -> bool:
        if self.site.names.builtin(call.func) in _QUIET:
            return True
        name = self.site.names.qualified(call.func) or ""
        return name.startswith(("numpy.", "math.")) and not name.startswith(
            ("numpy.random.", "numpy.load", "numpy.save")
        )

    def _is_list_of_the_function(self, node: ast.expr) -> bool:
        """Whether it is a variable, or an item of one, as in `history["loss"]`. Raises Refused where others may hold the list."""
        key = node.slice if isinstance(node, ast.Subscript) else None
        name = node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(name, ast.Name) or not (key is None or isinstance(key, ast.Constant)):
            return False
        self._check_lists(name, of_items=key is not None)
        return True

    def _check_lists(self, name: ast.Name, *, of_items: bool) -> None:
        """Raises Refused unless a list, or a dict of lists, was made empty in this function, and nothing else in the loop asks for it."""
        names = self.site.names
        own = self.scope.resolve(name.id) is self.scope
        node = self.file.same(name)
        home = self.file.names.scope_at(node).resolve(name.id)
        bindings = reaching(home, node, self.file) if home is not None else []
        given = [self.file.names.given(one.node) for one in bindings]
        is_made = _is_dict_of_lists if of_items else _is_list
        if not own or not given or not all(is_made(one) for one in given):
            raise Refused(f"`{name.id}` is a {'dict' if of_items else 'list'} that others may hold")
        for use in names.uses_of(name.id, self.scope):
            above = names.parents.get(use.name)
            if of_items and isinstance(above, ast.Subscript) and above.value is use.name:
                above = names.parents.get(above)
            adds = isinstance(above, ast.Attribute) and above.attr == "append"
            if not adds and self.loop in names.ancestors(use.name):
                raise Refused(f"`{name.id}` is read in the loop, which would see it before it is filled")


def _is_list(node: ast.expr | None) -> bool:
    return isinstance(node, ast.List)


def _is_dict_of_lists(node: ast.expr | None) -> bool:
    """`{"loss": [], "accuracy": []}`, or `{key: [] for key in keys}`."""
    if isinstance(node, ast.DictComp):
        return _is_list(node.value)
    return isinstance(node, ast.Dict) and all(map(_is_list, node.values))


def appended_to(node: ast.AST | None) -> str | None:
    """The variable of the list in `found.append(x)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return node.func.value.id if isinstance(node.func.value, ast.Name) else None
    return None


def _bound(statement: ast.stmt) -> set[str]:
    return {
        one.id
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _read(statement: ast.stmt) -> set[str]:
    target = (
        {statement.target.id}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
        else set()
    )
    return _names(statement) | target
