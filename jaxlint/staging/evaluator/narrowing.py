"""Narrowing: what a test implies about its variables."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from jaxlint.staging.evaluator.machine import Part
from jaxlint.staging.values import (
    CALLABLE,
    UNKNOWN,
    Array,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ModuleValue,
    Partial,
    Shim,
    Static,
    Transformed,
    Unknown,
    Value,
)
from jaxlint.staging.values.array_types import (
    is_array_type,
    is_container_type,
    is_foreign_type,
    is_plain_type,
    is_sequence_type,
    members_of_type,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.truth import decided
from jaxlint.syntax.facts import (
    answer_of,
    attribute_tests,
    bound_tests,
    is_version_test,
    last_name,
    module_switches,
    nodes_of,
    positional_parameters,
)

_SAME = frozenset({ast.Is, ast.Eq})
_SAMENESS = _SAME | {ast.IsNot, ast.NotEq}


_ARRAY_ATTRIBUTES = frozenset({"shape", "dtype", "ndim", "aval"})
# no instance of these is an array
_NO_TRACERS = frozenset({"is_concrete", "isscalar", "callable", "is_scalar"})


class Narrowing(Part):
    """Refines variables in the branches of a test."""

    def is_shim(self, test: ast.expr, value: Value, frame: Frame) -> bool:
        """Whether a test with a known result asks for a library's version, or for names that some versions lack."""
        if isinstance(value, Shim) or is_version_test(test):
            return True
        about = attribute_tests(test)
        return bool(about) and any(
            isinstance(self.machine.language.eval(asked, frame), (External, ModuleValue)) for asked in about
        )

    def arrayless_branch(
        self, test: ast.expr, frame: Frame, depth: int = 4, given: dict[str, ast.expr] | None = None
    ) -> bool | None:
        """The outcome of a test under which its subject is not a tracer, or not an array.

        Also the outcome under which a switch of the module was changed: the code for it may never be traced. `given`:
        the test is the result of a helper, whose parameters stand for these.
        """
        if depth == 0:
            return None
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.arrayless_branch(test.operand, frame, depth - 1, given)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            both = isinstance(test.op, ast.And)
            parts = [self.arrayless_branch(part, frame, depth - 1, given) for part in test.values]
            if any(part is both for part in parts):
                return both
            return (not both) if all(part is (not both) for part in parts) else None
        if isinstance(test, ast.Name) and given is not None:
            handed = given.get(test.id)
            return self.arrayless_branch(handed, frame, depth - 1) if handed is not None else None
        if isinstance(test, ast.Name) and frame.function is not None:
            bound = bound_tests(frame.function.node).get(test.id)
            if bound is not None:
                return self.arrayless_branch(bound, frame, depth - 1)
            return self.turned(test.id, frame)
        if not isinstance(test, ast.Call):
            return None
        asked = last_name(test.func)
        if asked in _NO_TRACERS:
            return True
        if asked == "isinstance" and len(test.args) == 2:
            about = test.args[0]
            if given is not None and isinstance(about, ast.Name):
                about = given.get(about.id, about)
            return self.arrayless_type(about, test.args[1], frame)
        found = frame.scope.lookup(asked) if isinstance(test.func, ast.Name) else None
        if found is None or not isinstance(found[0], Function):
            return None
        answer = answer_of(found[0].node)
        names = [parameter.arg for parameter in positional_parameters(found[0].node)]
        passed = dict(zip(names, test.args, strict=False))
        return self.arrayless_branch(answer, frame, depth - 1, passed) if answer is not None else None

    def asks_for_attribute(
        self, test: ast.expr, frame: Frame, passed: Mapping[str, ast.expr] | None = None
    ) -> bool:
        """Whether a test asks for attributes of a traced tree or of an unknown object, directly or through a helper
        that only does this."""
        for call in nodes_of(test, ast.Call):
            if not isinstance(call.func, ast.Name) or not call.args:
                continue
            about = call.args[0]
            if call.func.id == "hasattr" and len(call.args) == 2:
                if passed is not None and isinstance(about, ast.Name):
                    about = passed.get(about.id, about)
                found = frame.scope.lookup(about.id) if isinstance(about, ast.Name) else None
                value = found[0] if found is not None else None
                if isinstance(value, (Unknown, ExternalObject)):
                    return True
                if isinstance(value, Array) and value.staged and value.tree:
                    return True
            elif passed is None:
                found = frame.scope.lookup(call.func.id)
                if found is not None and isinstance(found[0], Function):
                    answer = answer_of(found[0].node)
                    names = [parameter.arg for parameter in positional_parameters(found[0].node)]
                    given = dict(zip(names, call.args, strict=False))
                    if answer is not None and given and self.asks_for_attribute(answer, frame, given):
                        return True
        return False

    def turned(self, name: str, frame: Frame) -> bool | None:
        """The value of a module switch after a function has changed it; None for any other name."""
        found = frame.scope.lookup(name)
        if found is None or found[1] is not self.machine.globals_of(frame.module):
            return None
        first = module_switches(frame.module.tree).get(name)
        return None if first is None else not first

    def arrayless_type(self, asked: ast.expr, kind: ast.expr, frame: Frame) -> bool | None:
        """The result of `isinstance` for anything but a tracer: False for tracer types, True for a type that no known
        array has."""
        if last_name(kind) == "Tracer":
            return False
        found = frame.scope.lookup(asked.id) if isinstance(asked, ast.Name) else None
        if found is None:
            return None
        kinds = self.kinds_of(kind, frame)
        if type(found[0]) is Unknown:
            return True if kinds and all(map(is_sequence_type, kinds)) else None
        if not isinstance(found[0], Array) or not found[0].certain:
            return None
        if all(is_plain_type(one) and not is_container_type(one) for one in kinds):
            return True
        foreign = any(type(one) is Unknown or is_foreign_type(one) for one in kinds)
        return True if foreign and not found[0].tree and not any(map(is_array_type, kinds)) else None

    def narrow(self, test: ast.expr, outcome: bool, frame: Frame) -> None:
        """Refines variables by the outcome of a test."""
        if type(test) is ast.Compare:
            if len(test.ops) == 1 and type(test.left) is ast.Name:
                self.narrow_comparison(test.left.id, test.ops[0], test.comparators[0], outcome, frame)
        elif type(test) is ast.Name:
            self.narrow_truth(test.id, outcome, frame)
        elif type(test) is ast.Call:
            self.narrow_call(test, outcome, frame)
        elif type(test) is ast.UnaryOp:
            if type(test.op) is ast.Not:
                self.narrow(test.operand, not outcome, frame)
        elif type(test) is ast.BoolOp and isinstance(test.op, ast.And) == outcome:
            for operand in test.values:
                self.narrow(operand, outcome, frame)

    def narrow_comparison(
        self, name: str, how: ast.cmpop, right: ast.expr, outcome: bool, frame: Frame
    ) -> None:
        """Refines `name` by a comparison such as `name is None`."""
        if type(right) is not ast.Constant or right.value is not None:
            return
        if type(how) in _SAMENESS:
            if (type(how) in _SAME) == outcome:
                self.rebind(name, Static(None), frame)
            else:
                self.narrow_given(name, frame)

    def narrow_call(self, test: ast.Call, outcome: bool, frame: Frame) -> None:
        """Refines `x` by a call such as `isinstance(x, ...)` or `hasattr(x, ...)`."""
        asked = last_name(test.func)
        if asked == "isinstance" and isinstance(test.func, ast.Name):
            self.narrow_isinstance(test, outcome, frame)
            return
        name = test.args[0] if test.args else None
        if not isinstance(name, ast.Name):
            return
        if asked == "hasattr" and isinstance(test.func, ast.Name):
            attribute = test.args[1] if len(test.args) == 2 else None
            arraylike = isinstance(attribute, ast.Constant) and attribute.value in _ARRAY_ATTRIBUTES
            if arraylike and not outcome:
                self.rebind(name.id, Static(), frame)  # it has no shape, so it is not an array
        elif outcome and len(test.args) == 1 and asked in _NO_TRACERS:
            known = frame.scope.lookup(name.id)
            if known is None or not isinstance(known[0], CALLABLE):  # functions and objects stay unchanged
                self.rebind(name.id, Static(), frame)

    def narrow_truth(self, name: str, outcome: bool, frame: Frame) -> None:
        """A tested setting has the tested value, also in functions created here."""
        found = frame.scope.variables.get(name)
        if found is not None:
            self.rebind(name, decided(found, outcome), frame)

    def narrow_given(self, name: str, frame: Frame) -> None:
        """Refines a variable that may be None or an array, once a test has excluded None."""
        found = frame.scope.variables.get(name)
        if isinstance(found, Array) and found.mixed:
            self.rebind(name, replace(found, mixed=False), frame)

    def narrow_isinstance(self, test: ast.Call, outcome: bool, frame: Frame) -> None:
        if len(test.args) != 2 or not isinstance(test.args[0], ast.Name):
            return
        found = frame.scope.lookup(test.args[0].id)
        if found is None:
            return
        kinds = self.kinds_of(test.args[1], frame)
        if (
            outcome
            and isinstance(found[0], Array)
            and not any(map(is_array_type, kinds))
            and any(type(kind) is Unknown or is_foreign_type(kind) for kind in kinds)
        ):
            self.rebind(test.args[0].id, replace(found[0], certain=False), frame)
            return
        if (
            not outcome
            and isinstance(found[0], Array)
            and any(type(kind) is Unknown or is_array_type(kind) for kind in kinds)
        ):
            # No array reaches this branch: arrays are of these types, or possibly of unknown ones.
            self.rebind(test.args[0].id, replace(found[0], certain=False), frame)
            return
        plain = all(map(is_plain_type, kinds))
        tracers = all(isinstance(kind, External) and kind.name.endswith("Tracer") for kind in kinds)
        if (outcome and plain) or (not outcome and tracers):
            if isinstance(found[0], (Array, Unknown, External)):
                containers = any(map(is_container_type, kinds))
                self.rebind(test.args[0].id, UNKNOWN if containers else Static(), frame)
        elif outcome and len(kinds) == 1 and isinstance(kinds[0], ClassValue) and type(found[0]) is Unknown:
            self.rebind(test.args[0].id, self.some_instance(kinds[0], found[0], frame), frame)

    def kinds_of(self, kind: ast.expr, frame: Frame) -> list[Value]:
        """The types that the second argument of `isinstance` names."""
        names = list(kind.elts if isinstance(kind, ast.Tuple) else [kind])
        return [
            member for name in names for member in members_of_type(self.machine.language.eval(name, frame))
        ]

    def some_instance(self, cls: ClassValue, value: Unknown, frame: Frame) -> Value:
        """An instance of which only the class is known, after a test for that class."""
        if cls.kind in ("enum", "namedtuple"):
            return value
        leaf = Array(True, frame.stage.why, tree=True, certain=False) if frame.stage.abstract else None
        instance = Instance(cls, {}, True, value.origin, ready=True, staged=leaf)
        for owner in cls.mro():
            for name, member in owner.namespace.items():
                if not isinstance(member, (Function, Transformed, Partial, ClassValue)):
                    instance.fields[name] = UNKNOWN  # instances may have their own
        return instance

    def rebind(self, name: str, value: Value, frame: Frame) -> None:
        if name in frame.scope.variables:
            frame.scope.variables[name] = value
