"""The side effects of calls: of functions, objects and methods of the program, and of external ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import called_back
from jaxlint.codemods.purity.expressions import HOLDERS
from jaxlint.codemods.purity.freshness import Freshness
from jaxlint.codemods.purity.patched_libraries import replaced
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Problem, Walk, is_generator, problem
from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.results import RENEWING
from jaxlint.codemods.purity.traced_before import is_jitted
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
    Unknown,
    Value,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.text_edits import shown_source

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
_FUNCTION_ARGUMENTS = {"jax.lax.cond": (1, 2), "jax.lax.while_loop": (0, 1), "jax.lax.fori_loop": (2,), "jax.lax.switch": (1,), "sorted": (), "min": (), "max": (),
                       "jax.tree.leaves": (), "jax.tree.flatten": (), "jax.tree.reduce": (0,), "equinox.partition": (), "equinox.filter": (), "equinox.tree_at": (0,),
                       "jax.tree.transpose": (), "jax.tree.all": (), "jax.lax.reduce": (2,)}  # fmt: skip
_BY_NAME = ("setattr", "delattr", "__setattr__", "__delattr__")


class CallEffects:
    """The part of an effects walk that handles calls."""

    def __init__(self, possible: PossibleValues, walk: Walk, freshness: Freshness) -> None:
        self.possible, self.program = possible, possible.program
        self.walk, self.region, self.freshness = walk, walk.region, freshness
        self.traced: set[Fn] = set()  # jitted functions that were visited

    def of_call(
        self, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        values = self.possible.of(node.func, file)
        if not values:
            yield problem(self.program, "calls an unknown function", node, file, certain=False)
        for value in sorted(values, key=repr) if len(values) > 1 else values:
            yield from self._callee(value, node, file, function, fresh_self)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            for value in self.possible.of(argument, file):
                if isinstance(value, (Fn, Wrapped)):
                    yield from self._callee(value, node, file, function, fresh_self)

    def _callee(
        self, value: Value, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if isinstance(value, Fn):
            if is_jitted(value, self.possible):
                yield from self._traced_already(value)
            else:
                held = node.func.value if isinstance(node.func, ast.Attribute) else None
                own = (
                    held is not None
                    and value.receiver is not None
                    and self.freshness.is_fresh_holder(held, file, function, fresh_self)
                )
                yield from self.walk.of_call(value.node, value.file, fresh_self=own)
        elif isinstance(value, Wrapped):
            yield from self._wrapped(value, node, file, function, fresh_self)
        elif isinstance(value, Cls):
            yield from self._constructed(value, node, file)
        elif isinstance(value, Ext):
            if not self._fills_new_object(value.name, node, file, function, fresh_self):
                yield from self._external(value.name, node, file)
        elif isinstance(value, Method):
            yield from self._method(value, node, file, function, fresh_self)
        elif isinstance(value, Inst):
            yield from self._called_object(value, node, file)
        elif isinstance(value, Made):
            yield from self._called_back(value, node, file)
            yield from self._called_made(value, node, file)
        elif isinstance(value, Unknown):
            yield from self._unknown(node, file, function, fresh_self)
        elif value in (ARRAY, NUMPY, NUMBER, TEXT):
            return  # a call of these can only fail
        else:
            yield problem(self.program, "calls an unknown function", node, file, certain=False)

    def _wrapped(
        self, value: Wrapped, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if value.how not in known_functions.TRANSFORMS and value.how != "jax.vjp":
            what = (
                "caches results of earlier calls"
                if "cache" in value.how
                else f"is called through `{value.how}`, which may do anything"
            )
            yield problem(self.program, what, node, file, certain="cache" in value.how)
            return
        for inner in value.inner:
            yield from self._callee(inner, node, file, function, fresh_self)

    def _traced_already(self, function: Fn) -> Iterator[Problem]:
        """The known effects of a function that the program jits: what is unknown in it is traced in any case, and was not harmful."""
        if function in self.traced:
            return
        self.traced.add(function)
        # Another walk: what is unknown still counts where it is called without the jit.
        found = self.walk.anew().of_call(function.node, function.file, fresh_self=False)
        yield from (one for one in found if one.certain)

    def _constructed(self, value: Cls, node: ast.Call, file: File) -> Iterator[Problem]:
        bases = self.possible.external_bases(value) - _BASES
        if bases:
            stateful = all(base.startswith(known_functions.STATE_MODULES) for base in bases)
            if not (stateful and self.region.carries_nnx):
                what = "an object that holds state" if stateful else "an object of an unknown class"
                yield problem(self.program, f"makes {what}", node, file, certain=False)
                return
        for name in ("__new__", "__init__", "__post_init__"):
            member = self.possible.classes.member(value, name)
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                yield from self.walk.of_call(member[1].node, member[0].file, fresh_self=True)

    def _external(self, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        if "." not in name:
            yield from self._builtin(name, node, file)
            return
        if (why := replaced(name, self.possible)) is not None:
            yield problem(self.program, f"calls `{name}`, which {why}", node, file, certain=True)
            return
        if any(keyword.arg == "out" for keyword in node.keywords) and name.startswith("numpy."):
            yield problem(
                self.program, "writes into an array that other code may see", node, file, certain=True
            )
        if name.startswith("numpy.") and name.endswith(".at"):
            yield problem(self.program, "changes an array in place", node, file, certain=True)
        elif self.region.carries_nnx and known_functions.makes_nnx(name):
            # It draws from its argument's streams of random numbers: `nnx.jit` carries those of its arguments.
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if self.walk.is_nnx(argument, file) and self.walk.comes_from_outside(argument, file):
                    yield problem(
                        self.program,
                        f"may change `{shown_source(argument)}`, which is not its argument",
                        node,
                        file,
                        certain=False,
                    )
        elif not known_functions.computes(name):
            certain = name.startswith(_WORLD)
            what = (
                "depends on or changes something outside the program" if certain else "may have a side effect"
            )
            yield problem(self.program, what, node, file, certain=certain)
        elif name in known_functions.TRANSFORMS or name in known_functions.CALLERS:
            for index in _FUNCTION_ARGUMENTS.get(name, (0,)):
                yield from self._function_argument(name, index, node, file)

    def _fills_new_object(
        self, name: str, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> bool:
        """Whether `setattr` or the like sets an attribute of an object that was created here, and runs no code of its
        class."""
        if name.rpartition(".")[2] not in _BY_NAME or name.rpartition(".")[0] not in ("", "object"):
            return False
        if not node.args or not self.freshness.is_fresh_holder(node.args[0], file, function, fresh_self):
            return False
        own = self.possible.classes.class_around(function, file) if function is not None else None
        held = {one.cls for one in self.possible.of(node.args[0], file) if isinstance(one, Inst)}
        classes = [*held, *([own] if own is not None and fresh_self else [])]
        for cls in {one for each in classes for one in self.possible.classes.line(each)}:
            for part in ast.walk(cls.node):
                if isinstance(part, ast.Attribute) and part.attr in ("setter", "deleter"):
                    return False
                if isinstance(part, ast.FunctionDef) and part.name in _BY_NAME and "." not in name:
                    return False
                if isinstance(part, ast.FunctionDef) and part.name == "__set_name__":
                    return False
        return bool(classes)

    def _function_argument(self, name: str, index: int, node: ast.Call, file: File) -> Iterator[Problem]:
        if index >= len(node.args):
            if any(isinstance(one, ast.Starred) for one in node.args) or not (
                node.keywords or name in known_functions.TRANSFORMS
            ):
                yield problem(self.program, "calls an unknown function", node, file, certain=False)
            return
        values = leaves_of(self.possible.of(node.args[index], file))
        if not values:
            yield problem(self.program, "calls an unknown function", node, file, certain=False)
        for value in values:
            if isinstance(value, Unknown):
                yield problem(
                    self.program, f"passes an unknown function to `{name}`", node, file, certain=False
                )
            elif not isinstance(value, (Fn, Wrapped)):
                yield from self._callee(
                    value, ast.copy_location(ast.Call(node.args[index], [], []), node), file, None, False
                )

    def _builtin(self, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        if name in known_functions.BUILTINS:
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
                    for value in self.possible.of(argument, file):
                        if isinstance(value, Inst):
                            yield from self.walk.of_special_methods(value)
                        elif is_generator(value):
                            yield problem(self.program, "advances a generator", node, file, certain=True)
            return
        if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
            return
        certain = name.startswith(_WORLD) or name in ("next", "vars", "locals", "memoryview")
        yield problem(
            self.program,
            "depends on or changes something outside the function"
            if certain
            else "calls an unknown function",
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
                yield problem(self.program, "accesses the buffer of an array", node, file, certain=True)
        elif receiver in (TEXT, NUMBER):
            return
        elif receiver == NUMPY or isinstance(receiver, Box):
            held = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in known_functions.CHANGING and not (
                held is not None and self.freshness.is_fresh_holder(held, file, function, fresh_self)
            ):
                yield problem(
                    self.program, "changes an object that other code may see", node, file, certain=True
                )
        elif (
            isinstance(receiver, Wrapped) and receiver.how.startswith("haiku.") and name in ("apply", "init")
        ):
            yield from self._wrapped(receiver, node, file, function, fresh_self)
        elif isinstance(receiver, Inst):
            yield from self._inherited(receiver, name, node, file)
        elif isinstance(receiver, Made):
            yield from self._called_back(receiver, node, file)
            yield from self._of_made(receiver, name, node, file)
        else:
            yield problem(self.program, "calls an unknown function", node, file, certain=False)

    def _called_back(self, made: Made, node: ast.Call, file: File) -> Iterator[Problem]:
        """The program's functions that a library object calls."""
        for value in called_back(made):
            if not isinstance(value, Inst) or self.possible.classes.member(value.cls, "__call__") is not None:
                yield from self._callee(value, node, file, None, False)

    def _of_made(self, receiver: Made, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        made = receiver.name
        if made == "super":
            return  # its base classes certainly do nothing else, as its constructor shows
        if made.startswith(
            ("optax.", "haiku.", "flax.linen.", "distrax.", "equinox.", "jmp.", "jax.")
        ) and not made.startswith("jax.debug"):
            return
        if made.startswith(HOLDERS) and name in RENEWING:
            return
        if made.startswith(known_functions.STATE_MODULES):
            held = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if not self.region.carries_nnx or self.walk.comes_from_outside(held, file):
                yield problem(
                    self.program,
                    "changes the state of a module, which only `nnx.jit` carries",
                    node,
                    file,
                    certain=False,
                )
            return
        if (
            made.startswith(("collections.", "types.", "re.", "fractions."))
            and name not in known_functions.CHANGING
        ):
            return
        certain = made.startswith((*_WORLD, "numpy.random.", "argparse.")) or name in (
            "write",
            "put",
            "append",
            "log",
        )
        yield problem(
            self.program,
            f"is a method of the result of `{made}`, which may do anything",
            node,
            file,
            certain=certain,
        )

    def _inherited(self, receiver: Inst, name: str, node: ast.Call, file: File) -> Iterator[Problem]:
        """A method that a program class inherits from a library."""
        bases = self.possible.external_bases(receiver.cls)
        if bases and all(base.startswith(_FUNCTIONAL) or base in _BASES for base in bases):
            if name in ("apply", "init", "init_with_output", "bind", "__call__"):
                yield from self._all_methods(receiver)
            return
        if any(base.startswith(known_functions.STATE_MODULES) for base in bases):
            yield from self._module_state(node, file)
            return
        yield problem(self.program, "calls an unknown function", node, file, certain=False)

    def _module_state(self, node: ast.Call, file: File) -> Iterator[Problem]:
        if not self.region.carries_nnx:
            said = "may change the state of a module, which only `nnx.jit` carries"
            yield problem(self.program, said, node, file, certain=False)

    def _all_methods(self, receiver: Inst) -> Iterator[Problem]:
        for cls in self.possible.classes.heirs(receiver.cls):
            for statement in cls.node.body:
                if isinstance(statement, ast.FunctionDef):
                    yield from self.walk.of_call(
                        statement,
                        cls.file,
                        fresh_self=statement.name in ("setup", "__init__", "__post_init__"),
                    )

    def _called_object(self, value: Inst, node: ast.Call, file: File) -> Iterator[Problem]:
        if self.possible.is_nnx(value) and not self.region.carries_nnx:
            yield from self._module_state(node, file)
            return
        found = False
        for cls in self.possible.classes.heirs(value.cls):
            member = self.possible.classes.member(cls, "__call__")
            if member is not None and isinstance(member[1].node, ast.FunctionDef):
                found = True
                yield from self.walk.of_call(member[1].node, member[0].file, fresh_self=False)
        if not found:
            yield problem(self.program, "calls an unknown function", node, file, certain=False)

    def _called_made(self, value: Made, node: ast.Call, file: File) -> Iterator[Problem]:
        if value.name.startswith(
            ("flax.linen.", "haiku.", "equinox.", "optax.", "jax.", "numpy.", "operator.")
        ):
            return
        if value.name.startswith(known_functions.STATE_MODULES) and self.region.carries_nnx:
            return
        yield problem(
            self.program, f"calls the result of `{value.name}`, which is unknown", node, file, certain=False
        )

    def _unknown(
        self, node: ast.Call, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        """A method of an unknown object: probably an array or a tree of arrays, unless its name says otherwise."""
        called = node.func
        if isinstance(called, ast.Attribute):
            held = called.value
            if called.attr in known_functions.CHANGING and self.freshness.is_fresh_holder(
                held, file, function, fresh_self
            ):
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
            if called.attr in known_functions.HARMLESS_METHODS:
                for file_, one in own:
                    yield from self.walk.of_call(one, file_, fresh_self=False)
                return
        yield problem(
            self.program, "calls an unknown function, which may do anything", node, file, certain=False
        )

    def _methods_named(self, name: str) -> Sequence[tuple[File, ast.FunctionDef]]:
        return [
            (file, statement)
            for entries in self.program.classes.values()
            for file, cls in entries
            for statement in cls.body
            if isinstance(statement, ast.FunctionDef) and statement.name == name
        ]
