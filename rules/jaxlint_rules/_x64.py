"""Whether a program uses 64 bits."""

from __future__ import annotations

import re

from jaxlint.api import Module, Reporter

_ENABLES = re.compile(r"enable_x64|x64_enabled|ENABLE_X64")


def may_have_x64(report: Reporter, module: Module) -> bool:
    """Whether `jax_enable_x64` is mentioned in what may run with the module."""
    return report.project.runs_with(_ENABLES, module)
