"""Whether evaluating a part of a program does anything but give values: in it, and in all that it calls.

What is not known counts as an effect. A problem is `certain` where it is known what happens, and that staging would change it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jaxlint.codemods.flow import root_of
from jaxlint.codemods.names import Scope
from jaxlint.codemods.purity import known
from jaxlint.codemods.purity.expressions import HOLDERS
from jaxlint.codemods.purity.meaning import Meaning
from jaxlint.codemods.purity.program import File, FunctionNode, bodies, own_parts
from jaxlint.codemods.purity.results import RENEWING
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMBER,
    NUMPY,
    TEXT,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Plain,
    Unknown,
    Value,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.text import shown_source
from jaxlint.syntax.functions import NESTED

_CONTEXTS = frozenset(
    {
        "jax.named_scope",
        "jax.default_matmul_precision",
        "jax.ensure_compile_time_eval",
        "jax.profiler.TraceAnnotation",
    }
)
_WORLD = ("time.", "random.", "numpy.random.", "datetime.", "os.", "sys.", "io.", "logging.", "warnings.", "threading.", "queue.",
          "multiprocessing.", "subprocess.", "socket.", "uuid.", "secrets.", "shutil.", "tempfile.", "csv.", "json.dump", "pickle.",
          "tqdm.", "wandb.", "print", "open", "input", "id", "setattr", "delattr", "exec", "globals", "breakpoint", "asyncio.", "gc.",
          "atexit.", "contextlib.", "jax.debug.", "jax.config.", "jax.experimental.io_callback", "functools.lru_cache", "functools.cache",
          "numpy.save", "numpy.copyto", "numpy.fill_diagonal", "numpy.put", "numpy.place")  # fmt: skip
_BASES = frozenset(
    """typing.NamedTuple object abc.ABC typing.Generic typing.Protocol flax.linen.Module equinox.Module flax.struct.PyTreeNode haiku.Module
    flax.training.train_state.TrainState enum.Enum enum.IntEnum Exception ValueError RuntimeError TypeError
    collections.namedtuple""".split()  # noqa: SIM905
)
_FUNCTIONAL = ("flax.linen.", "haiku.", "flax.training.", "flax.struct.", "equinox.")
_FRESH_BUILTINS = frozenset({"list", "dict", "set", "sorted", "bytearray", "tuple", "frozenset"})
_FRESH = ("collections.", "copy.", "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "numpy.arange", "numpy.linspace", "numpy.copy", "numpy.array", "numpy.eye", "jax.", "optax.", "numpy.stack", "numpy.concatenate", "dataclasses.replace")  # fmt: skip
_FUNCTION_ARGUMENTS = {"jax.lax.cond": (1, 2), "jax.lax.while_loop": (0, 1), "jax.lax.fori_loop": (2,), "jax.lax.switch": (1,), "sorted": (), "min": (), "max": (),
                       "jax.tree.leaves": (), "jax.tree.flatten": (), "jax.tree.reduce": (0,), "equinox.partition": (), "equinox.filter": (), "equinox.tree_at": (0,),
                       "jax.tree.transpose": (), "jax.tree.all": (), "jax.lax.reduce": (2,)}  # fmt: skip
_DUNDERS_ASIDE = frozenset(
    {
        "__init__",
        "__post_init__",
        "__repr__",
        "__str__",
        "__call__",
        "__new__",
        "__init_subclass__",
        "__hash__",
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a part of a program may not be staged, for a reader."""

    reason: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Region:
    """What is to be staged: where variables count as its own, and which modules are carried in and out of it."""

    node: ast.AST
    own: frozenset[ast.AST]  # the nodes of the region, if it is no function
    carries_nnx: bool = False


