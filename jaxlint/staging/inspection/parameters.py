"""What `inspect` says of single parameters, from what the calls seen pass for them: traced, static or unknown."""

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
    """What each parameter is in `contexts`; those of `called` come from calls, and not from a signature."""
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
        # What calls pass says more than a signature does.
        params.update({name: "static" for name in names if _is_setting(name, called)})
    if names and getattr(node, "name", "") == "__init__":
        params[names[0]] = "static"  # there is nothing in it yet
    if record.function.kind == "classmethod" and getattr(node, "name", "") == "tree_unflatten":
        # What is kept beside the leaves is compared and hashed.
        params.update(dict.fromkeys(names[:-1], "static"))
    return params


def gets_tracers(bound: dict[str, Value]) -> bool:
    """Whether an argument is, or may hold, a tracer."""
    return any(tracer_in(value) is not None for value in bound.values())


def surely_traced(value: Value) -> bool:
    """Whether a value certainly is or holds a tracer."""
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
        return "unknown"  # some calls may give a tracer, others give what cannot be one
    if "traced" in answers:
        return "traced"
    return answers.pop() if len(answers) == 1 else "unknown"


def _may_be_one(name: str, contexts: Contexts) -> bool:
    """Whether some contexts give what is a tracer or a setting, and the others what nobody knows."""
    values = [bound[name] for bound in contexts if name in bound]
    known = [value for value in values if not isinstance(value, Unknown)]
    return bool(known) and all(
        isinstance(value, Array) and value.staged and not _is_partly_staged(value) for value in known
    )


def _is_extra(name: str, record: FunctionRecord, contexts: Contexts) -> bool:
    """Whether it is None where a call leaves it out, and nothing but a framework's habit says that one does not."""
    if not _is_left_out(name, record):
        return False
    values = [tracer_in(bound[name]) for bound in contexts if name in bound]
    return all(value is None or (value.why is not None and value.why.rests_on_habit) for value in values)


def _take_carrier(params: dict[str, str], contexts: Contexts, record: FunctionRecord) -> None:
    """Sets to "traced" what must hold the tracers of these contexts, where everything that may is in doubt."""
    node = record.function.node
    unlikely = tested_names(node) | concrete_names(node)
    held = {
        name: [bound[name] for bound in contexts if name in bound and tracer_in(bound[name]) is not None]
        for name in params
        if name not in unlikely and not _STRUCTURE.search(name)
    }
    likely = [name for name, values in held.items() if any(classify(value) == "traced" for value in values)]
    # Of an object it is known, too, whether it has leaves.
    arrays = [name for name, values in held.items() if any(isinstance(value, Array) for value in values)]
    params.update(dict.fromkeys(likely or arrays, "traced"))


def _doubt(params: dict[str, str], contexts: Contexts, record: FunctionRecord) -> None:
    """Sets to "unknown" what may hold a tracer in these contexts, and as well none."""
    node = record.function.node
    rest = node.args.kwarg.arg if node.args.kwarg is not None else None
    seen = [o.bound for o in record.observations if o.context == "call" and not o.stage.staged]
    for name, answer in params.items():
        if answer != "traced":
            continue
        values = [bound[name] for bound in contexts if name in bound]
        if name == rest:
            # What is left over of keywords is mostly nothing.
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
    """Whether the function uses a parameter as no array can be used, or calls on the host (`plain`) and defaults speak of none."""
    node = record.function.node
    # Python asks for the truth of what `if` tests, and a tracer has none; nor can it be called.
    if name in tested_names(node) or name in concrete_names(node):
        return True
    several = isinstance(
        record.function.defaults.get(name), TupleValue
    )  # settings; one tracer does not replace them
    return several or (bool(plain) and all(map(_is_switch, plain)))


def _is_seldom(values: Sequence[Value]) -> bool:
    """Whether few contexts give a tracer, which is not certain, and of the others some what is none, some nobody knows what."""
    answers = [classify(value) for value in values]
    return {"static", "unknown"} <= set(answers) and answers.count("traced") < _FEW * len(answers)


def _is_seldom_staged(values: Sequence[Value]) -> bool:
    """Whether few contexts give an object that holds tracers, and the others objects that hold none."""
    if not all(isinstance(value, Instance) for value in values):
        return False
    return sum(tracer_in(value) is not None for value in values) < _FEW * len(values)


def _is_mostly_number(values: Sequence[Value]) -> bool:
    """Whether few contexts give a tracer, and all others a number, which then is a setting as a rule."""
    others = [value for value in values if tracer_in(value) is None]
    few = len(values) - len(others) < _FEW * len(values)
    return few and all(isinstance(value, Static) and is_number(value) for value in others)


