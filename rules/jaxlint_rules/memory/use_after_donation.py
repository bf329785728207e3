"""Buffers that are read after their donation."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from jaxlint.api import (
    DonatedReadEvent,
    DonationEvent,
    Module,
    Reporter,
    Rule,
    SharedPlacesEvent,
    StagedReturnEvent,
)
from jaxlint.api.syntax import dotted, name_loads, place_of, walk
from jaxlint.api.tables import canonical_dtype, strong
from jaxlint.api.values import (
    UNKNOWN,
    Array,
    ClassValue,
    DictValue,
    External,
    Instance,
    ListValue,
    TupleValue,
    Unknown,
    Value,
    leaves_in,
    parts_of,
    shape_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name

_UPDATES = re.compile(r"step|update|train|learn")
_METRICS = re.compile(r"eval|loss|metric|valid|test|predict|infer|represent")
_COPIES = re.compile(r"\bdevice_put\w*\(|\breplicate\w*\(|\bshard_\w+\(")  # new leaves, on several devices
_DATA = re.compile(
    r"batch|inputs?|images?|labels?|targets?|examples?|data"
)  # parameters of a step that returns none of them

_Type = tuple[tuple[int, ...], str]


class UseAfterDonation(Rule):
    """A donated buffer is read after the call.

    ## What it does
    Finds reads of an array after it was donated to a jitted function: after the call, in the next
    iteration of a loop, through another name for the same array (a target network, the best
    parameters so far, a state built from them), or as a second argument of the same call. Also finds
    states that hold one array twice (`State(params=w, target=w)`) and are donated.

    ## Why is this bad?
    Donation gives the buffer to the call: XLA may write a result into it, and JAX deletes the old
    array. Reading it raises `RuntimeError: Array has been deleted`. Assignments, `jnp.asarray`,
    `dict.copy` and `state.replace` share buffers; none of them copies.

    ## Example
    ```python
    step = jax.jit(update, donate_argnums=0)

    target = params
    for batch in batches:
        params = step(params, loss(target, batch))
    ```

    ## Use instead
    ```python
    target = jax.tree.map(jnp.copy, params)
    for batch in batches:
        params = step(params, loss(target, batch))
    ```

    ## Fix safety
    There is no automatic fix: only you know whether to copy the array, rebind the name or stop
    donating.

    ## When not to fix
    JAX ignores the donation, and deletes nothing, if no result has the shape and dtype of the
    argument. It warns about that; remove the donation then. Not reported: a parameter that the
    function does not read, which `jax.jit` drops, so that its buffer is not deleted.

    The finding is an error if the array is read under the name that was donated and the function
    visibly returns it. Otherwise it is a warning.

    ## References
    - [JAX: buffer donation](https://docs.jax.dev/en/latest/buffer_donation.html)
    """

    code = "JAX602"
    name = "use-after-donation"
    category = "memory"
    severity = Severity.ERROR
    follows_calls = True

    def __init__(self) -> None:
        self.reads: dict[tuple[ast.AST, str], DonatedReadEvent] = {}
        self.matched: set[tuple[ast.AST, str]] = set()  # parameters that have a result of matching shape
        self.returned: set[tuple[ast.AST, str]] = set()  # those of them that are visibly returned
        self.unread: set[tuple[ast.AST, str]] = set()  # parameters that the function does not read
        self.donated: dict[tuple[ast.ClassDef, str], DonationEvent] = {}
        # By class: two attributes, and the method at whose end they are one buffer.
        self.shared: dict[ast.ClassDef, dict[tuple[str, str], ast.FunctionDef]] = {}

    def on_donated_read(self, event: DonatedReadEvent, report: Reporter) -> None:
        owner = event.frame.owner
        at_call = event.how in ("twice", "shared")
        place = f"{event.place} at {id(event.node)}" if at_call else event.place
        self.reads.setdefault((owner, place), event)  # one finding for one name

    def on_shared_places(self, event: SharedPlacesEvent, report: Reporter) -> None:
        function = event.frame.function
        if function is None or function.cls is None or not isinstance(function.node, ast.FunctionDef):
            return
        arguments = function.node.args.args
        owner = f"{arguments[0].arg}." if arguments else ""
        for first, second in event.pairs:
            names = first.removeprefix(owner), second.removeprefix(owner)
            if owner and first.startswith(owner) and second.startswith(owner) and "." not in "".join(names):
                self.shared.setdefault(function.cls.node, {}).setdefault(names, function.node)

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        """The parameters that are returned with their own shape, as far as that is known."""
        if not any(key.startswith("donate") for key in event.transformed.options):
            return
        named = _UPDATES.search(event.transformed.label.lower()) and not _METRICS.search(
            event.transformed.label.lower()
        )
        origins = {_origin(leaf) for leaf in leaves(event.value)}
        # `donate="all"` names none, so the returned ones must be visible.
        by_name = event.transformed.kind != "filter_jit"
        opaque = named and by_name and any(_is_opaque(leaf) for leaf in leaves(event.value))
        kept = "keep_unused" in event.transformed.options
        read = {node.id for node in name_loads(event.function.node)}
        for name, value in event.parameters.items():
            if not kept and name not in read:
                self.unread.add((event.transformed.node, name))
            given = {_origin(leaf) for leaf in leaves(value)} - {None}
            parameter = (event.transformed.node, name)
            if given & origins:
                self.returned.add(parameter)
            if (opaque and not _DATA.fullmatch(name.lower().rpartition("_")[2])) or given & origins:
                self.matched.add(parameter)

    def tell(self, event: DonatedReadEvent, report: Reporter) -> None:
        report.event = event
        donation = event.donation
        line = getattr(donation.node, "lineno", "?")
        if event.how == "twice":
            message = f"`{event.place}` is passed twice to `{donation.label}`, which donates it: JaxRuntimeError; pass a copy"
            reason = f"a donated buffer (`{donation.parameter}`) cannot be another argument of the same call"
        elif event.how == "shared":
            message = f"`{event.place}` may be `{donation.place}`, which `{donation.label}` donates: JaxRuntimeError; pass a copy"
            reason = (
                "both names hold one buffer on a path to this call, and a donated buffer can be passed once"
            )
        else:
            then = "returned" if event.how == "returned" else "read"
            raising = ", and reading it" if event.how == "returned" else ", which"
            message = f"`{event.place}` is {then} after donation{raising} raises RuntimeError: array has been deleted"
            same = "" if donation.place == event.place else f"; `{event.place}` may share its buffers"
            reason = f"`{donation.label}` donates `{donation.parameter}`, and line {line} passes `{donation.place}` to it{same}"
        # Another name may hold other buffers, and JAX deletes nothing if no result has the argument's shape.
        certain = (
            donation.place == event.place and (donation.target.node, donation.parameter) in self.returned
        )
        report(event.node, message, reason=reason, severity=Severity.ERROR if certain else Severity.WARNING)

    def on_donation(self, event: DonationEvent, report: Reporter) -> None:
        """Records attributes that a method donates, to compare with those that `__init__` binds to the same arrays."""
        function = event.frame.function
        place = event.donation.place
        if (twice := held_twice(event.frame.value_of(place), event.frame.module)) is not None:
            first, second, shared = twice
            report(
                event.node,
                f"`{place}` holds `{shared}` as `{first}` and `{second}`, and is donated: JaxRuntimeError; copy one of them",
                reason=f"`{event.donation.label}` donates `{event.donation.parameter}`, and a buffer can be donated once",
                severity=Severity.WARNING,
            )
        statement = event.assignment()
        if (
            isinstance(statement, ast.Assign)
            and any(place_of(part) == place for target in statement.targets for part in walk(target))
        ) or _all_find_a_place(event.given, event.result):
            self.matched.add((event.donation.target.node, event.donation.parameter))
        if function is None or function.cls is None or "." not in place:
            return
        arguments = function.node.args.args
        if not arguments or place.partition(".")[0] != arguments[0].arg or place.count(".") != 1:
            return
        self.donated.setdefault((function.cls.node, place.partition(".")[2]), event)

    def finish(self, report: Reporter) -> None:
        """Attributes that share their arrays with a donated one since the constructor."""
        told = {
            (owner, event.place) for (owner, _), event in self.reads.items() if event.how == "shared"
        }  # one cause
        for (owner, _), read in self.reads.items():
            if read.how != "shared" and (owner, read.place) in told:
                continue
            target = read.donation.target
            outside = isinstance(target.target, External)  # `jax.jit(jnp.sin)`
            parameter = (target.node, read.donation.parameter)
            if outside or (parameter in self.matched and parameter not in self.unread):
                self.tell(read, report)
        for (cls, name), event in self.donated.items():
            for other, binding in _twins(cls, name, self.shared.get(cls, {})):
                report.event = event
                for method in cls.body:
                    if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                        self.check_method(cls, method, other, name, binding, event, report)

    def check_method(
        self,
        cls: ast.ClassDef,
        method: ast.FunctionDef,
        other: str,
        name: str,
        binding: ast.AST,
        event: DonationEvent,
        report: Reporter,
    ) -> None:
        if not method.args.args:
            return
        owner = method.args.args[0].arg
        bound = min(
            (
                n.lineno
                for n in walk(method)
                if isinstance(n, ast.Attribute)
                and isinstance(n.ctx, ast.Store)
                and dotted(n) == f"{owner}.{other}"
            ),
            default=1 << 30,
        )
        reads = [
            n
            for n in walk(method)
            if isinstance(n, ast.Attribute)
            and isinstance(n.ctx, ast.Load)
            and dotted(n) == f"{owner}.{other}"
            and n.lineno <= bound
            and not _only_bound(n, report.module)
        ]
        if reads:
            first = min(reads, key=lambda n: (n.lineno, n.col_offset))
            donation = event.donation
            report(
                first,
                f"`{owner}.{other}` is read after donation, which raises RuntimeError: array has been deleted",
                reason=(
                    f"line {getattr(binding, 'lineno', '?')} stores the arrays of `{name}` in `{other}`, and `{donation.label}` donates "
                    f"`{donation.place}` at line {getattr(donation.node, 'lineno', '?')}"
                ),
                severity=Severity.WARNING,  # other methods may bind it before
                function=f"{cls.name}.{method.name}",
            )


def _all_find_a_place(given: list[Value], result: Value) -> bool:
    """Whether each donated array has a result of its own with the same shape and dtype, so that none is kept."""
    found = leaves_in(result)
    if found is None:
        return False
    donated: Counter[_Type] = Counter()
    for leaf in (leaf for value in given for leaf in leaves_in(value) or [UNKNOWN]):
        kind = _shape_and_dtype(leaf)
        if kind is None:
            return False
        donated[kind] += 1
    return bool(donated) and not donated - Counter(kind for kind in map(_shape_and_dtype, found) if kind)


def _shape_and_dtype(value: Value) -> _Type | None:
    """None if one of them is unknown."""
    if not isinstance(value, Array) or value.tree or value.mixed or not value.certain:
        return None
    shape, dtype = shape_of(value), canonical_dtype(value.dtype)
    return (shape, strong(dtype)) if shape is not None and dtype else None


def leaves(value: Value, depth: int = 3) -> Iterator[Value]:
    """The arrays, objects and unknown values in a value."""
    yield value
    if depth > 0:
        for part in parts_of(value):
            yield from leaves(part, depth - 1)


def held_twice(value: Value | None, module: Module) -> tuple[str, str, str] | None:
    """Two fields of an object, or items of a dict, that the file gives one variable, and the variable: `State(params=w,
    target=w)`."""
    cls = value.cls if isinstance(value, (Instance, TupleValue)) else None
    parts: dict[Any, Value]
    if isinstance(value, Instance):
        parts = dict(value.fields)
    elif isinstance(value, DictValue):
        parts = dict(value.items)
    elif isinstance(value, TupleValue) and cls is not None and value.items is not None:
        parts = dict(zip(cls.all_fields(), value.items, strict=False))
    else:
        return None
    if _COPIES.search(module.source.text):
        return None
    for first, second in combinations(parts, 2):
        held = parts[first]
        if held is parts[second] and isinstance(held, (Array, ListValue, DictValue, TupleValue, Instance)):
            shared = _given_to_both(str(first), str(second), cls, module)
            if shared:
                return str(first), str(second), shared
    return None


def _given_to_both(first: str, second: str, cls: ClassValue | None, module: Module) -> str:
    """The variable that one call, or one dict, in the file passes as both."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            given: dict[object, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
            if cls is not None and last_name(node.func) == cls.name and cls.lookup("__init__") is None:
                given |= zip(cls.all_fields(), node.args, strict=False)
        elif isinstance(node, ast.Dict):
            given = {
                key.value: value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            }
        else:
            continue
        texts = [dotted(given[name]) if name in given else "" for name in (first, second)]
        if texts[0] and texts[0] == texts[1]:
            return texts[0]
    return ""


def _origin(value: Value) -> object:
    if isinstance(value, Array):
        origin = value.like or value.origin
    else:
        origin = value.origin if isinstance(value, (Unknown, Instance)) else None
    return origin.root() if origin is not None else None


def _is_opaque(value: Value) -> bool:
    """A pytree of unknown contents."""
    return isinstance(value, Unknown) or (isinstance(value, Array) and value.tree and not value.certain)


def _twins(
    cls: ast.ClassDef, name: str, shared: dict[tuple[str, str], ast.FunctionDef]
) -> list[tuple[str, ast.AST]]:
    """Other attributes that a method leaves with the buffers of `name`, with their places."""
    found: dict[str, ast.AST] = {}
    for pair, method in shared.items():
        if name in pair:
            other = pair[0] if pair[1] == name else pair[1]
            owner = method.args.args[0].arg
            stores = [
                node
                for node in walk(method)
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and dotted(node) in (f"{owner}.{other}", f"{owner}.{name}")
            ]
            found.setdefault(other, stores[-1] if stores else method)
    return list(found.items())


def _only_bound(node: ast.AST, module: Module) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, ast.Assign) or (
        isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "ndim", "size")
    )