class Effects:
    """Walks what a region calls. One walk looks at each function once."""

    def __init__(self, meaning: Meaning, region: Region) -> None:
        self.meaning, self.program, self.region = meaning, meaning.program, region
        self._seen: set[tuple[ast.AST, bool]] = set()

    def of_function(self, function: FunctionNode, file: File) -> Iterator[Problem]:
        """The effects of calling a function."""
        yield from self._function(function, file, fresh_self=False)

    def of_nodes(self, nodes: Iterable[ast.AST], file: File) -> Iterator[Problem]:
        """The effects of evaluating statements or expressions where they stand."""
        for node in nodes:
            yield from self._tree(node, file, None, fresh_self=False)

    def of_callee(self, call: ast.Call, file: File) -> Iterator[Problem]:
        """The effects of calling what `call` calls, wherever its arguments come from."""
        yield from self._call(call, file, None, False)

    def _function(self, function: FunctionNode, file: File, *, fresh_self: bool) -> Iterator[Problem]:
        if (function, fresh_self) in self._seen:
            return
        self._seen.add((function, fresh_self))
        if isinstance(function, ast.AsyncFunctionDef):
            yield self._problem("runs asynchronously", function, file, certain=True)
        for node in bodies(function):
            yield from self._tree(node, file, function, fresh_self=fresh_self)

    def _problem(self, what: str, node: ast.AST, file: File, *, certain: bool) -> Problem:
        return Problem(f"`{shown_source(node)}` at {self.program.place(file, node)} {what}", certain)

    def _tree(
        self, node: ast.AST, file: File, function: FunctionNode | None, *, fresh_self: bool
    ) -> Iterator[Problem]:
        parts = [node] if isinstance(node, NESTED) else [node, *own_parts(node)]
        for part in parts:
            yield from self._node(part, file, function, fresh_self)

    def _node(
        self, node: ast.AST, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                yield from self._tree(decorator, file, function, fresh_self=fresh_self)
        elif isinstance(node, ast.Call):
            yield from self._call(node, file, function, fresh_self)
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node.ctx, ast.Load):
                yield from self._read(node, file)
            else:
                yield from self._store(node, file, function, fresh_self)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield from self._augmented(node, node.target, file, function)
        elif isinstance(node, ast.Global):
            for name in node.names:
                if any(
                    use
                    for use in file.names.module.bindings.get(name, ())
                    if function is not None and function in file.names.ancestors(use.node)
                ):
                    yield self._problem(
                        f"changes the variable `{name}` of the module", node, file, certain=True
                    )
        elif isinstance(node, ast.Nonlocal):
            yield from self._nonlocal(node, file, function)
        elif isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            yield self._problem("runs step by step, as its caller asks", node, file, certain=True)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            if not _imports_only(node):
                yield self._problem(
                    "handles exceptions, which nothing raises once it is compiled",
                    node,
                    file,
                    certain=bool(node.handlers),
                )
        elif isinstance(node, ast.With):
            for item in node.items:
                called = (
                    item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                )
                if self.meaning.name_of(called, file) not in _CONTEXTS:
                    yield self._problem(
                        "enters a context whose ends nothing marks once it is compiled",
                        item.context_expr,
                        file,
                        certain=False,
                    )
        elif isinstance(node, ast.AsyncWith | ast.AsyncFor):
            yield self._problem("runs asynchronously", node, file, certain=True)
        elif isinstance(node, ast.ClassDef):
            yield self._problem("defines a class", node, file, certain=False)
        elif isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            for operand in ast.iter_child_nodes(node):
                if isinstance(operand, ast.expr):
                    yield from self._special(operand, file)
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from self._iterated(node, file)

    # What is changed

    def _nonlocal(self, node: ast.Nonlocal, file: File, function: FunctionNode | None) -> Iterator[Problem]:
        scope = file.names.scope_at(function) if function is not None else None
        for name in node.names:
            home = scope.resolve(name) if scope is not None else None
            if home is None or not self._is_inside(home.node, file):
                yield self._problem(
                    f"changes the variable `{name}` of an outer function", node, file, certain=True
                )

    def _is_inside(self, node: ast.AST, file: File) -> bool:
        return node is self.region.node or self.region.node in file.names.ancestors(node)

    def _store(
        self, node: ast.Attribute | ast.Subscript, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if self._is_fresh_holder(node.value, file, function, fresh_self):
            return
        if self.region.carries_nnx and self._is_nnx(node.value, file):
            return
        verb = "deletes" if isinstance(node.ctx, ast.Del) else "changes"
        certain = not any(isinstance(value, Unknown) for value in self.meaning.of(node.value, file))
        kind = "an attribute" if isinstance(node, ast.Attribute) else "an item"
        yield self._problem(
            f"{verb} {kind} of what others may see",
            node,
            file,
            certain=certain or isinstance(node.value, ast.Name),
        )

    def _is_nnx(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is a part of a module of flax.nnx, whose state the transformation carries."""
        return any(
            (isinstance(value, Inst) and self._is_state(value.cls))
            or (isinstance(value, Made) and value.name.startswith(known.STATE_MODULES))
            for value in self.meaning.of(root_of(node), file)
        )

    def _comes_from_outside(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is a part of a variable of the module or of a function around the region."""
        root = root_of(node)
        if not isinstance(root, ast.Name):
            return False
        scope = file.names.scope_at(root).resolve(root.id)
        return scope is not None and (
            scope.node is file.tree or scope.node in file.names.ancestors(self.region.node)
        )

    def _augmented(
        self, node: ast.AugAssign, target: ast.Name, file: File, function: FunctionNode | None
    ) -> Iterator[Problem]:
        if self.fresh(target, file, function):
            return
        values = self.meaning.of(target, file)
        plain = {"array", "number", "text", "none", "type"}
        if values and all(
            (isinstance(value, Plain) and value.kind in plain)
            or (isinstance(value, Box) and value.kind == "tuple")
            for value in values
        ):
            return
        certain = any(
            value == NUMPY or (isinstance(value, Box) and value.kind in ("list", "dict", "set"))
            for value in values
        )
        yield self._problem("changes an object in place that others may see", node, file, certain=certain)

    def _is_fresh_holder(
        self, node: ast.expr, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> bool:
        if fresh_self and isinstance(node, ast.Name) and function is not None and function.args.args:
            if node.id == function.args.args[0].arg:
                return True
        if isinstance(node, ast.Subscript):
            return self._holds_fresh(node.value, file, function)
        return self.fresh(node, file, function)

    def _holds_fresh(self, node: ast.expr, file: File, function: FunctionNode | None) -> bool:
        """Whether all items of a container were made here: `out = {"a": [], "b": []}`."""
        if not (isinstance(node, ast.Name) and self.fresh(node, file, function)):
            return False
        scope = file.names.scope_at(node).resolve(node.id)
        assert scope is not None
        for binding in scope.bindings[node.id]:
            given = getattr(file.names.parents.get(binding.node), "value", None)
            items = (
                given.values
                if isinstance(given, ast.Dict)
                else given.elts
                if isinstance(given, ast.List)
                else [given.elt]
                if isinstance(given, ast.ListComp)
                else None
            )
            if items is None or not all(self.fresh(item, file, function) for item in items):
                return False
        for use in file.names.uses_of(node.id, scope):
            above = file.names.parents.get(use.name)
            if isinstance(above, ast.Subscript) and not isinstance(above.ctx, ast.Load):
                statement = file.names.parents.get(above)
                if not (isinstance(statement, ast.Assign) and self.fresh(statement.value, file, function)):
                    return False
            elif isinstance(above, ast.Attribute) and above.attr in known.CHANGING:
                return False
        return True

    def fresh(self, node: ast.expr, file: File, function: FunctionNode | None, depth: int = 0) -> bool:
        """Whether an expression gives an object that was made here, and that nobody else holds."""
        if depth > 5:
            return False
        if isinstance(
            node,
            (
                ast.List,
                ast.Dict,
                ast.Set,
                ast.Tuple,
                ast.ListComp,
                ast.DictComp,
                ast.SetComp,
                ast.GeneratorExp,
                ast.BinOp,
                ast.UnaryOp,
                ast.Compare,
                ast.Constant,
                ast.JoinedStr,
            ),
        ):
            return True
        if isinstance(node, ast.IfExp):
            return all(self.fresh(each, file, function, depth + 1) for each in (node.body, node.orelse))
        if isinstance(node, ast.Name):
            scope = file.names.scope_at(node).resolve(node.id)
            if scope is None or not self._is_own_scope(scope, function, file):
                return False
            return all(
                self._fresh_binding(binding.node, file, function, depth)
                for binding in scope.bindings[node.id]
            )
        if isinstance(node, ast.Call):
            name = self.meaning.name_of(node.func, file)
            if name in _FRESH_BUILTINS or name.startswith(_FRESH):
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
                return True
            values = self.meaning.of(node.func, file)
            if not values:
                return False
            return all(
                isinstance(value, Cls) or (isinstance(value, Fn) and self._returns_fresh(value, depth))
                for value in values
            )
        return False

    def _is_own_scope(self, scope: Scope, function: FunctionNode | None, file: File) -> bool:
        """Whether the variables of a scope live no longer than the region, or than the call in it."""
        if scope.node is file.tree or isinstance(scope.node, ast.ClassDef):
            return False
        return (
            function is not None and (scope.node is function or self._is_inside(scope.node, file))
        ) or not self.region.own

    def _fresh_binding(self, node: ast.AST, file: File, function: FunctionNode | None, depth: int) -> bool:
        if self.region.own and function is None and node not in self.region.own:
            return False
        if not isinstance(node, ast.Name):
            return False
        above = file.names.parents.get(node)
        if isinstance(above, ast.AugAssign):
            return True
        if isinstance(above, ast.Tuple) and isinstance(whole := file.names.parents.get(above), ast.Assign):
            given = whole.value
            if isinstance(given, ast.Tuple) and len(given.elts) == len(above.elts):
                return self.fresh(given.elts[above.elts.index(node)], file, function, depth + 1)
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and above.value is not None:
            return self.fresh(above.value, file, function, depth + 1)
        return False

    def _returns_fresh(self, value: Fn, depth: int) -> bool:
        if isinstance(value.node, ast.Lambda):
            return self.fresh(value.node.body, value.file, value.node, depth + 1)
        returns = [
            part for part in own_parts(value.node) if isinstance(part, ast.Return) and part.value is not None
        ]
        return all(
            self.fresh(part.value, value.file, value.node, depth + 1)
            for part in returns
            if part.value is not None
        )

    # What is read

    def _read(self, node: ast.Attribute | ast.Subscript, file: File) -> Iterator[Problem]:
        for value in self.meaning.of(node.value, file):
            if not isinstance(value, Inst):
                continue
            if isinstance(node, ast.Subscript):
                yield from self._dunders(value)
                continue
            for cls in self.meaning.classes.heirs(value.cls):
                member = self.meaning.classes.member(cls, node.attr)
                if member is not None and isinstance(member[1].node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    decorators = [shown_source(one) for one in member[1].node.decorator_list]
                    if any(one == "property" for one in decorators):
                        yield from self._function(member[1].node, member[0].file, fresh_self=False)
                    elif any("cached_property" in one for one in decorators):
                        yield self._problem("keeps what it computed first", node, file, certain=True)
                if (
                    special := self.meaning.classes.member(cls, "__getattr__")
                    or self.meaning.classes.member(cls, "__getattribute__")
                ) is not None:
                    if isinstance(special[1].node, ast.FunctionDef):
                        yield from self._function(special[1].node, special[0].file, fresh_self=False)

    def _special(self, operand: ast.expr, file: File) -> Iterator[Problem]:
        for value in self.meaning.of(operand, file):
            if isinstance(value, Inst):
                yield from self._dunders(value)

    def _dunders(self, value: Inst) -> Iterator[Problem]:
        for cls in self.meaning.classes.heirs(value.cls):
            for statement in cls.node.body:
                if (
                    isinstance(statement, ast.FunctionDef)
                    and statement.name.startswith("__")
                    and statement.name not in _DUNDERS_ASIDE
                ):
                    yield from self._function(statement, cls.file, fresh_self=False)

    def _iterated(self, node: ast.For | ast.comprehension, file: File) -> Iterator[Problem]:
        for value in self.meaning.of(node.iter, file):
            if isinstance(value, Inst):
                yield from self._dunders(value)
            elif isinstance(value, Made) or _is_generator(value):
                yield self._problem(
                    "is taken from, step by step", node.iter, file, certain=_is_generator(value)
                )

    # Calls

    def _call(
        self, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        values = self.meaning.of(node.func, file)
        if not values:
            yield self._problem("calls what is not known", node, file, certain=False)
        for value in sorted(values, key=repr) if len(values) > 1 else values:
            yield from self._callee(value, node, file, function, fresh_self)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            for value in self.meaning.of(argument, file):
                if isinstance(value, (Fn, Wrapped)):
                    yield from self._callee(value, node, file, function, fresh_self)

    def _callee(
        self, value: Value, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if isinstance(value, Fn):
            yield from self._function(value.node, value.file, fresh_self=False)
        elif isinstance(value, Wrapped):
            yield from self._wrapped(value, node, file, function, fresh_self)
        elif isinstance(value, Cls):
            yield from self._constructed(value, node, file)
        elif isinstance(value, Ext):
            yield from self._external(value.name, node, file)
        elif isinstance(value, Method):
            yield from self._method(value, node, file, function, fresh_self)
        elif isinstance(value, Inst):
            yield from self._called_object(value, node, file)
        elif isinstance(value, Made):
            yield from self._called_made(value, node, file)
        elif isinstance(value, Unknown):
            yield from self._unknown(node, file, function, fresh_self)
        elif value in (ARRAY, NUMPY, NUMBER, TEXT):
            return  # no call of these does anything but fail
        else:
            yield self._problem("calls what is not known", node, file, certain=False)

    def _wrapped(
        self, value: Wrapped, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if value.how not in known.TRANSFORMS and value.how != "jax.vjp":
            what = (
                "remembers results of earlier calls"
                if "cache" in value.how
                else f"goes through `{value.how}`, of which it is not known what it does"
            )
            yield self._problem(what, node, file, certain="cache" in value.how)
            return
        for inner in value.inner:
            yield from self._callee(inner, node, file, function, fresh_self)

    def _constructed(self, value: Cls, node: ast.Call, file: File) -> Iterator[Problem]:
        bases = self.meaning.external_bases(value) - _BASES
        if bases:
            stateful = all(base.startswith(known.STATE_MODULES) for base in bases)
            if not (stateful and self.region.carries_nnx):
                what = "an object that holds state" if stateful else "an object of a class that is not known"
                yield self._problem(f"makes {what}", node, file, certain=False)
                return
        for name in ("__new__", "__init__", "__post_init__"):
            member = self.meaning.classes.member(value, name)
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                yield from self._function(member[1].node, member[0].file, fresh_self=True)

    def _external(self, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        if "." not in name:
            yield from self._builtin(name, node, file)
            return
        if any(keyword.arg == "out" for keyword in node.keywords) and name.startswith("numpy."):
            yield self._problem("writes into an array that others may see", node, file, certain=True)
        if name.startswith("numpy.") and name.endswith(".at"):
            yield self._problem("changes an array in place", node, file, certain=True)
        elif self.region.carries_nnx and known.makes_nnx(name):
            # It draws from the streams of random numbers that it is given: `nnx.jit` carries those of its arguments.
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if self._is_nnx(argument, file) and self._comes_from_outside(argument, file):
                    yield self._problem(
                        f"may change `{shown_source(argument)}`, which is no argument of it",
                        node,
                        file,
                        certain=False,
                    )
        elif not known.computes(name):
            certain = name.startswith(_WORLD)
            what = (
                "acts outside of the program, or depends on what is outside"
                if certain
                else "is not known to do nothing but compute"
            )
            yield self._problem(what, node, file, certain=certain)
        elif name in known.TRANSFORMS or name in known.CALLERS:
            for index in _FUNCTION_ARGUMENTS.get(name, (0,)):
                yield from self._function_argument(name, index, node, file)

    def _function_argument(self, name: str, index: int, node: ast.Call, file: File) -> Iterator[Problem]:
        if index >= len(node.args):
            if any(isinstance(one, ast.Starred) for one in node.args) or not (
                node.keywords or name in known.TRANSFORMS
            ):
                yield self._problem("calls what is not known", node, file, certain=False)
            return
        values = leaves_of(self.meaning.of(node.args[index], file))
        if not values:
            yield self._problem("calls what is not known", node, file, certain=False)
        for value in values:
            if isinstance(value, Unknown):
                yield self._problem(f"has `{name}` call what is not known", node, file, certain=False)
            elif not isinstance(value, (Fn, Wrapped)):
                yield from self._callee(
                    value, ast.copy_location(ast.Call(node.args[index], [], []), node), file, None, False
                )

    def _builtin(self, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        if name in known.BUILTINS:
            if name in ("map", "filter") and node.args:
                yield from self._function_argument(name, 0, node, file)
            if name in (
                "len",
                "list",
                "tuple",
                "sum",
                "sorted",
                "min",
                "max",
                "any",
                "all",
                "iter",
                "str",
                "repr",
                "float",
                "int",
                "bool",
                "enumerate",
                "zip",
            ):
                for argument in node.args:
                    for value in self.meaning.of(argument, file):
                        if isinstance(value, Inst):
                            yield from self._dunders(value)
                        elif _is_generator(value):
                            yield self._problem("takes from a generator", node, file, certain=True)
            return
        if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
            return
        certain = name.startswith(_WORLD) or name in ("next", "vars", "locals", "memoryview")
        yield self._problem(
            "acts outside of the function, or depends on what is outside"
            if certain
            else "calls what is not known",
            node,
            file,
            certain=certain,
        )

    def _method(
        self, value: Method, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        receiver, name = value.receiver, value.name
        if receiver == ARRAY:
            if name in ("delete", "copy_to_host_async", "on_device_size_in_bytes"):
                yield self._problem("acts on the buffer of an array", node, file, certain=True)
        elif receiver in (TEXT, NUMBER):
            return
        elif receiver == NUMPY or isinstance(receiver, Box):
            held = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in known.CHANGING and not (
                held is not None and self._is_fresh_holder(held, file, function, fresh_self)
            ):
                yield self._problem("changes an object that others may see", node, file, certain=True)
        elif (
            isinstance(receiver, Wrapped) and receiver.how.startswith("haiku.") and name in ("apply", "init")
        ):
            yield from self._wrapped(receiver, node, file, function, fresh_self)
        elif isinstance(receiver, Inst):
            yield from self._inherited(receiver, name, node, file)
        elif isinstance(receiver, Made):
            yield from self._of_made(receiver, name, node, file)
        else:
            yield self._problem("calls what is not known", node, file, certain=False)

    def _of_made(self, receiver: Made, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        made = receiver.name
        if made == "super":
            return  # of a class whose bases are known to do nothing else, as its constructor says
        if made.startswith(
            ("optax.", "haiku.", "flax.linen.", "distrax.", "equinox.", "jmp.", "jax.")
        ) and not made.startswith("jax.debug"):
            return
        if made.startswith(HOLDERS) and name in RENEWING:
            return
        if made.startswith(known.STATE_MODULES):
            held = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if not self.region.carries_nnx or self._comes_from_outside(held, file):
                yield self._problem(
                    "changes the state of a module, which only `nnx.jit` carries", node, file, certain=False
                )
            return
        if made.startswith(("collections.", "types.", "re.", "fractions.")) and name not in known.CHANGING:
            return
        certain = made.startswith((*_WORLD, "numpy.random.", "argparse.")) or name in (
            "write",
            "put",
            "append",
            "log",
        )
        yield self._problem(
            f"is a method of what `{made}` made, and may do anything", node, file, certain=certain
        )

    def _inherited(self, receiver: Inst, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        """A method that a class of the program has from a library."""
        bases = self.meaning.external_bases(receiver.cls)
        if bases and all(base.startswith(_FUNCTIONAL) or base in _BASES for base in bases):
            if name in ("apply", "init", "init_with_output", "bind", "__call__"):
                yield from self._all_methods(receiver)
            return
        if any(base.startswith(known.STATE_MODULES) for base in bases):
            if not self.region.carries_nnx:
                yield self._problem(
                    "may change the state of a module, which only `nnx.jit` carries",
                    node,
                    file,
                    certain=False,
                )
            return
        yield self._problem("calls what is not known", node, file, certain=False)

    def _all_methods(self, receiver: Inst) -> Iterator[Problem]:
        for cls in self.meaning.classes.heirs(receiver.cls):
            for statement in cls.node.body:
                if isinstance(statement, ast.FunctionDef):
                    yield from self._function(
                        statement,
                        cls.file,
                        fresh_self=statement.name in ("setup", "__init__", "__post_init__"),
                    )

    def _is_state(self, cls: Cls) -> bool:
        return any(base.startswith(known.STATE_MODULES) for base in self.meaning.external_bases(cls))

    def _called_object(self, value: Inst, node: ast.Call, file: File) -> Iterator[Problem]:
        if self._is_state(value.cls) and not self.region.carries_nnx:
            yield self._problem(
                "may change the state of a module, which only `nnx.jit` carries", node, file, certain=False
            )
            return
        found = False
        for cls in self.meaning.classes.heirs(value.cls):
            member = self.meaning.classes.member(cls, "__call__")
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                found = True
                yield from self._function(member[1].node, member[0].file, fresh_self=False)
        if not found:
            yield self._problem("calls what is not known", node, file, certain=False)

    def _called_made(self, value: Made, node: ast.Call, file: File) -> Iterator[Problem]:
        if value.name.startswith(
            ("flax.linen.", "haiku.", "equinox.", "optax.", "jax.", "numpy.", "operator.")
        ):
            return
        if value.name.startswith(known.STATE_MODULES) and self.region.carries_nnx:
            return
        yield self._problem(f"calls what `{value.name}` made, which is not known", node, file, certain=False)

    def _unknown(
        self, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        """A method of what is not known: an array or a tree of arrays, if it has no other name."""
        called = node.func
        if isinstance(called, ast.Attribute):
            held = called.value
            if called.attr in known.CHANGING and self._is_fresh_holder(held, file, function, fresh_self):
                return
            if called.attr in (
                "set",
                "add",
                "multiply",
                "divide",
                "power",
                "min",
                "max",
                "mul",
                "apply",
                "get",
            ) and isinstance(held, ast.Subscript):
                if isinstance(held.value, ast.Attribute) and held.value.attr == "at":
                    return
            own = self._methods_named(called.attr)
            if called.attr in known.HARMLESS_METHODS:
                for file_, one in own:
                    yield from self._function(one, file_, fresh_self=False)
                return
        yield self._problem("calls what is not known, and may do anything", node, file, certain=False)

    def _methods_named(self, name: str) -> Sequence[tuple[File, ast.FunctionDef]]:
        return [
            (file, statement)
            for entries in self.program.classes.values()
            for file, cls in entries
            for statement in cls.body
            if isinstance(statement, ast.FunctionDef) and statement.name == name
        ]


def _imports_only(node: ast.Try | ast.TryStar) -> bool:
    return all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body)


def _is_generator(value: Value) -> bool:
    return isinstance(value, Box) and value.kind == "generator"