def _is_left_out(name: str, record: FunctionRecord) -> bool:
    """Whether it is None where a call leaves it out."""
    default = record.function.defaults.get(name)
    return default is not None and is_none(default)


def _may_be_none(values: Sequence[Value]) -> bool:
    """Whether some contexts give None, and the others a tree of which nothing is known: None is one, too, without leaves."""
    known = [value for value in values if not isinstance(value, Unknown) and not is_none(value)]
    trees = all(isinstance(value, Array) and value.staged and value.tree for value in known)
    return trees and any(map(is_none, values))


_FEW, _QUARTER, _MOST = 0.2, 0.25, 0.9  # of the contexts of a function
# Names that programs give to what describes arrays or picks some, and is none, or is left out as often.
_STRUCTURE = re.compile(
    r"(?:^|_)(?:ax|axis|axes|dtype|filters?|masks?|mask_tree|name|names|path|paths|prefix|prefixes|shape|spec|specs|suffix|treedef)$"
)


def _is_switch(value: Value) -> bool:
    """Whether it is None, a bool or a string, which programs do not pass where others pass an array."""
    if not isinstance(value, Static):
        return False
    return value.kind in ("bool", "str") or value.const is None or isinstance(value.const, (bool, str))


def _names_tracer(value: Value) -> bool:
    return isinstance(value, DictValue) and any(map(surely_traced, _present(value)))


def _may_name_tracer(value: Value) -> bool:
    return isinstance(value, DictValue) and any(tracer_in(part) is not None for part in _present(value))


def _present(value: DictValue) -> list[Value]:
    """What a dict holds on every path, under names that are known."""
    return [part for key, part in value.items.items() if key not in value.optional]


def _is_empty(value: Value) -> bool:
    return isinstance(value, (TupleValue, ListValue, DictValue)) and not value.elements()


def _is_tree(value: Value) -> bool:
    """Whether nothing is known of the structure of a tree."""
    if isinstance(value, TupleValue):
        return value.items is None and value.element is not None and _is_tree(value.element)
    array = tracer_in(value)
    return array is None or (isinstance(value, Array) and value.tree)


def _is_setting(name: str, contexts: Contexts) -> bool:
    """Whether all calls pass what cannot hold a tracer."""
    values = [bound[name] for bound in contexts if name in bound]
    return bool(values) and all(
        _is_empty(value) or (_has_no_leaves(value) and classify(value) == "static") for value in values
    )


def _has_no_leaves(value: Value) -> bool:
    """Whether a value is of a kind that JAX takes for no tree of arrays, as a module of linen."""
    if isinstance(value, Instance):
        return value.cls.kind == "linen"
    return isinstance(value, (Static, ClassValue, External, ExternalObject))


def classify(value: Value) -> str:
    """ "traced" when the value is or holds a tracer, "static" when it is an ordinary Python value, else "unknown"."""
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
    """Whether a value that holds a tracer which is not certain is hardly ever without one."""
    if isinstance(value, Instance):
        if value.staged is None:
            return not array.mixed  # made there, of what is most likely one
        # It crossed into the stage with all of its leaves, where it is known to have any.
        # The variables of nnx are arrays, whatever holds them.
        settled = value.cls.kind == "nnx" or not array.mixed
        return settled and _has_leaves(value)
    if isinstance(value, DictValue):
        return bool(_present(value)) and not array.mixed  # what is left over of keywords is mostly empty
    return not (array.mixed and array.tree) and not _is_partly_staged(array)


def _is_partly_staged(array: Array) -> bool:
    """Whether a value is a tracer on some paths, and on others an array that is none."""
    return array.partly and not array.tree


_NUMBERS = frozenset({"float", "complex"})


def _has_leaves(value: Instance) -> bool:
    cls = value.cls
    if cls.kind == "nnx":
        return True
    fields = [declared for declared in cls.all_fields().values() if not _is_promise(declared, cls)]
    if cls.kind in ("equinox", "pytree"):
        # Of numbers and the like some boundaries make no tracers.
        return not all(
            declared.static or is_static_type(declared.annotation, _NUMBERS) for declared in fields
        )
    flatten = flattening(cls)
    leaves = leaf_attributes(flatten) if flatten is not None else None
    if leaves is not None:
        return leaves != []
    if fields:
        return not all(declared.static for declared in fields)
    return True  # what nothing is seen to register would not have come in


def _is_promise(declared: Field, cls: ClassValue) -> bool:
    """Whether a field is one that equinox asks of heirs alone (`AbstractVar`), and `cls` has it as an attribute of the class."""
    asked = getattr(declared.annotation, "value", None)
    return dotted(asked).endswith(PROMISES) and cls.lookup(declared.name) is not None
