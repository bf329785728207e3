"""`jaxlint fix --unsafe-fixes` on old programs, in one project: what comes out runs on the installed JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmarks.migration import corpora as migration
from tests.rules.old_programs import LEFT_ALONE, PROGRAMS

RUN = """
import json, pathlib, sys, traceback, warnings
import jax
warnings.simplefilter("ignore")
x64 = jax.config.jax_enable_x64
wrong = {}
for path in sorted(pathlib.Path(".").glob("*/program.py")):
    try:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "program"})
    except Exception:
        wrong[path.parent.name] = traceback.format_exc(limit=-1)
    jax.config.update("jax_enable_x64", x64)
    jax.config.update("jax_debug_nans", False)
print(json.dumps(wrong))
"""


def test_old_programs_run_after_fix(tmp_path):
    files = {name: tmp_path / name / "program.py" for name in PROGRAMS}
    for name, file in files.items():
        file.parent.mkdir()
        file.write_text(PROGRAMS[name])
    fixed = migration.fix(tmp_path)
    assert fixed is not None
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    kept = [name for name, file in files.items() if file.read_text() == PROGRAMS[name]]
    assert sorted(kept) == sorted(LEFT_ALONE)
    run = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout.splitlines()[-1]) == {}
