"""Makes the project's own environment: `python tools/setup.py [--venv FOLDER] [--extra NAME] [--group NAME] [--uv] [--constraints]`.

Needs nothing but a Python that the project supports. uv is taken from PATH or fetched through pip into `.bootstrap`;
the user's own Python is left as it is. Running it again costs a fraction of a second while nothing has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints"
BOOTSTRAP = ROOT / ".bootstrap"
SUPPORTED = ((3, 11), (3, 12), (3, 13))
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def constraints_file(version: tuple[int, int]) -> Path:
    return CONSTRAINTS / f"py{version[0]}{version[1]}.txt"


def run(*command: str | Path, quiet: bool = False) -> None:
    """Run a command in the project's folder and raise SetupError when it fails."""
    capture = subprocess.PIPE if quiet else None
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, stderr=capture, stdout=capture
    )
    if done.returncode:
        detail = f"\n{done.stderr.decode(errors='replace').strip()}" if quiet else ""
        raise SetupError(f"`{' '.join(str(part) for part in command)}` failed{detail}")


def find_uv() -> Path:
    """A working uv: from PATH, from an earlier bootstrap, or fetched now at the pinned version."""
    local = BOOTSTRAP / SCRIPTS / ("uv.exe" if os.name == "nt" else "uv")
    for candidate in (shutil.which("uv"), local):
        if candidate and _works(candidate):
            return Path(candidate)
    print("setup: fetching uv into .bootstrap", flush=True)
    pins = CONSTRAINTS / "uv.txt"
    try:
        run(sys.executable, "-m", "venv", "--clear", BOOTSTRAP, quiet=True)
        run(BOOTSTRAP / SCRIPTS / "python", "-m", "pip", "install", "--quiet", "-r", pins, quiet=True)
    except SetupError as no_venv:  # some distributions ship Python without ensurepip, but with pip
        shutil.rmtree(BOOTSTRAP, ignore_errors=True)
        try:
            run(
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--target",
                BOOTSTRAP,
                "-r",
                pins,
                quiet=True,
            )
        except SetupError as no_pip:
            raise SetupError(
                f"could not fetch uv; install it or give this Python venv and pip.\n{no_venv}\n{no_pip}"
            ) from None
    return local


def _works(uv: str | Path) -> bool:
    try:
        return subprocess.run([str(uv), "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _python_of(venv: Path) -> Path:
    return venv / SCRIPTS / ("python.exe" if os.name == "nt" else "python")


def _fingerprint(extras: list[str], group: str) -> str:
    """Changes whenever the environment has to be made again."""
    parts = [sys.version, *extras, group]
    files = (ROOT / "pyproject.toml", constraints_file(sys.version_info[:2]), Path(__file__))
    parts += [file.read_text(encoding="utf-8") for file in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def install(venv: Path, extras: list[str], group: str) -> None:
    """Make `venv` with the project (editable), the extras and the tools of `group`, at the pinned versions."""
    stamp, fingerprint = venv / ".jaxlint-setup", _fingerprint(extras, group)
    if stamp.exists() and stamp.read_text() == fingerprint and _python_of(venv).exists():
        return
    uv = find_uv()
    stamp.unlink(missing_ok=True)
    if not _is_ours(venv):
        print(
            f"setup: making {venv.name} with Python {sys.version_info[0]}.{sys.version_info[1]}", flush=True
        )
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, venv)
    size = " (about 700 MB on disk)" if extras else ""
    print(f"setup: installing {', '.join([*extras, f'the tools of {group}'])}{size}", flush=True)
    run(
        *(uv, "pip", "install", "--python", _python_of(venv)),
        *("-c", constraints_file(sys.version_info[:2])),
        *("-e", f".[{','.join(extras)}]" if extras else ".", "--group", group),
    )
    stamp.write_text(fingerprint)


def _is_ours(venv: Path) -> bool:
    """Whether `venv` exists and runs the same version of Python as this script."""
    ask = "import sys; print(sys.version)"
    try:
        done = subprocess.run([str(_python_of(venv)), "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == sys.version


def compile_constraints() -> None:
    """Write the newest versions that fit together for each Python. No address of an index is written."""
    uv = find_uv()
    for version in SUPPORTED:
        target = constraints_file(version)
        print(f"setup: resolving {target.relative_to(ROOT)}", flush=True)
        run(
            *(uv, "pip", "compile", "--quiet", "--upgrade", "pyproject.toml"),
            *("--group", "dev", "--group", "docs", "--group", "jupyter", "--group", "release"),
            *("--extra", "verify", "--extra", "triton", "--extra", "tpu", "--extra", "plots"),
            *("--extra", "submitit", "--extra", "ray"),
            *("--python-version", f"{version[0]}.{version[1]}", "--python-platform", "x86_64-manylinux_2_31"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "-o", target),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--venv", type=Path, default=ROOT / ".venv", help="where the environment goes [.venv]"
    )
    parser.add_argument("--extra", action="append", help="extras to install [verify in dev, else none]")
    parser.add_argument("--group", default="dev", help="the dependency group of the tools to install [dev]")
    parser.add_argument("--uv", action="store_true", help="only print where uv is")
    parser.add_argument("--constraints", action="store_true", help="only write constraints/*.txt anew")
    options = parser.parse_args()
    if sys.version_info[:2] not in SUPPORTED:
        names = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED)
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        print(
            f"error: this is Python {here}; jaxlint needs one of {names}: make PYTHON=/path/to/python",
            file=sys.stderr,
        )
        return 2
    try:
        if options.uv:
            print(find_uv())
        elif options.constraints:
            compile_constraints()
        else:
            extras = options.extra or (["verify"] if options.group == "dev" else [])
            install(options.venv.resolve(), extras, options.group)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
