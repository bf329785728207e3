"""Paths as people read them."""

from __future__ import annotations

import os
import re


def display_path(path: str) -> str:
    """Relative to the working directory when it lies inside."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def file_name(text: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._")[:120] or "unnamed"
