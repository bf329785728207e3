"""What an expression may be: a function or class of the file, an object, the result of a library, data, or unknown.

The search follows variables, parameters and their arguments at calls in the file, attributes, and results of
functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from jaxlint.codemods.facts import library_state as library
from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.facts.parameter_modules import values_of
from jaxlint.codemods.source.site import Site
from jaxlint.codemods.source.text_edits import shown_source

DEEP = 12  # nested calls that are followed
_MANY = 4000  # expressions that are visited for one question
_CONTAINERS = frozenset(
    "list tuple zip enumerate reversed sorted iter set frozenset dict next filter".split()  # noqa: SIM905
)
_ITEMS = frozenset({"values", "items", "get", "copy", "setdefault"})
_DATA = (
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.JoinedStr,
    ast.BoolOp,
    ast.Slice,
)


@dataclass(frozen=True)
class Thing:
    """What an expression may be. `kind`: "data", "function", "class", "object", "method", "library", "instance" (of a
    library's class), "unknown".

    `node`: the function or class of the file, or the call that made an instance; `name`: in its library, or of the
    method; `of`: the object of a method.
    """

    kind: str
    node: ast.AST | None = None
    name: str = ""
    of: Thing | None = None
    around: Frame | None = field(default=None, compare=False, hash=False)


Things = frozenset[Thing]
PLAIN: Things = frozenset({Thing("data")})


@dataclass
class Frame:
    """One call of a followed function, with the values of its parameters."""

    function: ast.AST
    given: Mapping[str, Things]


class TooFar(Exception):
    """The question needs too many steps to answer."""


class Called:
    """The possible meanings of a file's expressions, for one question. Raises TooFar if that needs too many steps."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.steps = 0
        self.calls: list[tuple[ast.AST, tuple[tuple[str, Things], ...]]] = []
        self.asked: set[tuple[ast.AST, int]] = set()
        self.cut = 0  # open answers: the question depends on itself
        # Complete answers that depend on no call; later questions about the file start from them.
        self.known: dict[ast.AST, Things] = site.memo.setdefault(Called, {})

    def count(self) -> None:
        self.steps += 1
        if self.steps > _MANY:
            raise TooFar

    # ---- what an expression may be ----

    def things(self, node: ast.AST, frame: Frame | None) -> Things:
        """What an expression may be; empty if the question depends on itself."""
        self.count()
        if frame is None and (known := self.known.get(node)) is not None:
            return known
        key = (node, id(frame))
        if key in self.asked:
            self.cut += 1
            return frozenset()
        self.asked.add(key)
        cut = self.cut
        try:
            found = self._things(node, frame)
        finally:
            self.asked.discard(key)
        if frame is None and self.cut == cut:
            self.known[node] = found
        return found

    def _things(self, node: ast.AST, frame: Frame | None) -> Things:
        if isinstance(node, _DATA):
            return PLAIN
        if isinstance(node, FUNCTIONS):
            return frozenset({Thing("function", node, around=frame)})
        if isinstance(node, ast.ClassDef):
            return frozenset({Thing("class", node)})
        if isinstance(node, ast.arg):
            return self._parameter(node, frame)
        if isinstance(node, ast.Name):
            return self._variable(node, frame)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, frame)
        if isinstance(node, ast.Subscript):
            return self.things(node.value, frame)
        if isinstance(node, ast.Starred):
            return self.things(node.value, frame)
        if isinstance(node, (ast.IfExp,)):
            return self.things(node.body, frame) | self.things(node.orelse, frame)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._any(node.elts, frame)
        if isinstance(node, ast.Dict):
            return self._any(node.values, frame)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return self.things(node.elt, frame)
        if isinstance(node, ast.DictComp):
            return self.things(node.value, frame)
        if isinstance(node, ast.NamedExpr):
            return self.things(node.value, frame)
        if isinstance(node, ast.Call):
            return self._result(node, frame)
        return frozenset({Thing("unknown", name=shown_source(node))})

    def _any(self, nodes: Iterable[ast.AST], frame: Frame | None) -> Things:
        return frozenset[Thing]().union(*(self.things(one, frame) for one in nodes)) or PLAIN

    def _variable(self, node: ast.Name, frame: Frame | None) -> Things:
        if dotted := self.site.names.qualified(node):
            return self._imported(dotted)
        scope = self.site.names.scope_at(node).resolve(node.id)
        if scope is None:
            return frozenset({Thing("library", name=f"builtins.{node.id}")})
        given = values_of(self.site, node)
        return self._any(given, frame) if given else frozenset({Thing("unknown", name=node.id)})

    def _imported(self, dotted: str) -> Things:
        if library.is_known(dotted):
            return frozenset({Thing("library", name=dotted)})
        return frozenset({Thing("unknown", name=dotted.rpartition(".")[2])})

    def _parameter(self, node: ast.arg, frame: Frame | None) -> Things:
        function = self._function_of(node)
        if frame is not None and frame.function is function and node.arg in frame.given:
            return frame.given[node.arg]
        holder = self.site.names.parents.get(function) if function is not None else None
        if isinstance(holder, ast.ClassDef) and self._first(function) == node.arg:
            return frozenset({Thing("object", holder)})
        if node.annotation is not None and (declared := self.declared(node.annotation)):
            return declared
        handed = self._handed(function, node.arg) if function is not None else None
        return handed or frozenset({Thing("unknown", name=node.arg)})

    def _function_of(self, node: ast.arg) -> ast.AST | None:
        return next((one for one in self.site.names.ancestors(node) if isinstance(one, FUNCTIONS)), None)

    @staticmethod
    def _first(function: ast.AST | None) -> str:
        if not isinstance(function, FUNCTIONS) or is_decorated(function, "staticmethod"):
            return ""
        arguments = [*function.args.posonlyargs, *function.args.args]
        return arguments[0].arg if arguments else ""

    def declared(self, annotation: ast.expr) -> Things:
        """The meaning of an annotation; empty if it says too little."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            holder = self.site.classes.get(annotation.value)
            return frozenset({Thing("object", holder)} if holder is not None else ())
        if isinstance(annotation, ast.Subscript):  # list[Block]
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return frozenset[Thing]().union(*(self.declared(one) for one in inner))
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return frozenset()
        found = set[Thing]()
        for thing in self.things(annotation, None):
            if thing.kind == "class":
                found.add(Thing("object", thing.node))
            elif thing.kind == "library" and thing.name.rpartition(".")[2] in library.DATA_TYPES:
                found.add(Thing("data"))
            elif thing.kind == "library" and library.is_class(thing.name) and not library.is_base(thing.name):
                found.add(Thing("instance", name=thing.name))
        return frozenset(found)

    def _handed(self, function: ast.AST, parameter: str) -> Things | None:
        """The arguments for a parameter at the calls in the file, if every use of the function is a call or a
        transformation of it."""
        if not isinstance(function, ast.FunctionDef):
            return None
        scope = self.site.names.scope_at(function)
        scope = scope.resolve(function.name) or scope
        found: set[Thing] = set()
        called = False
        for use in self.site.names.uses_of(function.name, scope):
            called_by: ast.AST = use.name
            call = self.site.names.parents.get(called_by)
            while isinstance(call, ast.Call) and call.args and call.args[0] is called_by:
                if not library.is_transformation(self.site.names.qualified(call.func) or ""):
                    break
                called_by, call = call, self.site.names.parents.get(call)  # `jax.grad(loss)(model, x)`
            if not isinstance(call, ast.Call) or call.func is not called_by:
                continue
            value = _argument(function, call, parameter)
            if value is not None:
                called = True
                found |= self.things(value, None)
        for call in self._calls_of_method(function):
            value = _argument(function, call, parameter, bound=not is_decorated(function, "staticmethod"))
            if value is not None:
                called = True
                found |= self.things(value, None)
        return frozenset(found) if called else None

    def _calls_of_method(self, function: ast.FunctionDef) -> Iterator[ast.Call]:
        """The calls in the file of a method of that name on any object; a method of a class, all calls."""
        if not isinstance(self.site.names.parents.get(function), ast.ClassDef):
            return
        for call in self.site.method_calls.get(function.name, ()):
            self.count()
            yield call

    def _attribute(self, node: ast.Attribute, frame: Frame | None) -> Things:
        if dotted := self.site.names.qualified(node):
            return self._imported(dotted)
        found: set[Thing] = set()
        for one in self.things(node.value, frame):
            found |= self._member(one, node.attr, frame)
        return frozenset(found)

    def _member(self, one: Thing, name: str, frame: Frame | None) -> set[Thing]:
        if one.kind == "object" and isinstance(one.node, ast.ClassDef):
            return self._member_of_object(one, one.node, name, frame)
        if one.kind == "class" and isinstance(one.node, ast.ClassDef):
            methods = [part for kind in self.kinds(one.node) for part in methods_of(kind, name)]
            return {Thing("function", method) for method in methods} or {Thing("unknown", name=name)}
        if one.kind == "instance":
            if one.name in library.STREAMS:
                return {Thing("method", None, name, one), Thing("instance", name=library.STREAM)}
            return {Thing("method", None, name, one)}
        if one.kind == "data":
            return {Thing("method", None, name, one)}
        return {Thing("method", None, name, Thing("unknown", name=one.name))}

    def _member_of_object(
        self, one: Thing, holder: ast.ClassDef, name: str, frame: Frame | None
    ) -> set[Thing]:
        found: set[Thing] = set()
        for kind in self.kinds(holder):
            for method in methods_of(kind, name):
                if is_decorated(method, "property") or is_decorated(method, "cached_property"):
                    found |= self._returned(method, {self._first(method): frozenset({one})}, frame)
                else:
                    found.add(Thing("method", method, name, one))
            if found:
                return found
            for declared in kind.body:
                if isinstance(declared, ast.AnnAssign) and isinstance(declared.target, ast.Name):
                    if declared.target.id == name:
                        found |= self.declared(declared.annotation) or {Thing("unknown", name=name)}
                elif isinstance(declared, ast.Assign):
                    if any(isinstance(part, ast.Name) and part.id == name for part in declared.targets):
                        found |= self.things(declared.value, None)
        for value in self._stored(name):
            found |= self.things(value, None)
        return found or {Thing("method", None, name, one)}

    def _stored(self, name: str) -> Iterator[ast.AST]:
        """The values that the file stores in attributes of this name, on any object."""
        for node in self.site.stored_attributes.get(name, ()):
            around = self.site.names.parents.get(node)
            place: ast.AST = node
            while isinstance(around, (ast.Tuple, ast.List)):
                place, around = around, self.site.names.parents.get(around)
            value = getattr(around, "value", None)
            if isinstance(around, (ast.Assign, ast.AnnAssign)) and value is not None:
                if isinstance(place, ast.Tuple) and isinstance(value, ast.Tuple):
                    if node in place.elts and len(place.elts) == len(value.elts):
                        value = value.elts[place.elts.index(node)]
                yield value

    def kinds(self, holder: ast.ClassDef, seen: frozenset[ast.AST] = frozenset()) -> Iterator[ast.ClassDef]:
        """A class and its base classes in the file."""
        yield holder
        for base in holder.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            for one in self.things(base, None):
                if one.kind == "class" and isinstance(one.node, ast.ClassDef) and one.node not in seen:
                    yield from self.kinds(one.node, seen | {holder})

    def bases(self, holder: ast.ClassDef) -> set[str]:
        """The library classes that a class derives from; "?" for an unknown base."""
        found = set()
        for kind in self.kinds(holder):
            for base in kind.bases:
                for one in self.things(base.value if isinstance(base, ast.Subscript) else base, None):
                    if one.kind == "library":
                        found.add(one.name)
                    elif one.kind != "class":
                        found.add("?")
        return found

    # ---- results of calls ----

    def _result(self, call: ast.Call, frame: Frame | None) -> Things:
        found: set[Thing] = set()
        for one in self.things(call.func, frame):
            found.update(self._gives(one, call, frame))
        return frozenset(found)

    def _gives(self, one: Thing, call: ast.Call, frame: Frame | None) -> Iterable[Thing]:
        if one.kind == "class":
            return {Thing("object", one.node)}
        if one.kind == "function" and one.node is not None:
            return self._returned(one.node, self.bound(one.node, call, frame, None), one.around or frame)
        if one.kind == "method" and one.node is not None:
            return self._returned(one.node, self.bound(one.node, call, frame, one.of), frame)
        if one.kind == "library":
            return self._gives_of_library(one.name, call, frame)
        if one.kind == "method" and one.name == "bind":
            return {Thing("unknown", name=shown_source(call))}  # a module with its own variables and keys
        if one.kind == "method" and one.of is not None:
            if one.of.kind in ("data",) or one.name in library.FUNCTIONAL:
                return PLAIN
            if one.name in _ITEMS:
                return {one.of}
            if one.of.kind == "instance":
                return PLAIN
        if one.kind == "instance" or one.kind == "object":
            return PLAIN
        return {Thing("unknown", name=shown_source(call.func))}

    def _gives_of_library(self, name: str, call: ast.Call, frame: Frame | None) -> Iterable[Thing]:
        last = name.rpartition(".")[2]
        if name.startswith("builtins."):
            if last in _CONTAINERS:
                return self._any(call.args, frame)
            if last == "map":
                return {Thing("data")}
            return {Thing("unknown", name=last)} if last in ("getattr", "eval", "vars") else PLAIN
        if library.is_transformation(name) and call.args:
            return self.things(call.args[0], frame)
        if library.is_class(name):
            return {Thing("instance", call, name, around=frame)}
        if library.is_container(name):
            return self._any(call.args, frame)
        return PLAIN if library.gives_data(name) else {Thing("unknown", name=last)}

    def _returned(self, function: ast.AST, given: Mapping[str, Things], around: Frame | None) -> set[Thing]:
        frame = Frame(function, {**(around.given if around else {}), **given})
        if len(self.calls) >= DEEP:
            self.cut += 1
            return {Thing("unknown", name="too deep to follow")}
        self.calls.append((function, ()))
        try:
            if isinstance(function, ast.Lambda):
                return set(self.things(function.body, frame))
            found: set[Thing] = set()
            for node in evaluated(function):
                if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                    found |= self.things(node.value, frame)
            return found or set(PLAIN)
        finally:
            self.calls.pop()

    def bound(
        self, function: ast.AST, call: ast.Call | None, frame: Frame | None, of: Thing | None
    ) -> dict[str, Things]:
        """The arguments of a call by parameter; `of`: the object of a method."""
        if not isinstance(function, FUNCTIONS):
            return {}
        arguments = function.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        given: dict[str, Things] = {}
        if of is not None and names and not is_decorated(function, "staticmethod"):
            given[names.pop(0)] = frozenset({of})
        if call is None:
            return given
        for name, value in zip(names, call.args, strict=False):
            if isinstance(value, ast.Starred):
                break
            given[name] = self.things(value, frame)
        for keyword in call.keywords:
            if keyword.arg is not None:
                given[keyword.arg] = self.things(keyword.value, frame)
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        for name, value in defaults.items():
            given.setdefault(name, self.things(value, None))
        return given


def methods_of(holder: ast.ClassDef, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        one
        for one in holder.body
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == name
    ]


def is_decorated(function: ast.AST, name: str) -> bool:
    return any(ast.unparse(one).rpartition(".")[2] == name for one in getattr(function, "decorator_list", ()))


def _argument(
    function: ast.FunctionDef, call: ast.Call, parameter: str, *, bound: bool = False
) -> ast.expr | None:
    """The argument for a parameter, by position or by name. `bound`: the first parameter is the object."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][bound:]
    if parameter in names and names.index(parameter) < len(call.args):
        value = call.args[names.index(parameter)]
        return None if isinstance(value, ast.Starred) else value
    return None


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and its descendants, without the bodies of nested functions, unless `node` is one."""
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        yield one
        if isinstance(one, FUNCTIONS) and one is not node:
            waiting += [part for part in [*one.args.defaults, *one.args.kw_defaults] if part is not None]
        elif not isinstance(one, ast.ClassDef):
            waiting += ast.iter_child_nodes(one)
