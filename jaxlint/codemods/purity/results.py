"""The results of calls: of the program's functions and objects, libraries, builtins and methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import handed_over, updates_of
from jaxlint.codemods.purity.expressions import HOLDERS, OPTIONS, Expressions
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NOTHING,
    NUMBER,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Value,
    Values,
    Wrapped,
    leaves_of,
    one,
    unknown,
)
from jaxlint.jaxapi.layer_classes import NNX_DICTS, NNX_LISTS

_TO_NUMBERS = frozenset(
    {
        "int",
        "float",
        "bool",
        "complex",
        "len",
        "ord",
        "hash",
        "round",
        "id",
        "abs",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "all",
        "any",
    }
)
_TO_TEXT = frozenset({"str", "repr", "format", "chr", "hex", "oct", "bin", "ascii"})
_LEAVING = frozenset({"jax.tree.map", "jax.tree.map_with_path"})
_LOOPS_AND_BRANCHES = frozenset(
    {"jax.lax.cond", "jax.lax.switch", "jax.lax.while_loop", "jax.lax.fori_loop", "jax.lax.map"}
)
_MAKES_NUMPY = frozenset({"float32", "float64", "int32", "int64", "asarray", "array"})
_KEEPS_DEVICE = frozenset({"sum", "mean", "max", "min"})  # which delegate to the method of a JAX array

_PARTIALS = frozenset({"functools.partial", "jax.tree_util.Partial"})
_NUMERIC = frozenset({ARRAY, NUMPY, NUMBER})
_AUX, _OTHERS = (
    1,
    2,
)  # facts about a gradient: it has an auxiliary result, or does not belong to the first argument

# Methods of library objects that return another object of the same kind.
RENEWING = frozenset({"apply_gradients", "replace", "_replace"})


class Results:
    """The results of calls."""

    def __init__(self, possible: ValueQueries, expressions: Expressions) -> None:
        self.possible, self.expressions = possible, expressions

    def of_call(self, node: ast.Call, file: File) -> Values:
        """The result of a call, over all possible callees."""
        found: Values = NOTHING
        for callee in self.possible.of(node.func, file):
            found |= self.result(callee, node, file, called=True)
        return found

    def result(
        self, callee: Value, node: ast.Call, file: File, depth: int = 0, *, called: bool = False
    ) -> Values:
        """The result of calling `callee`. `called`: `node` passes its own arguments, from the first on."""
        if isinstance(callee, Fn):
            return self.possible.returned(callee.node, callee.file)
        if isinstance(callee, Cls):
            return one(Inst(callee))
        if isinstance(callee, Ext):
            return self._of_external(callee.name, node, file)
        if isinstance(callee, Method):
            return self._of_method(callee, node, file)
        if isinstance(callee, Inst):
            return self._of_object(callee)
        if isinstance(callee, Wrapped) and callee.how == "jax.vjp":
            return one(Box("tuple", None, one(ARRAY)))
        if isinstance(callee, Wrapped) and depth < 6:
            own = called and callee.how not in _PARTIALS
            inner = self._all(callee.inner, node, file, depth + 1, called=own)
            return self._of_transformed(callee, inner, node.args[:1] if called else [], file)
        if isinstance(callee, Made):
            if callee.name.startswith(("flax.linen.", "flax.nnx.", "haiku.", "equinox.nn.")):
                return (
                    one(ARRAY)
                    if not callee.name.endswith(("Cell", "RNN", "LSTM", "GRU"))
                    else one(Box("tuple", None, one(ARRAY)))
                )
            if callee.name == "optax.inject_hyperparams":
                return one(callee)  # an optimiser, of a function that makes one
            if callee.name.startswith("optax."):
                return one(ARRAY)  # a schedule
        return unknown(ast.unparse(node.func)[:40])

    def _of_transformed(
        self, callee: Wrapped, inner: Values, first: Sequence[ast.expr], file: File
    ) -> Values:
        """The result of a function under a transformation. `first`: the first argument of the call, if it is known."""
        name = callee.how.rpartition(".")[2]
        if callee.how not in known_functions.GRADIENTS:
            if "vmap" in name:
                return frozenset(ARRAY if each in (NUMBER, NUMPY) else each for each in inner)
            return inner
        if name in ("jacfwd", "jacrev", "hessian", "jacobian"):
            return one(ARRAY)
        gradients = self._gradients(first[0] if first and not callee.given & _OTHERS else None, file)
        aux = bool(callee.given & _AUX)
        if "value_and_grad" in name:
            return one(Box("tuple", (inner, gradients), NOTHING))
        return (
            one(Box("tuple", (gradients, self.expressions.item_at(inner, 1, 2)), NOTHING))
            if aux
            else gradients
        )

    def _gradients(self, of: ast.expr | None, file: File) -> Values:
        """Gradients have the structure of the differentiated arguments."""
        given = self.possible.of(of, file) if of is not None and not isinstance(of, ast.Starred) else None
        if given is not None and leaves_of(given) <= _NUMERIC:
            return self._like(given, one(ARRAY)) if given else NOTHING
        return one(Box("dict", None, one(ARRAY))) | one(ARRAY)

    def _of_external(self, name: str, node: ast.Call, file: File) -> Values:
        given = [
            self.possible.of(argument, file)
            for argument in node.args
            if not isinstance(argument, ast.Starred)
        ]
        for model in (self._of_wrapping, self._of_jax, self._of_host):
            found = model(name, given, node, file)
            if found is not None:
                return found
        more = [
            each.value for each in (*node.args, *node.keywords) if isinstance(each, ast.Starred | ast.keyword)
        ]
        return one(Made(name, handed_over([*given, *(self.possible.of(each, file) for each in more)])))

    def _of_wrapping(self, name: str, given: list[Values], node: ast.Call, file: File) -> Values | None:
        """A partial, or a function under a transformation."""
        first = given[0] if given else NOTHING
        if name in ("functools.partial", "jax.tree_util.Partial"):
            return one(Wrapped(name, first, len(node.args) - 1))
        if name not in known_functions.TRANSFORMS:
            return None
        if not first and node.keywords:
            return one(Wrapped("functools.partial", one(Ext(name))))
        named = {each.arg for each in node.keywords}
        positions = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "argnums")]
        others = None in named or not all(
            isinstance(one, ast.Constant) and one.value == 0 for one in positions
        )
        about = _AUX * ("has_aux" in named) | _OTHERS * others
        return one(Wrapped(name, first or unknown(), about if name in known_functions.GRADIENTS else 0))

    def _of_jax(self, name: str, given: list[Values], node: ast.Call, file: File) -> Values | None:
        """The results of JAX, optax and flax functions: arrays and trees of arrays."""
        first = given[0] if given else NOTHING
        if name in _LEAVING:
            return self._like(given[1] if len(given) > 1 else unknown(), self._all(first, node, file))
        if name == "jax.tree.leaves":
            return one(Box("list", None, self.expressions.leaves(first)))
        if name == "jax.lax.scan":
            return self._of_scan(given)
        if name in _LOOPS_AND_BRANCHES:
            return one(ARRAY) | one(Box("tuple", None, one(ARRAY)))
        if known_functions.gives_array(name):
            return one(ARRAY)
        if name in ("optax.apply_updates", "equinox.apply_updates", "optax.incremental_update"):
            return self._like(first, one(ARRAY))
        if name == "jax.vjp":
            called = one(Wrapped("jax.vjp", NOTHING))
            return one(Box("tuple", (self._all(first, node, file), called), NOTHING))
        if name in ("flax.core.freeze", "flax.core.unfreeze"):
            return first
        if name in NNX_LISTS or name in NNX_DICTS:
            return self._of_builtin("list" if name in NNX_LISTS else "dict", first, given, node, file)
        if name in ("jax.device_put", "jax.block_until_ready"):
            return frozenset(ARRAY if each in (NUMPY, NUMBER) else each for each in first)
        return None

    def _of_host(self, name: str, given: list[Values], node: ast.Call, file: File) -> Values | None:
        """The results of NumPy and Python functions: host arrays, numbers, strings and containers."""
        first = given[0] if given else NOTHING
        if name.startswith("numpy.") and not name.startswith("numpy.random."):
            last = name.rpartition(".")[2]
            if last in _MAKES_NUMPY or known_functions.computes(name):
                return one(ARRAY) if ARRAY in first and last in _KEEPS_DEVICE else one(NUMPY)
        if name in known_functions.READERS:
            return one(NUMPY)
        if name.startswith("math."):
            return one(NUMBER)
        if "." not in name:
            return self._of_builtin(name, first, given, node, file)
        if name in ("copy.copy", "copy.deepcopy", "dataclasses.replace"):
            return first
        if name in ("collections.OrderedDict", "collections.defaultdict"):
            return one(Box("dict", None, unknown()))
        return None

    def _all(
        self, functions: Values, node: ast.Call, file: File, depth: int = 0, *, called: bool = False
    ) -> Values:
        """The result of any of the functions."""
        found: Values = NOTHING
        for function in functions:
            found |= self.result(function, node, file, depth, called=called)
        return found

    def _of_object(self, called: Inst) -> Values:
        """The result of an object's `__call__`."""
        found: Values = NOTHING
        for function in self.possible.attribute(called, "__call__"):
            if isinstance(function, Fn):
                found |= self.possible.returned(function.node, function.file)
            else:
                found |= unknown()
        return found

    def _like(self, tree: Values, leaf: Values) -> Values:
        """A tree of the same structure with other leaves."""
        found: Values = NOTHING
        for value in tree:
            if isinstance(value, Box):
                items = (
                    tuple(self._like(item, leaf) for item in value.items) if value.items is not None else None
                )
                found |= one(Box(value.kind, items, self._like(value.rest, leaf), value.keys))
            else:
                found |= leaf
        return found or leaf

    @staticmethod
    def _of_scan(given: list[Values]) -> Values:
        carry = given[1] if len(given) > 1 else unknown()
        return one(
            Box(
                "tuple",
                (
                    frozenset(ARRAY if each in (NUMBER, NUMPY) else each for each in carry),
                    one(ARRAY) | one(NONE),
                ),
                NOTHING,
            )
        )

    def _of_builtin(
        self, name: str, first: Values, given: list[Values], node: ast.Call, file: File
    ) -> Values:
        if name == "abs" or name == "round":
            return first
        if name in _TO_NUMBERS:
            return one(NUMBER)
        if name in _TO_TEXT:
            return one(TEXT)
        if name == "range":
            return one(Box("iterator", None, one(NUMBER)))
        if name == "zip":
            return one(
                Box(
                    "iterator",
                    None,
                    one(Box("tuple", tuple(self.expressions.elements(each) for each in given), NOTHING)),
                )
            )
        if name == "enumerate":
            return one(
                Box(
                    "iterator",
                    None,
                    one(Box("tuple", (one(NUMBER), self.expressions.elements(first)), NOTHING)),
                )
            )
        if name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter"):
            source = given[1] if name == "filter" and len(given) > 1 else first
            kind = {
                "frozenset": "set",
                "sorted": "list",
                "reversed": "iterator",
                "iter": "iterator",
                "filter": "iterator",
            }.get(name, name)
            return one(Box(kind, None, self.expressions.elements(source) if given else NOTHING))
        if name == "next":
            if first == one(Made("haiku.PRNGSequence")):
                return one(ARRAY)  # a key
            return self.expressions.elements(first) | frozenset().union(*given[1:]) if first else unknown()
        if name == "dict":
            rest = self.expressions.elements_of_dict(first) if given else NOTHING
            items = tuple(self.possible.of(each.value, file) for each in node.keywords if each.arg)
            return one(Box("dict", items, rest, tuple(each.arg for each in node.keywords if each.arg)))
        if name in ("sum", "max", "min"):
            parts = (
                self.expressions.elements(first)
                if len(given) == 1 or name == "sum"
                else frozenset().union(*given)
                if given
                else NOTHING
            )
            return parts | (one(NUMBER) if name == "sum" and ARRAY not in parts else NOTHING)
        if name in ("divmod", "pow"):
            return first
        if name == "map":
            found: Values = NOTHING
            for function in first:
                found |= self.result(function, node, file)
            return one(Box("iterator", None, found))
        if name == "type":
            return one(TYPE)
        return unknown(f"{name}(...)") if name not in known_functions.BUILTINS else one(Made(name))

    def _of_method(self, callee: Method, node: ast.Call, file: File) -> Values:
        """The result of a method call, by the type of its receiver."""
        receiver, name = callee.receiver, callee.name
        if receiver in (ARRAY, NUMPY):
            if name == "item":
                return one(NUMBER)
            return one(Box("list", None, one(NUMBER))) if name == "tolist" else one(receiver)
        if receiver == TEXT:
            return (
                one(NUMBER)
                if name in ("count", "find", "index") or name.startswith(("is", "starts", "ends"))
                else one(TEXT)
            )
        if isinstance(receiver, Box):
            return self._of_container(receiver, name, node, file)
        if isinstance(receiver, Wrapped) and receiver.how.startswith("haiku."):
            tree = one(Box("dict", None, one(ARRAY)))
            found = tree if name == "init" else self._all(receiver.inner, node, file)
            return one(Box("tuple", (found, tree), NOTHING)) if _has_state(receiver) else found
        if isinstance(receiver, Made):
            return self._of_made(receiver, name)
        if isinstance(receiver, Inst):
            return self._of_inst(receiver, name, node)
        return unknown(f".{name}()")

    def _of_container(self, receiver: Box, name: str, node: ast.Call, file: File) -> Values:
        """The result of a container's method."""
        if name in ("get", "pop", "popleft", "setdefault"):
            parts = receiver.parts()
            for argument in node.args[1:]:
                parts |= self.possible.of(argument, file)
            return parts | (one(NONE) if name == "get" and len(node.args) < 2 else NOTHING)
        if name == "items":
            return one(Box("iterator", None, one(Box("tuple", (one(TEXT), receiver.parts()), NOTHING))))
        if name == "values":
            return one(Box("iterator", None, receiver.parts()))
        if name == "keys":
            return one(Box("iterator", None, one(TEXT)))
        if name == "copy":
            return one(receiver)
        if name in ("index", "count"):
            return one(NUMBER)
        return one(NONE) if name in known_functions.CHANGING else unknown()

    def _of_inst(self, receiver: Inst, name: str, node: ast.Call) -> Values:
        """The result of a method that a project class inherits from a library."""
        if name in ("replace", "_replace", "apply_gradients", "create"):
            return one(receiver)
        bases = self.possible.external_bases(receiver.cls)
        if name == "apply" and any(base.startswith("flax.linen") for base in bases):
            found = self._of_object(receiver)
            if any(each.arg == "method" for each in node.keywords):
                return unknown()
            if any(each.arg in ("mutable", "capture_intermediates") for each in node.keywords):
                return one(Box("tuple", (found, one(ARRAY)), NOTHING))
            return found
        if name == "init":
            return one(Box("dict", None, one(ARRAY)))
        return unknown(f".{name}()")

    def _numbers_of(self, optimizer: Made) -> Values:
        """Python numbers that the program's own parts of an optimiser keep in its state."""
        found: Values = NOTHING
        for function in updates_of(optimizer):
            found |= leaves_of(self.possible.returned(function.node, function.file))
        return found & {NUMBER}

    def _of_made(self, receiver: Made, name: str) -> Values:
        made = receiver.name
        if made == "argparse.ArgumentParser" and name == "parse_args":
            return one(OPTIONS)
        if made.startswith(HOLDERS) and name in RENEWING:
            return one(Made(made))
        if made.startswith("optax."):
            if name == "update":
                state = one(ARRAY) | self._numbers_of(receiver)
                return one(
                    Box(
                        "tuple", (one(Box("dict", None, one(ARRAY))), one(Box("tuple", None, state))), NOTHING
                    )
                )
            return one(Box("tuple", None, one(ARRAY)))
        if made.startswith(("flax.linen.", "haiku.")) and name in ("apply", "init"):
            return one(ARRAY) if name == "apply" else one(Box("dict", None, one(ARRAY)))
        if made.startswith(("distrax.", "jax.")):
            return one(ARRAY)
        if made == "numpy.random.default_rng" or made == "numpy.random.RandomState":
            return one(NUMPY)
        return unknown(f".{name}()")


def _has_state(transformed: Wrapped) -> bool:
    """Whether haiku's `init` and `apply` also return the state of the modules."""
    inner = (one for one in transformed.inner if isinstance(one, Wrapped))
    return "with_state" in transformed.how or any(map(_has_state, inner))
