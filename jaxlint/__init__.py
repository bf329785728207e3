"""Static analysis, codemods and measured proof for JAX programs.

`jaxlint.check` and `jaxlint.fix` are the commands of these names as functions.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "Edit",
    "Finding",
    "Fix",
    "FixReport",
    "Refusal",
    "Report",
    "Safety",
    "Severity",
    "SourceError",
    "Span",
    "__version__",
    "check",
    "fix",
]

# For type checkers, `__init__.pyi` declares the same names.
_HOMES = {
    "jaxlint.config": ("ConfigError",),
    "jaxlint.finding": ("Edit", "Finding", "Fix", "Safety", "Severity", "Span"),
    "jaxlint.programmatic": ("FixReport", "Refusal", "Report", "check", "fix"),
    "jaxlint.source.file": ("SourceError",),
}


def load_ipython_extension(shell: object) -> None:
    """`%load_ext jaxlint`: each cell is checked before it runs."""
    from jaxlint.in_ipython import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """`%unload_ext jaxlint`."""
    from jaxlint.in_ipython import unload

    unload(shell)


def __getattr__(name: str) -> object:
    """Loads names on first use: the command line does not need them."""
    import importlib

    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
