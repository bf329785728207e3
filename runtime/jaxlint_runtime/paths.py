"""Paths as people read them."""

from __future__ import annotations

import os


def display_path(path: str) -> str:
    """Relative to the working directory when it lies inside."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative
