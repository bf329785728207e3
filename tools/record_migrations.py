"""Runs the old programs of tests/rules/migrations.py on the old releases of JAX, and writes down what they compute.

    python tools/record_migrations.py [FOLDER]

Each release gets a virtual environment of its own in FOLDER (.venv-old). Needs uv and the package index.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.rules.migrations import PROGRAMS  # noqa: E402

RESULTS = ROOT / "tests" / "rules" / "migrations.json"
BESIDES = {"0.4.13": ["numpy<1.26", "scipy<1.12"], "0.4.30": ["numpy<2", "scipy<1.14"]}
RUNNER = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    return np.asarray(value).tolist()
found, wrong = {}, []
for name, program in json.load(sys.stdin).items():
    scope = {}
    try:
        exec(program, scope)
    except Exception as error:
        wrong.append(f"{name}: {type(error).__name__}: {error}")
        continue
    found[name] = plain(scope["result"])
if wrong:
    sys.exit("; ".join(wrong))
json.dump(found, sys.stdout)
"""


def interpreter(version: str, folder: Path) -> Path:
    """The Python of an environment with that release of jax, made when it is not there."""
    python = folder / version / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(folder / version)], check=True)
        wanted = [f"jax=={version}", f"jaxlib=={version}", *BESIDES[version]]
        subprocess.run(["uv", "pip", "install", "-q", "--python", str(python), *wanted], check=True)
    return python


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".venv-old"
    found: dict[str, object] = {}
    for version in sorted({version for version, _ in PROGRAMS.values() if version}):
        programs = {name: source for name, (release, source) in PROGRAMS.items() if release == version}
        run = subprocess.run(
            [str(interpreter(version, folder)), "-c", RUNNER],
            input=json.dumps(programs), capture_output=True, text=True, env={"JAX_PLATFORMS": "cpu"},
        )  # fmt: skip
        if run.returncode:
            sys.exit(f"jax {version}: {run.stderr.strip().splitlines()[-1]}")
        found |= json.loads(run.stdout.splitlines()[-1])
        print(f"jax {version}: {len(programs)} programs")
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in PROGRAMS if name in found]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
