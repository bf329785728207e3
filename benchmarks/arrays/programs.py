"""Programs of one file, run under the recorder, and what jaxlint says of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpora.fetch import FetchError

INSTRUMENT = Path(__file__).with_name("instrument")
GRACE_S = 60  # for imports, and for a last call that no signal interrupts
SHARE = 10  # of the machine that a program gets at least is one in so many


def programs_below(folder: Path) -> list[Path]:
    """The programs in a folder: each file, and of a folder with several versions of one program the first written."""
    alone = [path for path in folder.glob("*.py") if not path.name.startswith("_")]
    return sorted([*alone, *folder.glob("*/naive.py")])


def name_of(program: Path) -> str:
    return program.parent.name if program.stem == "naive" else program.stem


def recorded(program: Path, python: str, seconds: float, cache: Path) -> dict[str, Any]:
    """What variables were in the first `seconds` of a program; from the cache if it is there."""
    out = recording_of(program, cache)
    if out.exists():
        return dict(json.loads(out.read_text()))
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [python, str(INSTRUMENT / "arrays_program.py"), str(program.resolve()), str(out.resolve())]
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
    try:
        done = subprocess.run(
            [*command, f"{seconds}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SHARE * seconds + GRACE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{program}: did not end in time") from error
    if not out.exists():
        raise FetchError(f"{program}: {done.stderr.strip()[-300:]}")
    return dict(json.loads(out.read_text()))


def recording_of(program: Path, cache: Path) -> Path:
    return cache / "arrays" / "programs" / f"{name_of(program)}.json"


def claims_of(program: Path, command: list[str]) -> list[dict[str, Any]]:
    """What jaxlint says of a program, by absolute path."""
    full = [*command, "inspect", "--output-format", "json", "--arrays", program.name]
    done = subprocess.run(full, cwd=program.parent, capture_output=True, text=True, check=False)
    if done.stderr.strip():
        print(f"{program}: {done.stderr.strip()}", file=sys.stderr)
    claims: list[dict[str, Any]] = json.loads(done.stdout)
    for claim in claims:
        claim["path"] = str(program.resolve())
    return claims
