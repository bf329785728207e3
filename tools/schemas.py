"""Writes docs/schemas/, from what declares the settings and the output. `--check` only compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jaxlint.schemas import output_schema, settings_schema

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"
SCHEMAS = {"settings.json": settings_schema, "output.json": output_schema}


def main() -> int:
    wrong = []
    for name, schema in SCHEMAS.items():
        text = json.dumps(schema(), indent=2) + "\n"
        path = FOLDER / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            wrong.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if wrong:
        print(f"{', '.join(wrong)}: not current; run `make rules`")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
