"""Records the findings that tests compare with: `make golden`, after a change that is meant to change findings."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers import golden


def main() -> None:
    golden.RECORDS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package in golden.PACKAGES:
            lines = golden.package_findings(package, folder)
            golden.record_of(package).write_text("\n".join([*lines, ""]), encoding="utf-8")
            print(f"{len(lines):5}  {package}")
        (folder / "programs").mkdir()
        paths = sorted(path.relative_to(golden.PROGRAMS).as_posix() for path in golden.PROGRAMS.rglob("*.py"))
        found = golden.program_findings(folder / "programs", paths)
        golden.HASHES.write_text(json.dumps(golden.hashes(found), indent=1) + "\n", encoding="utf-8")
        print(f"{len(found):5}  {golden.PROGRAMS.name}")


if __name__ == "__main__":
    main()
