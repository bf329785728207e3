"""Paths as people read them."""

from __future__ import annotations

import os
import re

_INSTALLED = re.compile(r"(?:site|dist)-packages[/\\](.+)")


def display_path(path: str) -> str:
    """Relative to the working directory, if it lies inside; for an installed package, the part after the folder of
    all packages."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    shown = path if relative.startswith("..") else relative
    installed = _INSTALLED.search(shown)
    return installed[1] if installed else shown


def file_name(text: str) -> str:
    """A name that every file system accepts."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._")[:120] or "unnamed"
