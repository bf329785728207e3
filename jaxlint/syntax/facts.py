"""Small facts of a function's text, computed once per function."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

from jaxlint.syntax.memo import cache
from jaxlint.syntax.newer import NEWER_NODES

LEAF_ATTRIBUTES = frozenset(
    [
        "shape",
        "ndim",
        "dtype",
        "T",
        "at",
        "astype",
        "sum",
        "mean",
        "max",
        "min",
        "reshape",
        "transpose",
        "flatten",
        "ravel",
        "argmax",
        "argmin",
        "squeeze",
        "std",
        "var",
        "nonzero",
    ]
)
Node = TypeVar("Node", bound=ast.AST)
_PLAIN_FIELDS = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "kind", "level", "name", "type_comment"}
)
# The fields of each kind of node that may hold other nodes than contexts.
CHILD_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN_FIELDS)
    for kind in (*vars(ast).values(), *NEWER_NODES)
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
for _kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
    if "type_params" not in _kind._fields:  # which a tree may have all the same
        CHILD_FIELDS[_kind] += ("type_params",)
# Of these, the fields that hold blocks of statements, and what of a statement holds such blocks.
_BLOCKS = {
    kind: tuple(name for name in ("body", "orelse", "finalbody", "handlers", "cases") if name in names)
    for kind, names in CHILD_FIELDS.items()
}
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


# How equinox declares what a class asks of its heirs alone.
PROMISES = ("AbstractVar", "AbstractClassVar")


@cache
def leaf_parameters(node: FunctionNode) -> frozenset[str]:
    """Parameters that the body uses as a single array: in arithmetic, an ordering, or by an array's attribute."""
    names = {argument.arg for argument in all_parameters(node)}
    found: set[str] = set()

    def note(expression: ast.AST) -> None:
        if isinstance(expression, ast.Name) and expression.id in names:
            found.add(expression.id)

    for child in walk(node):
        if isinstance(child, ast.BinOp) and not isinstance(child.op, ast.Mod):
            if isinstance(child.op, ast.Add):  # tuples and lists add too
                for side, other in ((child.left, child.right), (child.right, child.left)):
                    if isinstance(other, (ast.BinOp, ast.UnaryOp)) or (
                        isinstance(other, ast.Constant) and isinstance(other.value, (int, float))
                    ):
                        note(side)
            else:
                note(child.left)
                note(child.right)
        elif isinstance(child, ast.UnaryOp) and isinstance(child.op, (ast.USub, ast.Invert)):
            note(child.operand)
        elif isinstance(child, ast.Compare) and isinstance(child.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            note(child.left)
            for comparator in child.comparators:
                note(comparator)
        elif isinstance(child, ast.Attribute) and child.attr in LEAF_ATTRIBUTES:
            note(child.value)
    return frozenset(found)


def used_as_arrays(node: FunctionNode) -> frozenset[str]:
    """Parameters that the body uses as a single array, or whose annotation says that they are one."""
    declared = (
        p.arg for p in all_parameters(node) if dotted(p.annotation).rpartition(".")[2] in _ARRAY_TYPES
    )
    return leaf_parameters(node).union(declared)


_ARRAY_TYPES = frozenset({"Array", "ndarray", "PRNGKeyArray"})


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below and including `node`, in no order; three times as fast as `ast.walk`."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += children(current)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below `node`, as in the source; sooner than by `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    held = node.__dict__
    for name in CHILD_FIELDS[node.__class__]:
        value = held.get(name)
        if value.__class__ is list:
            found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below and including `node`, in no order; a tenth of its nodes."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for name in _BLOCKS[current.__class__]:
            block = current.__dict__.get(name)
            if block.__class__ is list:
                stack += block


@cache
def nodes_of(owner: ast.AST, kind: type[Node]) -> tuple[Node, ...]:
    """Every node of one kind below and including `owner`, in no order."""
    every = statements(owner) if issubclass(kind, ast.stmt) else walk(owner)
    return tuple(node for node in every if isinstance(node, kind))


@cache
def name_loads(node: ast.AST) -> tuple[ast.Name, ...]:
    """Every name that is read in `node`, in no order."""
    return tuple(n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


@cache
def names_stored(node: ast.AST) -> frozenset[str]:
    """The names that are bound in `node`, functions inside of it included."""
    return frozenset(n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@cache
def loop_variables(node: ast.AST) -> frozenset[str]:
    """The names that a `for` loop in `node` counts or takes elements with."""
    return frozenset(
        name.id
        for loop in statements(node)
        if isinstance(loop, (ast.For, ast.AsyncFor))
        for name in walk(loop.target)
        if isinstance(name, ast.Name)
    )


def all_parameters(node: FunctionNode) -> list[ast.arg]:
    """Positional, variadic and keyword parameters, in order."""
    arguments = node.args
    return [
        *arguments.posonlyargs,
        *arguments.args,
        *([arguments.vararg] if arguments.vararg else []),
        *arguments.kwonlyargs,
        *([arguments.kwarg] if arguments.kwarg else []),
    ]


@cache
def defaults_of(node: FunctionNode) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, and what it is, in the order in which Python evaluates them."""
    positional, defaults = positional_parameters(node), node.args.defaults
    found = list(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return found + [(parameter, default) for parameter, default in named if default is not None]


@cache
def switches(node: FunctionNode) -> frozenset[str]:
    """The parameters that are declared as a bool, by their annotation or by a default."""
    named = {
        p.arg
        for p in all_parameters(node)
        if isinstance(p.annotation, ast.Name) and p.annotation.id == "bool"
    }
    return frozenset(named) | {
        parameter.arg
        for parameter, default in defaults_of(node)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool)
    }


def captured_flags(node: FunctionNode) -> tuple[str, ...]:
    """The names of enclosing functions, or of the module, that a function tests for their truth alone, as in `x if flag else y`."""
    found = tested_names(node) - {parameter.arg for parameter in all_parameters(node)}
    return tuple(sorted(found - names_stored(node))) if found else ()


@cache
def tested_names(node: FunctionNode) -> frozenset[str]:
    """The names that a function tests for their truth alone."""
    found: set[str] = set()
    stack = [part.test for part in walk(node) if isinstance(part, (ast.If, ast.IfExp))]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.Name):
            found.add(test.id)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            stack.append(test.operand)
        elif isinstance(test, ast.BoolOp):
            stack.extend(test.values)
    return frozenset(found)


@cache
def concrete_names(node: FunctionNode) -> frozenset[str]:
    """The names that a function calls, or that it compares where Python asks for the truth of the answer: no tracers.

    Not those that it asks what they are: it does so only where they allow it.
    """
    calls = [call for call in nodes_of(node, ast.Call) if isinstance(call.func, ast.Name)]
    found = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    asked = {call.args[0] for call in calls if call.args and last_name(call.func) in _ASKS_WHAT_IT_IS}
    stack = [part.test for part in walk(node) if isinstance(part, (ast.If, ast.IfExp, ast.While, ast.Assert))]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            stack.append(test.operand)
        elif isinstance(test, ast.BoolOp):
            stack.extend(test.values)
        elif isinstance(test, ast.Compare):
            found |= {part.id for part in _compared(test) if isinstance(part, ast.Name)}
    return frozenset(found - {part.id for part in asked if isinstance(part, ast.Name)})


_ASKS_WHAT_IT_IS = frozenset({"callable", "isinstance", "hasattr", "issubclass", "type"})


def _compared(test: ast.Compare) -> Iterator[ast.expr]:
    """What a comparison asks for its value: not for its identity, nor for what it contains."""
    parts = [test.left, *test.comparators]
    for left, operator, right in zip(parts, test.ops, parts[1:], strict=False):
        if not isinstance(operator, (ast.Is, ast.IsNot)):
            yield left
            if not isinstance(operator, (ast.In, ast.NotIn)):
                yield right


@cache
def makes_functions(node: FunctionNode) -> bool:
    """Whether it returns functions that are defined in it."""
    if isinstance(node, ast.Lambda):
        return isinstance(node.body, ast.Lambda)
    every = list(statements(node))
    inner = {part.name for part in every if type(part) is ast.FunctionDef}
    given = [part.value for part in every if type(part) is ast.Return]
    each = [part for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return any(
        isinstance(part, ast.Lambda) or (isinstance(part, ast.Name) and part.id in inner) for part in each
    )


def positional_parameters(node: FunctionNode) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def sizes_of_kernel(node: FunctionNode) -> frozenset[str]:
    """The parameters of a kernel that are numbers by default, which they stay: it is called with its references alone."""
    defaults = node.args.defaults
    parameters = positional_parameters(node)[-len(defaults) :] if defaults else []
    return frozenset(
        parameter.arg
        for parameter, default in zip(parameters, defaults, strict=True)
        if isinstance(default, ast.Constant) and type(default.value) in (int, float)
    )


_FIRST_METHODS = frozenset({"__init__", "setup", "__post_init__", "setUp", "setUpClass", "setup_method"})


@cache
def is_left_open(node: FunctionNode) -> bool:
    """Whether a function has no body but a docstring, `pass` or `...`, as an abstract method has."""
    return not isinstance(node, ast.Lambda) and all(
        isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


@cache
def is_left_to_heirs(node: FunctionNode) -> bool:
    """Whether a method has no body of its own, or one that only says so, for classes that derive from its own."""
    if isinstance(node, ast.Lambda):
        return False
    last = node.body[-1]
    if not isinstance(last, ast.Raise):
        return is_left_open(node)
    error = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    return (
        error is not None
        and dotted(error) == "NotImplementedError"
        and all(
            isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body[:-1]
        )
    )


def _targets(statement: ast.AST) -> list[ast.expr]:
    """What a statement stores in."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        return [statement.target]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []


@cache
def attribute_stores(node: ast.ClassDef) -> frozenset[str]:
    """Names that methods rebind on `self`, other than those that run before all others."""
    found: set[str] = set()
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name in _FIRST_METHODS:
            continue
        parameters = positional_parameters(method)
        if not parameters:
            continue
        self_name = parameters[0].arg
        for target in (target for statement in statements(method) for target in _targets(statement)):
            for child in walk(target):
                if (
                    isinstance(child, ast.Attribute)
                    and isinstance(child.ctx, ast.Store)
                    and isinstance(child.value, ast.Name)
                    and child.value.id == self_name
                ):
                    found.add(child.attr)
    return frozenset(found)


def last_name(node: ast.expr) -> str:
    """The last part of a name or of an attribute, "" of anything else."""
    return node.attr if type(node) is ast.Attribute else node.id if type(node) is ast.Name else ""


def dotted(node: ast.AST | None) -> str:
    """The source of a name or attribute chain, else ""."""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Attribute:
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


@cache
def place_of(node: ast.AST | None) -> str:
    """ "x", "state.params", "carry[0]", or "" for what is no place."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = place_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = place_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""


def steps_on(node: ast.Assign) -> bool:
    """Whether the statement computes a place anew of what it holds: `count = count + 1`."""
    place = place_of(node.targets[0])
    return bool(place) and any(place_of(part) == place for part in walk(node.value))


def swallows_tracer_errors(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether one of the handlers would catch what a tracer raises on `bool()` and the like."""
    for handler in handlers:
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for name in names:
            last = dotted(name).rpartition(".")[2] if name is not None else "BaseException"
            if (
                last in ("Exception", "BaseException", "TypeError")
                or "Tracer" in last
                or "Concretization" in last
                or not last[:1].isupper()
                or last.isupper()  # a name for several classes, whatever they are
            ):
                return True
    return False


@cache
def does_it_otherwise(node: ast.Try) -> bool:
    """Whether a handler goes on with other values for all that the body of the try binds last."""
    last = node.body[-1]
    bound = _bound_names(last) if isinstance(last, ast.Assign) else []
    return bool(bound) and any(
        set(bound)
        <= {
            name
            for part in statements(handler)
            if isinstance(part, ast.Assign)
            for name in _bound_names(part)
        }
        for handler in node.handlers
    )


def guards_imports(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether the try is a shim around names that may be missing."""
    for handler in handlers:
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for name in names:
            last = dotted(name).rpartition(".")[2] if name is not None else "Exception"
            if last in ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"):
                return True
    return False


@cache
def is_version_test(test: ast.expr) -> bool:
    """Whether an `if` asks which version of a library there is."""
    for child in walk(test):
        name = (
            child.attr
            if isinstance(child, ast.Attribute)
            else child.id
            if isinstance(child, ast.Name)
            else ""
        )
        if "version" in name.lower() or name == "TYPE_CHECKING":
            return True
    return False


@cache
def is_release_test(test: ast.expr) -> bool:
    """Whether an expression reads the version of an installed library: `jax.__version__`, `metadata.version("jax")`, `JAX_VERSION`."""
    for child in walk(test):
        if isinstance(child, ast.Call) and dotted(child.func).endswith("metadata.version"):
            return True
        name = last_name(child) if isinstance(child, (ast.Attribute, ast.Name)) else ""
        if "version" in name.lower() and ("jax" in name.lower() or name.startswith("__")):
            return True
    return False


@cache
def attribute_tests(test: ast.expr) -> list[ast.expr]:
    """What `hasattr` and `getattr` are asked about in a test."""
    return [
        child.args[0]
        for child in walk(test)
        if isinstance(child, ast.Call)
        and isinstance(child.func, ast.Name)
        and child.func.id in ("hasattr", "getattr")
        and child.args
    ]


@cache
def type_checking_branch(test: ast.expr) -> bool | None:
    """Which outcome of a test only type checkers see; None when it does not ask for `TYPE_CHECKING`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = type_checking_branch(test.operand)
        return None if inner is None else not inner
    return True if dotted(test).rpartition(".")[2] == "TYPE_CHECKING" else None


def expects_error(context: ast.expr) -> bool:
    """Whether a `with` item is `pytest.raises(...)`, `self.assertRaises(...)` or the like."""
    if not isinstance(context, ast.Call):
        return False
    name = dotted(context.func).rpartition(".")[2]
    return name in ("raises", "suppress") or name.startswith(("assertRaises", "assert_raises"))


@cache
def leaves_quietly(function: FunctionNode) -> bool:
    """Whether a context manager may swallow what its block raises, tracers' errors too: an `__exit__` that may give True, a generator that catches."""
    if isinstance(function, ast.Lambda):
        return False
    if function.name == "__exit__":
        answers = [part.value for part in nodes_of(function, ast.Return)]
        names = {answer.id for answer in answers if isinstance(answer, ast.Name)}
        answers += [
            part.value for part in nodes_of(function, ast.Assign) if names.intersection(_bound_names(part))
        ]
        return any(map(_may_be_true, answers))
    return any(
        isinstance(part, ast.Try)
        and swallows_tracer_errors(part.handlers)
        and any(isinstance(inner, ast.Yield) for step in part.body for inner in walk(step))
        and not any(
            isinstance(inner, ast.Raise) for handler in part.handlers for inner in statements(handler)
        )
        for part in statements(function)
    )


def _may_be_true(answer: ast.expr | None) -> bool:
    """Whether an expression is True, or asks for the class of an error; what another manager answers is not said to be."""
    if isinstance(answer, ast.Constant):
        return answer.value is True
    if isinstance(answer, ast.BoolOp):
        return any(map(_may_be_true, answer.values))
    return isinstance(answer, ast.Call) and last_name(answer.func) in ("isinstance", "issubclass")


def calls_what_fails(call: ast.expr) -> bool:
    """Whether a call is `assertRaises(Error, function, *args)`, which calls what is expected to fail itself."""
    return isinstance(call, ast.Call) and len(call.args) > 1 and expects_error(call)


@cache
def provokes_errors(function: ast.AST) -> bool:
    """Whether somewhere in a function an error is expected: `with pytest.raises(...)`, `@pytest.mark.xfail` and the like."""
    decorators = (getattr(d, "func", d) for d in getattr(function, "decorator_list", []))
    return any(dotted(d).rpartition(".")[2] in ("xfail", "expectedFailure") for d in decorators) or any(
        (isinstance(node, ast.With) and any(expects_error(item.context_expr) for item in node.items))
        or (isinstance(node, ast.Expr) and calls_what_fails(node.value))
        for node in statements(function)
    )


_STANDS_IN = frozenset({"patch", "MagicMock", "Mock", "AsyncMock", "create_autospec"})


@cache
def replaces_parts(test: ast.AST) -> bool:
    """Whether a test, or a class of them, puts other objects in the place of what the program would call: `mock.patch` and the like."""
    return any(
        (isinstance(node, ast.Name) and node.id in _STANDS_IN)
        or (
            isinstance(node, ast.Attribute)
            and (node.attr in _STANDS_IN or (node.attr == "setattr" and dotted(node.value) == "monkeypatch"))
        )
        for node in walk(test)
    )


_ASKS_FOR_KIND = frozenset({"isscalar", "issubdtype", "default_backend"})
_OTHER_LIBRARIES = ("numpy", "np", "cupy", "torch", "pytorch", "tensorflow", "tf")


@cache
def foreign_branch(test: ast.expr) -> bool | None:
    """The outcome of a test under which arrays are those of another library than JAX: `backend == "numpy"`."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    sides = [side.value for side in (test.left, test.comparators[0]) if isinstance(side, ast.Constant)]
    equal = isinstance(test.ops[0], ast.Eq)
    if len(sides) != 1 or not (equal or isinstance(test.ops[0], ast.NotEq)):
        return None
    if sides[0] in ("jax", "jnp"):
        return not equal
    return equal if sides[0] in _OTHER_LIBRARIES else None


@cache
def asks_for_kind(test: ast.expr) -> bool:
    """Whether an expression reads what decides for whole calls: how many dimensions there are, a dtype, the machine, whether `jit` is off."""
    for child in walk(test):
        if isinstance(child, ast.Attribute) and child.attr in ("ndim", "platform", "jax_disable_jit"):
            return True
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in _ASKS_FOR_KIND:
            return True
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "len":
            asked = child.args[0] if child.args else None
            if isinstance(asked, ast.Call):
                asked = asked.func
            if asked is not None and dotted(asked).rpartition(".")[2] == "shape":
                return True
    return False


@cache
def rank_flags(node: ast.AST) -> frozenset[str]:
    """The names that a function binds to what it makes of a number of dimensions, and to shapes that `len` is asked of."""
    bindings = nodes_of(node, ast.Assign)
    shapes = {
        name
        for binding in bindings
        for name in _bound_names(binding)
        if dotted(getattr(binding.value, "func", binding.value)).rpartition(".")[2] == "shape"
    }
    return frozenset(
        name
        for binding in bindings
        for name in _bound_names(binding)
        if isinstance(binding.value, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        and (asks_for_kind(binding.value) or _asks_for_length(binding.value, shapes))
    )


@cache
def bound_tests(node: ast.AST) -> dict[str, ast.expr]:
    """The names that a function binds once, to a test or to what a function answers, by that expression."""
    tests: dict[str, ast.expr] = {
        name: binding.value
        for binding in nodes_of(node, ast.Assign)
        if isinstance(binding.value, (ast.BoolOp, ast.UnaryOp, ast.Call))
        for name in _bound_names(binding)
    }
    if not tests:
        return tests
    stored = Counter(n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {name: test for name, test in tests.items() if stored[name] == 1}


def changing_classes(module: ast.Module) -> set[str]:
    """The names of objects that a module gives another class while it runs: `backend.__class__ = Other`."""
    return {
        target.value.id
        for statement in nodes_of(module, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Attribute)
        and target.attr == "__class__"
        and isinstance(target.value, ast.Name)
    }


@cache
def module_switches(module: ast.Module) -> dict[str, bool]:
    """The names that a module sets to True or False, and a function of it sets anew, by what they are first."""
    turned = {name for statement in nodes_of(module, ast.Global) for name in statement.names}
    return {
        name: statement.value.value
        for statement in (module.body if turned else ())
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, bool)
        for target in (statement.targets if isinstance(statement, ast.Assign) else (statement.target,))
        if isinstance(target, ast.Name) and (name := target.id) in turned
    }


@cache
def answer_of(node: FunctionNode) -> ast.expr | None:
    """What a function returns, where that is all it does."""
    if isinstance(node, ast.Lambda):
        return node.body
    last = node.body[-1]
    others = (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in node.body[:-1])
    return last.value if isinstance(last, ast.Return) and all(others) else None


def _bound_names(binding: ast.Assign) -> list[str]:
    return [target.id for target in binding.targets if isinstance(target, ast.Name)]


def _asks_for_length(test: ast.expr, names: set[str]) -> bool:
    return any(
        isinstance(child, ast.Call)
        and dotted(child.func) == "len"
        and bool(child.args)
        and isinstance(child.args[0], ast.Name)
        and child.args[0].id in names
        for child in walk(test)
    )


@cache
def asks_what_is_kept(test: ast.expr, function: ast.AST) -> bool:
    """Whether a test is `key in table`, and the function itself puts what it makes into that table."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)):
        return False
    table = dotted(test.comparators[0])
    return bool(table) and any(
        isinstance(target, ast.Subscript) and dotted(target.value) == table
        for statement in nodes_of(function, ast.Assign)
        for target in statement.targets
    )


@cache
def methods_called_on_self(node: ast.AST) -> frozenset[str]:
    """The names of the methods that a function calls as `self.name(...)`."""
    called = (call.func for call in nodes_of(node, ast.Call))
    return frozenset(
        func.attr for func in called if isinstance(func, ast.Attribute) and dotted(func.value) == "self"
    )


@cache
def asks_whether_deleted(node: FunctionNode) -> bool:
    """Whether a function asks arrays `is_deleted`, or deletes them itself: it may be given what was donated."""
    return any(child.attr == "is_deleted" for child in nodes_of(node, ast.Attribute)) or any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "delete" and not call.args
        for call in nodes_of(node, ast.Call)
    )


@cache
def stored_and_returned(node: ast.AST) -> frozenset[str]:
    """The names of which a function sets an attribute, and gives the same attribute back."""
    stored: set[str] = set()
    returned: set[str] = set()
    for child in walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            stored.add(ast.unparse(child))
        elif isinstance(child, ast.Return) and child.value is not None:
            returned.update(
                ast.unparse(part) for part in walk(child.value) if isinstance(part, ast.Attribute)
            )
    return frozenset(text.partition(".")[0] for text in stored & returned)


@cache
def stores_what_it_gets(hook: ast.AST) -> bool:
    """Whether a `__setattr__` hands the value on as it was given."""
    parameters = positional_parameters(hook) if isinstance(hook, ast.FunctionDef) else []
    if len(parameters) < 3:
        return False
    value = parameters[2].arg
    passed = False
    for child in walk(hook):
        if isinstance(child, ast.Name) and child.id == value and isinstance(child.ctx, ast.Store):
            return False
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] == "__setattr__":
            passed = passed or any(isinstance(part, ast.Name) and part.id == value for part in child.args)
        elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Name):
            passed = passed or child.value.id == value  # `self.__dict__[name] = value`
    return passed


@cache
def none_branch(test: ast.expr) -> bool | None:
    """Which outcome of a test means that a name is None; None when it does not ask that."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = none_branch(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        wanted = isinstance(test.op, ast.And)
        return wanted if any(none_branch(part) is wanted for part in test.values) else None
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.left, (ast.Name, ast.Attribute))
    ):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return True
            if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
                return False
    return None


@cache
@cache
def parameter_annotations(node: FunctionNode) -> dict[str, ast.expr]:
    """The annotations of parameters that are a plain name, strings parsed, `X | None` and `Optional[X]` being that of `X`."""
    found = {parameter.arg: named_type(parameter.annotation) for parameter in all_parameters(node)}
    return {name: annotation for name, annotation in found.items() if annotation is not None}


def named_type(annotation: ast.expr | None) -> ast.expr | None:
    """The name of a class in an annotation: as it stands, as a string, of `X | None`, `Optional[X]` and `X[...]`."""
    annotation = _unquoted(annotation)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.right, ast.Constant):
        annotation = annotation.left
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice if dotted(annotation.value).endswith("Optional") else annotation.value
    return annotation if isinstance(annotation, (ast.Name, ast.Attribute)) else None


def element_type(annotation: ast.expr | None) -> ast.expr | None:
    """The name of the class that the items of an annotated sequence are of: `C` of `list[C]` and `tuple[C, ...]`."""
    annotation = _unquoted(annotation)
    if not isinstance(annotation, ast.Subscript):
        return None
    if dotted(annotation.value).rpartition(".")[2] not in _SEQUENCES:
        return None
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return named_type(inner[0]) if len([part for part in inner if not _is_ellipsis(part)]) == 1 else None


_SEQUENCES = frozenset(["list", "tuple", "List", "Tuple", "Sequence", "Iterable"])


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        with suppress(SyntaxError):
            return ast.parse(annotation.value, mode="eval").body
    return annotation


@cache
def loops_over(node: FunctionNode) -> dict[str, ast.expr]:
    """What the variables of a function's `for` loops run over."""
    body = node.body if isinstance(node.body, list) else []
    return {
        part.target.id: part.iter
        for statement in body
        for part in statements(statement)
        if isinstance(part, ast.For) and isinstance(part.target, ast.Name)
    }


_STATIC_TYPES = frozenset(
    [
        "int",
        "bool",
        "str",
        "bytes",
        "type",
        "Type",
        "Callable",
        "Literal",
        "Hashable",
        "Path",
        "Enum",
        "dtype",
        "DType",
        "DTypeLike",
        "PRNGImpl",
        "Mesh",
        "Sharding",
        "NamedSharding",
        "SingleDeviceSharding",
        "PartitionSpec",
    ]
)


_CONTAINERS = frozenset(
    ["Sequence", "Iterable", "list", "List", "tuple", "Tuple", "set", "frozenset", "dict", "Mapping", "deque"]
)


_WITHOUT_LEAVES = frozenset(
    ["GradientTransformation", "GradientTransformationExtraArgs", "GraphDef", "ShapeDtypeStruct"]
)


def takes_receiver(node: FunctionNode, cls: ast.ClassDef, kind: str) -> bool:
    """Whether the first parameter of a function in a class is an object of the class, or the class itself.

    Not where its `__init__` calls that otherwise: such a function is called on the class, as a static method is.
    """
    if kind == "staticmethod":
        return False
    own = next(
        (part for part in cls.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
    )
    first, of_init = (
        positional_parameters(node)[:1],
        positional_parameters(own)[:1] if own is not None else [],
    )
    return kind == "classmethod" or not (first and of_init) or first[0].arg == of_init[0].arg


@cache
def arrayless_annotations(node: FunctionNode) -> frozenset[str]:
    """Parameters whose annotation names a type that holds no array: those, optimisers of optax and what describes arrays."""
    return frozenset(p.arg for p in all_parameters(node) if is_static_type(p.annotation, _WITHOUT_LEAVES))


def is_static_type(annotation: ast.expr | None, also: frozenset[str] = frozenset()) -> bool:
    """Whether an annotation names types that no tracer has, nor holds; `also`: more of them."""
    if isinstance(annotation, ast.Constant):
        if not isinstance(annotation.value, str):
            return annotation.value is None
        try:
            return is_static_type(ast.parse(annotation.value, mode="eval").body, also)
        except SyntaxError:
            return False
    if isinstance(annotation, ast.BinOp):
        return is_static_type(annotation.left, also) and is_static_type(annotation.right, also)
    if isinstance(annotation, ast.Subscript):
        outer = dotted(annotation.value).rpartition(".")[2]
        if outer in _CONTAINERS or outer in ("Optional", "Union"):
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return all(is_static_type(part, also) for part in inner if not _is_ellipsis(part))
        return outer in _STATIC_TYPES or outer in also
    last = dotted(annotation).rpartition(".")[2] if annotation is not None else ""
    return last in _STATIC_TYPES or last in also


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


@cache
def handed_on(node: FunctionNode) -> str | None:
    """The one parameter that the body does nothing with but to return it beside another value, if there is one."""
    if isinstance(node, ast.Lambda):
        return None
    returned: set[str] = set()
    used: set[str] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        at = stack.pop()
        if isinstance(at, ast.Return) and isinstance(at.value, ast.Tuple):
            returned.update(part.id for part in at.value.elts if isinstance(part, ast.Name))
            stack.extend(part for part in at.value.elts if not isinstance(part, ast.Name))
        elif isinstance(at, ast.Name):
            used.add(at.id)
        else:
            stack.extend(ast.iter_child_nodes(at))
    found = {parameter.arg for parameter in all_parameters(node)} & returned - used
    return found.pop() if len(found) == 1 else None
