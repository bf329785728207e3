"""What the playground page needs beside itself: Pyodide, the engine with its rules as one archive, and examples.

Pyodide is 13 MB of an npm package. It is fetched when the site is built, checked against its hash, kept in `.pyodide`, and never committed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from jaxlint import __version__
from jaxlint.registry import GROUP, all_rules
from jaxlint.specimens import FOLDER as SPECIMENS

ROOT = Path(__file__).resolve().parent.parent
PIN = ROOT / "constraints" / "pyodide.txt"
SHA256 = (
    "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"  # of the npm package at that version
)
CACHE = ROOT / ".pyodide"
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKAGES = ((ROOT / "jaxlint", "jaxlint"), (ROOT / "rules" / "jaxlint_rules", "jaxlint_rules"))
LEFT_OUT = {SPECIMENS, "__pycache__", "cli", "server", "upgrade"}  # what no check of a text imports
TUTORIAL = ROOT / "fixtures" / "tutorial" / "train.py"
FEATURED = (
    "tutorial",
    "tracer-branch",
    "host-sync-in-loop",
    "key-reuse",
    "jit-in-loop",
    "missing-donation",
    "tracer-leak",
    "use-after-donation",
    "where-gradient-nan",
)
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive from the same sources


class NoPyodide(Exception):
    """Pyodide cannot be had here; the message says why, in one line."""


def pyodide() -> Path:
    """The folder that holds FILES, fetched when it is not there yet. Raises NoPyodide."""
    name, _, version = PIN.read_text(encoding="utf-8").strip().partition("==")
    folder = CACHE / version
    if all((folder / file).is_file() for file in FILES):
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise NoPyodide("npm is not on PATH")
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        command = [npm, "pack", f"{name}@{version}", "--silent", "--pack-destination", scratch]
        try:
            done = subprocess.run(
                command, cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
            )
        except subprocess.TimeoutExpired:
            raise NoPyodide("npm did not answer within 300 s") from None
        packed = list(Path(scratch).glob("*.tgz"))
        if done.returncode != 0 or len(packed) != 1:
            raise NoPyodide(f"npm could not fetch {name} {version}")
        if hashlib.sha256(packed[0].read_bytes()).hexdigest() != SHA256:
            raise NoPyodide(f"the package {name} {version} is not the one whose hash tools/playground.py has")
        made = Path(scratch) / version
        made.mkdir()
        with tarfile.open(packed[0]) as archive:
            for file in FILES:
                member = archive.extractfile(f"package/{file}")
                assert member is not None
                (made / file).write_bytes(member.read())
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    return folder


def write_archive(target: Path, glue: Path) -> None:
    """The engine and the rules, as a browser unpacks them; `glue` is the module that the page calls."""
    about = f"jaxlint_suite-{__version__}.dist-info"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, content: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)

        for folder, name in PACKAGES:
            for path in sorted(folder.rglob("*")):
                inside = path.relative_to(folder)
                if path.is_file() and not LEFT_OUT & set(inside.parts):
                    add(f"{name}/{inside.as_posix()}", path.read_bytes())
        add(glue.name, glue.read_bytes())
        add(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: jaxlint-suite\nVersion: {__version__}\n".encode(),
        )
        add(f"{about}/entry_points.txt", f"[{GROUP}]\njaxlint = jaxlint_rules:rules\n".encode())


def examples() -> list[dict[str, object]]:
    """The program of the tutorial and one for each rule that is on by default, those that show most first."""
    found: list[dict[str, object]] = [
        {"rule": "tutorial", "code": TUTORIAL.read_text(encoding="utf-8"), "featured": True}
    ]
    for rule in all_rules():
        programs = [one.code for one in rule.examples if "# finding" in one.code]
        if programs and not rule.preview:
            shown = programs[0].replace("  # finding", "").strip() + "\n"
            found.append({"rule": rule.name, "code": shown, "featured": rule.name in FEATURED})
    order = {name: number for number, name in enumerate(FEATURED)}
    return sorted(found, key=lambda one: (order.get(str(one["rule"]), len(order)), str(one["rule"])))


def write(folder: Path) -> None:
    """Writes all of it into the folder of the page in the built site. Raises NoPyodide; the rest is there then."""
    (folder / "examples.json").write_text(json.dumps(examples()), encoding="utf-8")
    write_archive(folder / "jaxlint.zip", folder / "check_text.py")
    (folder / "check_text.py").unlink()
    source = pyodide()
    (folder / "pyodide").mkdir(exist_ok=True)
    for file in FILES:
        shutil.copyfile(source / file, folder / "pyodide" / file)
