"""`trace-static-fields`: the numbers of a static object become arguments, so that other numbers do not recompile.

    @dataclass(frozen=True)
    class Physics: ...

    @partial(jax.jit, static_argnames=("physics", "grid"))
    def advance(u, physics, grid): ...

becomes

    @jax.tree_util.register_dataclass
    @dataclass(frozen=True)
    class Physics: ...

    @partial(jax.jit, static_argnames="grid")
    def advance(u, physics, grid): ...

A named tuple is a pytree without a decorator. Objects of the class stay hashable, so that they may be static elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

from jaxlint.codemods.compilation.traced_argument import (
    jit_of_function,
    remove_static,
    static_parameters,
)
from jaxlint.codemods.facts.applied_transforms import JITS, PARTIAL, applied
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, parameters
from jaxlint.codemods.purity.traced_before import is_jitted
from jaxlint.codemods.purity.values import Box, Cls, Ext, Inst, Unknown, Value, leaves_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import program_and_file
from jaxlint.finding import Step

_REGISTER = "jax.tree_util.register_dataclass"
_DATACLASS = "dataclasses.dataclass"
_TUPLE = "typing.NamedTuple"
_NUMBERS = frozenset(
    {"float", "complex"}
)  # annotations of fields that become arrays: an integer may be a size
_BUILDING = frozenset(
    {"__init__", "__new__", "__post_init__", "__setattr__", "__getattr__", "__getattribute__"}
)
# These only read the fields of an object, or make another of its class.
_HOST = frozenset({"dataclasses.replace", "print", "repr", "str", "hash", "id", "isinstance", "type", "len"})


@codemod("trace-static-fields")
def trace_static_fields(draft: Draft, step: Step) -> None:
    """The span is the call of jax.jit, the decorator, or the decorated function. Parameters: `name`, that of the function's parameter;
    `fields`, those that differed between its calls, by default all real numbers."""
    site = draft.site
    name = str(step.parameters["name"])
    varying = step.parameters.get("fields")
    node = site.find_ast(step.span, ast.Call, ast.Name, ast.Attribute, ast.FunctionDef)
    call, found = jit_of_function(site, node)
    if applied(site, call) not in JITS or not isinstance(found, ast.FunctionDef):
        raise Refused("only functions with a `def` of their own are looked through")
    program, file = program_and_file(draft)
    function = file.same(found)
    possible = PossibleValues(program)
    parameter = next((one for one in parameters(function) if one.arg == name), None)
    if parameter is None:
        raise Refused(f"the function has no parameter `{name}`")
    cls = _class_of(possible.of_parameter(parameter, file), name)
    if cls.file is not file:
        raise Refused(f"`{cls.node.name}` is defined in another file")
    fields = _fields_of(cls, possible)
    is_tuple = [possible.name_of(base, file) for base in cls.node.bases] == [_TUPLE]
    reals = [one for one, kind in fields.items() if ast.unparse(kind) in _NUMBERS]
    wanted = [str(one) for one in varying] if isinstance(varying, list | tuple) else reals
    traced = _traced_fields(fields, wanted, every=is_tuple)
    static = static_parameters(site, call, found)
    _check_reads(possible, function, file, static, traced)
    for what in _other_uses(possible, cls):
        raise Refused(what)
    remove_static(draft, call, found, name)
    if not is_tuple:
        _register(draft, site, _same_class(site, cls), traced, fields)


def _class_of(values: Set[Value], name: str) -> Cls:
    """The one class that the values of a parameter have, apart from calls by other programs. Raises Refused."""
    own = leaves_of(frozenset(values)) - {Unknown(name)}
    classes = {one.cls if isinstance(one, Inst) else None for one in own}
    (cls,) = classes if len(classes) == 1 else (None,)
    if cls is None:
        raise Refused(f"`{name}` may be something else than an object of one class of the program")
    return cls


def _fields_of(cls: Cls, possible: PossibleValues) -> Mapping[str, ast.expr]:
    """The fields of a frozen dataclass or named tuple, with their annotations. Raises Refused for other classes."""
    node, file = cls.node, cls.file
    bases = [possible.name_of(base, file) for base in node.bases]
    if len(possible.classes.heirs(cls)) > 1:
        raise Refused(f"other classes derive from `{node.name}`")
    if bases != [_TUPLE]:
        decorators = possible.classes.decorators(cls)
        if decorators != [_DATACLASS] or bases or not _is_frozen(node.decorator_list[0]):
            raise Refused(f"`{node.name}` is no frozen dataclass without bases, and no named tuple")
    names = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    if changed := sorted(names & _BUILDING):
        raise Refused(f"`{node.name}` has a `{changed[0]}`, which JAX would call with tracers")
    found = {
        one.target.id: one.annotation
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    if any("ClassVar" in ast.unparse(one) or "InitVar" in ast.unparse(one) for one in found.values()):
        raise Refused(f"not every annotation of `{node.name}` is a field")
    return found


def _is_frozen(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        one.arg == "frozen" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in decorator.keywords
    )


def _traced_fields(fields: Mapping[str, ast.expr], varying: Sequence[str], *, every: bool) -> list[str]:
    """The fields that become arrays: those that varied, and other real numbers; of a named tuple all."""
    if not varying or not set(varying) <= set(fields):
        raise Refused("the numbers that differ are no fields of the class")
    chosen = [one for one, kind in fields.items() if one in varying or every or ast.unparse(kind) in _NUMBERS]
    others = [one for one in varying if ast.unparse(fields[one]) not in _NUMBERS]
    if others:
        raise Refused(f"`{others[0]}` is not annotated as a real number, so it may be a size or a switch")
    return chosen


def _check_reads(
    possible: PossibleValues, function: ast.FunctionDef, file: File, static: Set[str], fields: Sequence[str]
) -> None:
    """Raises Refused if the compiled code needs one of the numbers itself."""
    traced = Traced(possible, attributes=frozenset(fields))
    traced.start(function, file, static)  # the object itself is none, but its fields are
    for what in traced.problems():
        raise Refused(what)


def _other_uses(possible: PossibleValues, cls: Cls) -> Iterator[str]:
    """The calls of libraries that would see the fields of an object where they saw the object before, in words."""
    program = possible.program
    for file in program.files:
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Call):
                continue
            callees = possible.of(node.func, file)
            libraries = [
                one.name
                for one in callees
                if isinstance(one, Ext) and one.name not in (*_HOST, _DATACLASS, PARTIAL)
            ]
            if not libraries or any(is_jitted(one, possible) for one in callees):
                continue
            for given in (*node.args, *(one.value for one in node.keywords)):
                if any(_holds(one, cls) for one in possible.of(given, file)):
                    yield f"`{libraries[0]}` gets a `{cls.node.name}` at {program.place(file, node)}"


def _holds(value: Value, cls: Cls) -> bool:
    """Whether a value is an object of a class, or a container with one."""
    if isinstance(value, Box):
        return any(_holds(one, cls) for one in value.parts())
    return isinstance(value, Inst) and value.cls == cls


def _same_class(site: Site, cls: Cls) -> ast.ClassDef:
    place = (cls.node.lineno, cls.node.col_offset)
    for node in ast.walk(site.tree):
        if isinstance(node, ast.ClassDef) and (node.lineno, node.col_offset) == place:
            return node
    raise Refused(f"`{cls.node.name}` is not in this file")


def _register(
    draft: Draft, site: Site, node: ast.ClassDef, traced: Sequence[str], fields: Mapping[str, ast.expr]
) -> None:
    """Writes the decorator that tells JAX which fields are arrays."""
    register = reference(site, draft.imports, _REGISTER, node)
    if len(traced) < len(fields):
        partial = reference(site, draft.imports, PARTIAL, node)
        others = [one for one in fields if one not in traced]
        register = f"{partial}({register}, data_fields={_listed(traced)}, meta_fields={_listed(others)})"
    line = min((one.lineno for one in node.decorator_list), default=node.lineno)
    draft.insert(line, 1, f"{' ' * node.col_offset}@{register}{Layout(site).newline}")


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{one}"' for one in names) + "]"
