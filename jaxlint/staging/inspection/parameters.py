"""The kind of each parameter for `inspect`, from the arguments of visible calls: traced, static or unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxlint.staging.evaluator.function_records import FunctionRecord
from jaxlint.staging.inspection.declared import Evaluate, is_declared_static
from jaxlint.staging.values import (
    Array,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Field,
    Instance,
    ListValue,
    Static,
    StaticLike,
    TupleValue,
    Unknown,
    Value,
    is_none,
    is_number,
)
from jaxlint.staging.values.pytrees import flattening, leaf_attributes, tracer_in
from jaxlint.syntax.facts import (
    PROMISES,
    all_parameters,
    concrete_names,
    dotted,
    handed_on,
    is_static_type,
    tested_names,
    used_as_arrays,
)

Contexts = Sequence[dict[str, Value]]


def parameter_facts(
    record: FunctionRecord, contexts: Contexts, called: Contexts, evaluate: Evaluate
) -> dict[str, str]:
    """The kind of each parameter in `contexts`. Those in `called` come from calls, not from a signature."""
    node = record.function.node
    names = [parameter.arg for parameter in all_parameters(node)]
    params = {name: _parameter(name, contexts) for name in names}
    for name in used_as_arrays(node):
        if (
            params[name] == "unknown"
            and _may_be_one(name, contexts)
            and not _is_extra(name, record, contexts)
        ):
            params[name] = "traced"
    _doubt(params, contexts, record)
    if "traced" not in params.values():
        _take_carrier(params, contexts, record)
    for name in names:
        sure = sum(name in bound and surely_traced(bound[name]) for bound in contexts)
        if (
            params[name] == "traced"
            and sure <= _QUARTER * len(contexts)
            and is_declared_static(name, record.function, evaluate)
        ):
            params[name] = "unknown"
    if called:
        # The arguments of calls are better evidence than a signature.
        params.update({name: "static" for name in names if _is_setting(name, called)})
    if names and getattr(node, "name", "") == "__init__":
        params[names[0]] = "static"  # it contains nothing yet
    if record.function.kind == "classmethod" and getattr(node, "name", "") == "tree_unflatten":
        # Auxiliary data is compared and hashed.
        params.update(dict.fromkeys(names[:-1], "static"))
    return params


def gets_tracers(bound: dict[str, Value]) -> bool:
    """Whether an argument is a tracer or may contain one."""
    return any(tracer_in(value) is not None for value in bound.values())


def surely_traced(value: Value) -> bool:
    """Whether a value certainly is a tracer or contains one."""
    array = tracer_in(value)
    return array is not None and (array.certain or isinstance(value, Instance))


def _parameter(name: str, contexts: Contexts) -> str:
    values = [bound[name] for bound in contexts if name in bound]
    answers = {classify(value) for value in values}
    nothing = any(isinstance(value, Static) and value.const is None for value in values)
    if (
        (nothing or "unknown" not in answers)
        and answers >= {"traced", "static"}
        and not any(map(surely_traced, values))
    ):
        return "unknown"  # some calls may pass a tracer, others pass a value that cannot be one
    if "traced" in answers:
        return "traced"
    return answers.pop() if len(answers) == 1 else "unknown"


def _may_be_one(name: str, contexts: Contexts) -> bool:
    """Whether some contexts pass a tracer or a setting, and the others an unknown value."""
    values = [bound[name] for bound in contexts if name in bound]
    known = [value for value in values if not isinstance(value, Unknown)]
    return bool(known) and all(
        isinstance(value, Array) and value.staged and not _is_partly_staged(value) for value in known
    )


def _is_extra(name: str, record: FunctionRecord, contexts: Contexts) -> bool:
    """Whether it is None if a call omits it, and only a framework's convention says that calls pass it."""
    if not _is_left_out(name, record):
        return False
    values = [tracer_in(bound[name]) for bound in contexts if name in bound]
    return all(value is None or (value.why is not None and value.why.is_by_convention) for value in values)


