"""Names as Python compares them: in the form NFKC of Unicode, in which `ｊax` and `jax` are one name."""

from __future__ import annotations

import unicodedata


def normalized(text: str) -> str:
    """A text with its names as Python compares them, for questions about names that are asked before it is parsed."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
