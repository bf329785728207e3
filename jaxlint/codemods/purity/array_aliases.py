"""Which NumPy arrays the variables and attributes of a program may refer to or hold, over all its paths.

Inclusion constraints as in Andersen's points-to analysis (1994): what is put into a container, or taken out of one, flows one way, so
that two arrays in one list do not count as the same. Names of one object, which may be a container, hold the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, own_parts, parameters
from jaxlint.codemods.purity.values import NUMPY, Cls, Fn, Inst, Made, Plain, Unknown, Whole, leaves_of

Root = tuple[object, ...]  # a variable by its scope and name, or an attribute by its name

_PARTS = frozenset({"T", "mT", "flat", "real", "imag", "data", "base"})
_VIEWS = frozenset({"reshape", "ravel", "view", "transpose", "swapaxes", "squeeze", "cast", "toreadonly", "get"})  # fmt: skip
_SAME = frozenset(
    """asarray ascontiguousarray asanyarray require frombuffer reshape ravel squeeze transpose swapaxes moveaxis atleast_1d
    atleast_2d atleast_3d broadcast_to expand_dims from_dlpack ndarray""".split()  # noqa: SIM905
)
_ONWARD = frozenset({"memoryview", "iter", "zip", "enumerate", "list", "tuple", "dict", "reversed", "next", "map", "filter"})  # fmt: skip
PUT = frozenset({"put", "put_nowait", "append", "appendleft", "insert", "extend", "send"})
_TAKE = frozenset({"get", "get_nowait", "pop", "popleft", "result"})
_MEMORY = frozenset({"bytearray", "mmap.mmap", "multiprocessing.shared_memory.SharedMemory"})
_OBJECTS = (ast.Name, ast.Attribute, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await)
_DEPTH = 5


class Aliases:
    """The arrays that the roots of expressions may refer to. `made`: the expressions that create them; an array is known by its number in
    it. `bytes`: those backed by a `bytearray`."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self.made: list[tuple[ast.AST, File]] = []
        self.bytes: set[int] = set()
        self._onward: dict[Root, set[Root]] = {}  # by root: those that hold what it holds
        self._taken: dict[Root, set[Root]] = {}  # by root: the containers that it was taken out of
        self._filled: set[Root] = set()  # the roots that something was put into
        self._items_filled: set[Root] = set()  # those of which an item was given something
        self._held: dict[Root, set[int]] = {}
        made: list[tuple[Root, ast.AST, File]] = []
        for file in self.program.files:
            for node in ast.walk(file.tree):
                made += self._bound(node, file)
        for root, onward in list(self._onward.items()):
            for holder in onward & self._items_filled:  # its items are what was put into it
                self._flow(holder, root)
        for root in self._filled:  # a container out of another one: that holds what it is given
            for outer in self._taken.get(root, ()):
                self._flow(root, outer)
        for root, node, file in made:
            number = len(self.made)
            self.made.append((node, file))
            if self._is_bytes(node, file):
                self.bytes.add(number)
            waiting = [root]
            while waiting:
                held = self._held.setdefault(one := waiting.pop(), set())
                if number not in held:
                    held.add(number)
                    waiting += self._onward.get(one, ())

    def of(self, node: ast.expr | None, file: File) -> set[int]:
        """The arrays that an expression may be or hold, without new ones."""
        return set().union(*(self._held.get(root, ()) for root in self._roots(node, file, 0)))

    def in_attribute(self, name: str) -> set[int]:
        """The arrays that attributes of a name may be or hold, of any object."""
        return self._held.get(("attribute", name), set())

    # What is bound

    def _bound(self, node: ast.AST, file: File) -> Iterator[tuple[Root, ast.AST, File]]:
        """Joins the names that a node binds with their value; yields the roots that receive a new array."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from self._given(target, node.value, file)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from self._given(node.target, node.iter, file, item=True)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from self._given(node.optional_vars, node.context_expr, file)
        elif isinstance(node, ast.Call):
            for callee in self.possible.of(node.func, file):
                if isinstance(callee, Cls):
                    yield from self._constructed(node, file, callee)
                elif isinstance(callee, Fn):
                    yield from self._passed(node, file, callee, bound=callee.receiver is not None)
            yield from self._of_others(node, file)
            if isinstance(node.func, ast.Attribute) and node.func.attr in PUT and node.args:
                held, given = node.func.value, node.args[-1]
                roots = self._roots(given, file, 0)
                new = not roots and NUMPY in leaves_of(self.possible.of(given, file))
                for holder in self._roots(held, file, 0):
                    self._filled.add(holder)
                    if not isinstance(held, _OBJECTS):
                        self._items_filled.add(holder)
                    for root in roots:
                        self._flow(root, holder)
                    if new:
                        yield holder, given, file

    def _of_others(self, call: ast.Call, file: File) -> Iterator[tuple[Root, ast.AST, File]]:
        """The memory of an object that is not known, as a table or a tensor, which an array of NumPy may share."""
        module, _, last = self.possible.name_of(call.func, file).rpartition(".")
        if module == "numpy" and last in _SAME and call.args:
            if any(
                isinstance(one, Unknown | Made) for one in leaves_of(self.possible.of(call.args[0], file))
            ):
                for root in self._roots(call.args[0], file, 0):
                    yield root, call, file

    def _constructed(self, call: ast.Call, file: File, cls: Cls) -> Iterator[tuple[Root, ast.AST, File]]:
        """Joins the arguments of a constructor with its parameters, or with the fields of a class that has none of its own."""
        member = self.possible.classes.member(cls, "__init__")
        if member is not None and isinstance(member[1].node, ast.FunctionDef):
            yield from self._passed(call, file, Fn(member[1].node, member[0].file), bound=True)
            return
        fields = self.possible.fields(cls)
        for number, given in enumerate(call.args):
            names = fields if isinstance(given, ast.Starred) else fields[number : number + 1]
            for name in names:
                yield from self._put(("attribute", name), given, file)
        for keyword in call.keywords:
            for name in fields if keyword.arg is None else [keyword.arg]:
                yield from self._put(("attribute", name), keyword.value, file)

    def _passed(
        self, call: ast.Call, file: File, callee: Fn, *, bound: bool
    ) -> Iterator[tuple[Root, ast.AST, File]]:
        scope = callee.file.names.scope_inside(callee.node)
        for parameter in parameters(callee.node) if scope is not None else ():
            given = self.possible.call_sites.expression_for(call, callee.node, parameter, bound=bound)
            own: Root = ("variable", id(scope), parameter.arg)
            if isinstance(given, ast.expr):
                yield from self._put(own, given, file)
            elif given == "?":  # some item of what is unpacked
                several = [one for one in call.args if isinstance(one, ast.Starred)]
                several += [one.value for one in call.keywords if one.arg is None]  # type: ignore[misc]
                for one in several:
                    for root in self._roots(one, file, 0):
                        self._join(own, root, False)

    def _put(self, own: Root, given: ast.expr, file: File) -> Iterator[tuple[Root, ast.AST, File]]:
        """Joins a root with an argument; yields it if that is a new array."""
        roots = self._roots(given, file, 0)
        for root in roots or self._file(given, file):
            self._join(own, root, self._is_same(given, file))
        if not roots and NUMPY in leaves_of(self.possible.of(given, file)):
            yield own, given, file

    def _given(
        self, target: ast.expr, value: ast.expr, file: File, *, item: bool = False
    ) -> Iterator[tuple[Root, ast.AST, File]]:
        """`item`: the target gets items of the value."""
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple | ast.List):
            same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            values = value.elts if same else [value] * len(target.elts)  # type: ignore[attr-defined]
            pairs = list(zip(target.elts, values, strict=True))
            parts = self._parts_of(value, file, len(target.elts)) if not item else []
            for one, returned in zip(target.elts, parts, strict=False):
                for given, other in returned:
                    yield from self._bind(one, file, given, other, value, self._is_same(given, other))
            if parts:
                return
            item = item or not same
        for one, given in pairs:
            yield from self._bind(one, file, given, file, given, not item and self._is_same(given, file))

    def _is_same(self, given: ast.expr, file: File) -> bool:
        """Whether the value of an expression is an object that its root already refers to, and no item of one."""
        if isinstance(given, ast.Call):
            mapped = self._mapped(given, file) is not None
            return mapped or any(isinstance(one, Fn | Cls) for one in self.possible.of(given.func, file))
        return isinstance(given, _OBJECTS)

    def _bind(
        self, target: ast.expr, file: File, given: ast.expr, other: File, place: ast.expr, same: bool
    ) -> Iterator[tuple[Root, ast.AST, File]]:
        """One variable and its value, which may be in another file; `place`: the expression that gives it; `same`: see `_is_same`."""
        if isinstance(target, ast.Subscript):
            if NUMPY in self.possible.of(target.value, file):
                return  # the values are copied into it
            self._filled |= self._roots(target, file, 0)
        own, roots = self._roots(target, file, 0), self._roots(given, other, 0)
        for root in own:
            for one in roots:
                if isinstance(target, ast.Subscript):
                    self._flow(one, root)
                else:
                    self._join(root, one, same)
            if self._is_bytes(given, other) or (
                not roots and NUMPY in leaves_of(self.possible.of(given, other))
            ):
                yield root, place, file

    def _parts_of(self, call: ast.expr, file: File, count: int) -> list[list[tuple[ast.expr, File]]]:
        """By position: what functions of the program return that all return tuples of `count` items; empty for others."""
        found: list[list[tuple[ast.expr, File]]] = [[] for _ in range(count)]
        for callee in self.possible.of(call.func, file) if isinstance(call, ast.Call) else ():
            if not isinstance(callee, Fn) or isinstance(callee.node, ast.Lambda):
                return []
            for part in own_parts(callee.node):
                if isinstance(part, ast.Yield | ast.YieldFrom):
                    return []
                if not isinstance(part, ast.Return):
                    continue
                items = part.value.elts if isinstance(part.value, ast.Tuple) else []
                if len(items) != count or any(isinstance(one, ast.Starred) for one in items):
                    return []
                for each, item in zip(found, items, strict=True):
                    each.append((item, callee.file))
        return found if all(found) else []

    def _is_bytes(self, node: ast.AST, file: File) -> bool:
        """Whether an expression creates memory that other objects may share: bytes, or a part of a file."""
        return isinstance(node, ast.Call) and (
            self.possible.name_of(node.func, file) in _MEMORY or self._mapped(node, file) is not None
        )

    def _mapped(self, call: ast.Call, file: File) -> ast.expr | None:
        """The path of a file that a call maps into memory, or opens to write into the middle of it."""
        if not call.args:
            return None
        if self.possible.name_of(call.func, file) == "numpy.memmap":
            return call.args[0]
        modes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "mode")]
        text = "".join(
            one.value for one in modes if isinstance(one, ast.Constant) and isinstance(one.value, str)
        )
        opens = file.names.builtin(call.func) == "open"
        return call.args[0] if opens and "+" in text and "b" in text else None

    def _file(self, path: ast.expr, file: File) -> set[Root]:
        """The root of the file behind a path: its variable or its text."""
        if isinstance(path, ast.Name):
            return self._variable(path, file)
        return {("attribute", path.attr) if isinstance(path, ast.Attribute) else ("file", ast.unparse(path))}

    def _join(self, root: Root, other: Root, same: bool) -> None:
        """`root` gets the object of another root, or an item of it."""
        self._flow(other, root)
        if same:
            self._flow(root, other)
        else:
            self._taken.setdefault(root, set()).add(other)

    def _flow(self, root: Root, onward: Root) -> None:
        """What one root holds the other holds, too."""
        self._onward.setdefault(root, set()).add(onward)

    # Roots

    def _roots(self, node: ast.expr | None, file: File, depth: int) -> set[Root]:
        if node is None or depth > _DEPTH or self._is_other(node, file):
            return set()
        if isinstance(node, ast.Name):
            return self._variable(node, file)
        if isinstance(node, ast.Attribute):
            if node.attr in _PARTS and NUMPY in leaves_of(self.possible.of(node.value, file)):
                return self._roots(node.value, file, depth + 1)
            if node.attr == "buf" and not any(
                isinstance(one, Inst) for one in self.possible.of(node.value, file)
            ):
                return self._roots(node.value, file, depth + 1)  # of shared memory
            for value in self.possible.of(node.value, file):
                if isinstance(value, Whole):
                    return {("variable", id(value.file.names.module), node.attr)}
            return {("attribute", node.attr)}
        if isinstance(node, ast.Subscript | ast.Starred | ast.NamedExpr | ast.Await):
            return self._roots(node.value, file, depth + 1)
        if isinstance(node, ast.Call):
            return self._of_call(node, file, depth)
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp | ast.Dict):
            parts = list(node.values)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = list(node.elts)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            parts = [node.elt]
        return set().union(*(self._roots(part, file, depth + 1) for part in parts))

    def _is_other(self, node: ast.expr, file: File) -> bool:
        """Whether an expression certainly is not a NumPy array and holds none."""
        values = leaves_of(self.possible.of(node, file))
        return bool(values) and all(isinstance(one, Plain) and one != NUMPY for one in values)

    def _variable(self, node: ast.Name, file: File) -> set[Root]:
        scope = file.names.scope_at(node).resolve(node.id)
        if scope is None:
            return set()
        for binding in scope.bindings.get(node.id, ()):
            taken = self.program.imported(binding, file) if binding.statement is not None else None
            if isinstance(taken, tuple):
                return {("variable", id(taken[0].names.module), taken[1])}
        return {("variable", id(scope), node.id)}

    def _of_call(self, node: ast.Call, file: File, depth: int) -> set[Root]:
        name = self.possible.name_of(node.func, file)
        module, _, last = name.rpartition(".")
        if (path := self._mapped(node, file)) is not None:
            return self._file(path, file)
        if module == "numpy" and last in _SAME:  # the other arguments are shapes and dtypes
            buffers = [one.value for one in node.keywords if one.arg in ("buffer", "a", "object")]
            return set().union(*(self._roots(one, file, depth + 1) for one in [*node.args[:1], *buffers]))
        if name in _ONWARD or name.startswith(("torch.", "itertools.")):
            given = [*node.args, *(one.value for one in node.keywords)]
            return set().union(*(self._roots(one, file, depth + 1) for one in given))
        found: set[Root] = set()
        callees = set(self.possible.of(node.func, file))
        if isinstance(node.func, ast.Attribute):
            if not name and node.func.attr in _VIEWS | _TAKE:
                found |= self._roots(node.func.value, file, depth + 1)
            if node.func.attr == "submit" and node.args:  # to an executor, which calls it
                callees |= self.possible.of(node.args[0], file)
        for callee in callees:
            if isinstance(callee, Fn):
                found |= self._returned(callee, depth + 1)
            elif isinstance(callee, Cls):
                found |= self._iterated(callee, depth + 1)
        return found

    def _iterated(self, cls: Cls, depth: int) -> set[Root]:
        """The arrays that an object of a class gives when it is iterated over or indexed."""
        found: set[Root] = set()
        for name in ("__next__", "__iter__", "__getitem__"):
            member = self.possible.classes.member(cls, name)
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                found |= self._returned(Fn(member[1].node, member[0].file), depth)
        return found

    def _returned(self, callee: Fn, depth: int) -> set[Root]:
        if isinstance(callee.node, ast.Lambda):
            return self._roots(callee.node.body, callee.file, depth)
        found: set[Root] = set()
        for part in own_parts(callee.node):
            if isinstance(part, ast.Return | ast.Yield | ast.YieldFrom):
                found |= self._roots(part.value, callee.file, depth)
        return found
