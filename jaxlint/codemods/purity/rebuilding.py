"""The functions by which JAX flattens an object of the program and builds it again: `tree_flatten`,
`tree_unflatten`, and the constructors of dataclasses and named tuples.

A compiled function does both with its arguments at trace time, with tracers in place of arrays, and builds
its results at each call. The original program calls none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.effects import Effects
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Region
from jaxlint.codemods.purity.program import File, FunctionNode, bodies
from jaxlint.codemods.purity.unreached import unreached
from jaxlint.codemods.purity.values import Cls, Fn, Inst, Values, leaves_of

_METHODS = ("tree_flatten", "tree_flatten_with_keys", "tree_unflatten")
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")
_REGISTERING = ("register_pytree_node", "register_pytree_with_keys")
# Trees that JAX builds through their constructor.
_DATACLASS = "register_dataclass"
_CONSTRUCTED = frozenset({f"jax.tree_util.{_DATACLASS}", "flax.struct.dataclass", "chex.dataclass"})
_CONSTRUCTED_BASES = frozenset({"typing.NamedTuple", "collections.namedtuple", "flax.struct.PyTreeNode"})


class Rebuilding:
    """Whether the program notices that JAX rebuilds its objects."""

    def __init__(self, possible: PossibleValues, region: Region) -> None:
        self.possible, self.program, self.region = possible, possible.program, region

    def problems(self, values: Values) -> Iterator[str]:
        """Side effects of rebuilding these values, in words."""
        for cls in {leaf.cls: None for leaf in leaves_of(values) if isinstance(leaf, Inst)}:
            for function, file, is_constructor in self._functions(cls):
                told = f"JAX rebuilds each `{cls.node.name}` that it receives or returns"
                walk = Effects(self.possible, self.region)
                for problem in walk.of_call(function, file, fresh_self=is_constructor):
                    if problem.certain:
                        yield f"{told}, and {problem.reason}"

    def missed(self, values: Values) -> Iterator[str]:
        """Possible side effects of rebuilding these values, in code that no run has reached; in words."""
        for cls in {leaf.cls: None for leaf in leaves_of(values) if isinstance(leaf, Inst)}:
            for function, file, _ in self._functions(cls):
                yield from unreached(self.possible, [(list(bodies(function)), file)], looped=False)

    def _functions(self, cls: Cls) -> Iterator[tuple[FunctionNode, File, bool]]:
        """The functions, and whether each receives the object that it fills."""
        names = [*_METHODS, *(_CONSTRUCTORS if self._is_constructed(cls) else ())]
        for name in names:
            member = self.possible.classes.member(cls, name)
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                yield member[1].node, member[0].file, name in _CONSTRUCTORS[1:]
        for call in _REGISTERING:
            for file, node in self.program.calls.get(call, ()):
                if cls in self.possible.of(node.args[0], file) if node.args else False:
                    for given in node.args[1:3]:
                        for value in self.possible.of(given, file):
                            if isinstance(value, Fn):
                                yield value.node, value.file, False

    def _is_constructed(self, cls: Cls) -> bool:
        """Whether JAX calls the class to build its objects."""
        for decorator in cls.node.decorator_list:
            parts = [decorator, *(decorator.args if isinstance(decorator, ast.Call) else ())]
            for one in parts:
                called = one.func if isinstance(one, ast.Call) else one
                if self.possible.name_of(called, cls.file) in _CONSTRUCTED:
                    return True
        for file, node in self.program.calls.get(_DATACLASS, ()):
            if node.args and cls in self.possible.of(node.args[0], file):
                return True
        member = self.possible.classes.member(cls, "tree_unflatten")
        if member is not None and _calls_its_class(member[1].node, cls):
            return True
        if self.possible.external_bases(cls) & _CONSTRUCTED_BASES:
            return True
        named = [one.func for one in cls.node.bases if isinstance(one, ast.Call)]
        return any(self.possible.name_of(one, cls.file) in _CONSTRUCTED_BASES for one in named)


def _calls_its_class(function: ast.AST, cls: Cls) -> bool:
    """Whether a class method creates an object by calling the class."""
    first = function.args.args[0].arg if isinstance(function, ast.FunctionDef) and function.args.args else ""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and part.func.id in (first, cls.node.name)
        for part in ast.walk(function)
    )