def _take_carrier(params: dict[str, str], contexts: Contexts, record: FunctionRecord) -> None:
    """If everything that may hold these contexts' tracers is in doubt, sets the parameter that must hold them to
    "traced"."""
    node = record.function.node
    unlikely = tested_names(node) | concrete_names(node)
    held = {
        name: [bound[name] for bound in contexts if name in bound and tracer_in(bound[name]) is not None]
        for name in params
        if name not in unlikely and not _STRUCTURE.search(name)
    }
    likely = [name for name, values in held.items() if any(classify(value) == "traced" for value in values)]
    # For an object it is also known whether it has leaves.
    arrays = [name for name, values in held.items() if any(isinstance(value, Array) for value in values)]
    params.update(dict.fromkeys(likely or arrays, "traced"))


def _doubt(params: dict[str, str], contexts: Contexts, record: FunctionRecord) -> None:
    """Sets to "unknown" each parameter that may or may not hold a tracer in these contexts."""
    node = record.function.node
    rest = node.args.kwarg.arg if node.args.kwarg is not None else None
    seen = [o.bound for o in record.observations if o.context == "call" and not o.stage.staged]
    for name, answer in params.items():
        if answer != "traced":
            continue
        values = [bound[name] for bound in contexts if name in bound]
        if name == rest:
            # Remaining keyword arguments are mostly empty.
            mostly = sum(map(_is_empty, values)) > _MOST * len(values)
            likely = sum(map(_may_name_tracer, values)) > len(values) / 2
            doubtful = mostly or not (likely or any(map(_names_tracer, values)))
        elif name == handed_on(node):
            # A tree that the function does not look into may have no leaves.
            doubtful = all(_is_tree(value) for value in values if not _is_empty(value))
        else:
            plain = [bound[name] for bound in seen if name in bound]
            structural = _STRUCTURE.search(name) is not None
            doubtful = (structural or _is_no_array(name, record, plain) or _is_seldom(values)) and not any(
                map(surely_traced, values)
            )
            doubtful = doubtful or _is_seldom_staged(values) or _is_mostly_number(values)
            doubtful = doubtful or (_is_left_out(name, record) and _may_be_none(values))
        if doubtful:
            params[name] = "unknown"


def _is_no_array(name: str, record: FunctionRecord, plain: Sequence[Value]) -> bool:
    """Whether the function uses a parameter in a way that arrays do not support, or host calls (`plain`) and
    defaults show that it is not an array.
    """
    node = record.function.node
    # Python needs the truth of an `if` test, which a tracer does not have; nor can a tracer be called.
    if name in tested_names(node) or name in concrete_names(node):
        return True
    several = isinstance(
        record.function.defaults.get(name), TupleValue
    )  # settings; one tracer does not outweigh them
    return several or (bool(plain) and all(map(_is_switch, plain)))


def _is_seldom(values: Sequence[Value]) -> bool:
    """Whether few contexts pass an uncertain tracer, and the others pass something else or unknown values."""
    answers = [classify(value) for value in values]
    return {"static", "unknown"} <= set(answers) and answers.count("traced") < _FEW * len(answers)


def _is_seldom_staged(values: Sequence[Value]) -> bool:
    """Whether few contexts pass an object that holds tracers, and the others objects that hold none."""
    if not all(isinstance(value, Instance) for value in values):
        return False
    return sum(tracer_in(value) is not None for value in values) < _FEW * len(values)


def _is_mostly_number(values: Sequence[Value]) -> bool:
    """Whether few contexts pass a tracer and all others a number, which then is usually a setting."""
    others = [value for value in values if tracer_in(value) is None]
    few = len(values) - len(others) < _FEW * len(values)
    return few and all(isinstance(value, Static) and is_number(value) for value in others)


def _is_left_out(name: str, record: FunctionRecord) -> bool:
    """Whether it is None if a call omits it."""
    default = record.function.defaults.get(name)
    return default is not None and is_none(default)


def _may_be_none(values: Sequence[Value]) -> bool:
    """Whether some contexts pass None and the others an unknown tree: None is also a tree, without leaves."""
    known = [value for value in values if not isinstance(value, Unknown) and not is_none(value)]
    trees = all(isinstance(value, Array) and value.staged and value.tree for value in known)
    return trees and any(map(is_none, values))


_FEW, _QUARTER, _MOST = 0.2, 0.25, 0.9  # contexts of a function
# Names that programs give to descriptions or selectors of arrays, which are not arrays or are often omitted.
_STRUCTURE = re.compile(
    r"(?:^|_)(?:ax|axis|axes|dtype|filters?|masks?|mask_tree|name|names|path|paths|prefix|prefixes|shape|spec|specs|suffix|treedef)$"
)


