"""The page of figures: each part of it has a mark, after which its figures stand."""

from __future__ import annotations

from pathlib import Path


def put(page: Path, mark: str, figures: str) -> None:
    """Replaces what stands between a mark and the next heading."""
    head, _, rest = page.read_text(encoding="utf-8").partition(mark)
    _, heading, others = rest.partition("\n## ")
    page.write_text(f"{head}{mark}\n{figures}{heading}{others}", encoding="utf-8")
