"""Imports of project modules and of names outside the project."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    UNKNOWN,
    External,
    ModuleValue,
    Value,
)
from jaxlint.staging.values.frame import Frame


class Imports(Part):
    """Binds the names of imports."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)

    def exec_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            whole = self.import_module(alias.name, frame.module)
            self.machine.name_event(whole, alias, frame, is_import=True)
            if alias.asname:
                before = frame.scope.variables.get(alias.asname)
                if (
                    frame.scope.is_module
                    and not frame.import_guard
                    and isinstance(before, (External, ModuleValue))
                ):
                    if isinstance(whole, External) and not _is_same_module(before, whole):
                        frame.module.renamed.add(alias.asname)
                frame.scope.variables[alias.asname] = whole
            else:
                top = alias.name.partition(".")[0]
                frame.scope.variables[top] = self.import_module(top, frame.module)

    def exec_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = frame.module
        base: Value
        if node.level:
            found = self.machine.project.find_relative(node.level, node.module or "", module)
            base = self.machine.module_value(found) if found is not None else UNKNOWN
            if found is None and not node.module:
                for alias in node.names:
                    child = self.machine.project.find_relative(node.level, alias.name, module)
                    frame.scope.variables[alias.asname or alias.name] = (
                        self.machine.module_value(child) if child else UNKNOWN
                    )
                return
        else:
            base = self.import_module(node.module or "", module)
        for alias in node.names:
            if alias.name == "*":
                self.machine.name_event(base, alias, frame, is_import=True)
                self.import_star(base, frame)
                continue
            if isinstance(base, External) and self.machine.project.is_folder(base.name, module):
                child = self.machine.project.find(f"{base.name}.{alias.name}", module)
                value: Value = self.machine.module_value(child) if child else UNKNOWN
            else:
                value = self.access.attribute(base, alias.name, alias, frame, quiet=True)
            self.machine.name_event(value, alias, frame, is_import=True)
            frame.scope.variables[alias.asname or alias.name] = value

    def import_module(self, name: str, importer: Any) -> Value:
        found = self.machine.project.find(name, importer)
        if found is not None:
            return self.machine.module_value(found)
        return External(name)

    def import_star(self, base: Value, frame: Frame) -> None:
        if isinstance(base, ModuleValue):
            self.machine.language.run_module(base.module)
            for name, value in base.scope.variables.items():
                if not name.startswith("_"):
                    frame.scope.variables.setdefault(name, value)
            frame.scope.stars += base.scope.stars
        elif isinstance(base, External):
            frame.scope.stars.append(base)


def _is_same_module(left: Value, right: External) -> bool:
    return isinstance(left, External) and canonical(left.name) == canonical(right.name)