def _is_switch(value: Value) -> bool:
    """Whether it is None, a bool or a string, which programs do not pass in place of an array."""
    if not isinstance(value, Static):
        return False
    return value.kind in ("bool", "str") or value.const is None or isinstance(value.const, (bool, str))


def _names_tracer(value: Value) -> bool:
    return isinstance(value, DictValue) and any(map(surely_traced, _present(value)))


def _may_name_tracer(value: Value) -> bool:
    return isinstance(value, DictValue) and any(tracer_in(part) is not None for part in _present(value))


def _present(value: DictValue) -> list[Value]:
    """The values that a dict holds on every path under known names."""
    return [part for key, part in value.items.items() if key not in value.optional]


def _is_empty(value: Value) -> bool:
    return isinstance(value, (TupleValue, ListValue, DictValue)) and not value.elements()


def _is_tree(value: Value) -> bool:
    """Whether the structure of a tree is unknown."""
    if isinstance(value, TupleValue):
        return value.items is None and value.element is not None and _is_tree(value.element)
    array = tracer_in(value)
    return array is None or (isinstance(value, Array) and value.tree)


def _is_setting(name: str, contexts: Contexts) -> bool:
    """Whether all calls pass values that cannot hold a tracer."""
    values = [bound[name] for bound in contexts if name in bound]
    return bool(values) and all(
        _is_empty(value) or (_has_no_leaves(value) and classify(value) == "static") for value in values
    )


def _has_no_leaves(value: Value) -> bool:
    """Whether a value belongs to a kind that JAX does not treat as a tree of arrays, such as a linen module."""
    if isinstance(value, Instance):
        return value.cls.kind == "linen"
    return isinstance(value, (Static, ClassValue, External, ExternalObject))


def classify(value: Value) -> str:
    """The kind of a value: "traced" if it is or holds a tracer, "static" if it is an ordinary Python value, otherwise "unknown"."""
    array = tracer_in(value)
    if array is not None:
        return "traced" if array.certain or _likely_traced(value, array) else "unknown"
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        parts = value.elements()
        if not parts:
            return "static"
        return "unknown" if any(isinstance(part, Unknown) for part in parts) else "static"
    return "static" if isinstance(value, StaticLike) else "unknown"


def _likely_traced(value: Value, array: Array) -> bool:
    """Whether a value that holds an uncertain tracer almost always holds one."""
    if isinstance(value, Instance):
        if value.staged is None:
            return not array.mixed  # created there, from a probable tracer
        # It entered the stage with all its leaves, if it has any. The variables of nnx are arrays, whatever holds
        # them.
        settled = value.cls.kind == "nnx" or not array.mixed
        return settled and _has_leaves(value)
    if isinstance(value, DictValue):
        return bool(_present(value)) and not array.mixed  # remaining keyword arguments are mostly empty
    return not (array.mixed and array.tree) and not _is_partly_staged(array)


def _is_partly_staged(array: Array) -> bool:
    """Whether a value is a tracer on some paths and a concrete array on others."""
    return array.partly and not array.tree


_NUMBERS = frozenset({"float", "complex"})


def _has_leaves(value: Instance) -> bool:
    cls = value.cls
    if cls.kind == "nnx":
        return True
    fields = [declared for declared in cls.all_fields().values() if not _is_promise(declared, cls)]
    if cls.kind in ("equinox", "pytree"):
        # Some boundaries do not convert numbers and the like to tracers.
        return not all(
            declared.static or is_static_type(declared.annotation, _NUMBERS) for declared in fields
        )
    flatten = flattening(cls)
    leaves = leaf_attributes(flatten) if flatten is not None else None
    if leaves is not None:
        return leaves != []
    if fields:
        return not all(declared.static for declared in fields)
    return True  # without a registration it could not have entered


def _is_promise(declared: Field, cls: ClassValue) -> bool:
    """Whether a field is a promise that equinox requires of subclasses (`AbstractVar`), and `cls` has it as a class
    attribute."""
    asked = getattr(declared.annotation, "value", None)
    return dotted(asked).endswith(PROMISES) and cls.lookup(declared.name) is not None
