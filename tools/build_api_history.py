"""Builds jaxlint/jaxapi/data/api_history.jsonl from a table of what changed in JAX, one JSON object a line.

    python tools/build_api_history.py ROWS.jsonl

A row has `name`, `kind`, `form`, `tier`, `removed_in`, `deprecated_in`, `replacement`, `rewrite` and so on; see
`jaxlint.jaxapi.history.ApiChange` for what is kept. The order of the rows (most used first) is kept too. Rows whose
name exists again in the newest release are left out: to report them would be wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "jaxlint" / "jaxapi" / "data" / "api_history.jsonl"

# Name in the row -> name in the data file.
FIELDS = {
    "name": "name",
    "kind": "kind",
    "form": "form",
    "tier": "tier",
    "deprecated_in": "deprecated_in",
    "removed_in": "removed_in",
    "replacement": "replacement",
    "replacement_alt": "alternative",
    "replacement_since": "since",
    "replacement_needs_import": "module",
    "rewrite": "rewrite",
    "param": "param",
    "param_replacement": "param_replacement",
    "note": "note",
}
NEWEST_PROBE = "probe_0.12.0.1"


def compact(row: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept of `row`, or None when nothing is."""
    is_name = row["form"] in ("name", "module")
    if is_name and row["kind"] in ("removed", "moved") and row.get(NEWEST_PROBE) != "missing":
        return None
    kept = {new: row[old] for old, new in FIELDS.items() if row.get(old) not in (None, "")}
    if row.get(NEWEST_PROBE) == "warns":
        kept["warns"] = True
    return kept


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if line]
    kept = [short for row in rows if (short := compact(row)) is not None]
    TARGET.parent.mkdir(exist_ok=True)
    with TARGET.open("w", encoding="utf-8", newline="\n") as file:
        for row in kept:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(kept)} of {len(rows)} rows -> {TARGET}")


if __name__ == "__main__":
    main()
