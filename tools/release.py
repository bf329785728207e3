"""`make release`: builds and tries the packages of this commit. Nothing leaves the machine without `--publish`.

    python tools/release.py                  # build, check, install into empty environments, run
    python tools/release.py --version 0.2.0  # write this version wherever one stands; commit it, then release
    python tools/release.py --tag            # and tag the commit, once all of that has passed
    python tools/release.py --publish        # and upload what was built, for a commit that is tagged

The version stands in `jaxlint/__init__.py`; `PLACES` are copies of it, which a test holds to that.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import setup

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TOOLS = ROOT / ".venv-release"
HOME = ROOT / "jaxlint" / "__init__.py"
VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
# Copies of the version: in which files, and between what.
PLACES = (
    ("CITATION.cff", r"^version: (\S+)$"),
    ("conda/recipe.yaml", r"^  version: (\S+)$"),
    ("editors/vscode/package.json", r'^  "version": "([^"]+)",$'),
    ("editors/vscode/package-lock.json", r'"name": "jaxlint",\n +"version": "([^"]+)"'),
    ("README.md", r"^    rev: v(\S+)$"),
    ("docs/pre-commit.md", r"^    rev: v(\S+)$"),
    ("docs/repository.md", r"jaxlint(?:\.git)?@v([\w.]+)"),
    ("docs/gate.md", r"jaxlint\.git@v([\w.]+)"),
)
PACKAGES = ("jaxlint", "jaxlint_rules", "jaxlint_runtime")
PROGRAM = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
FOUND = "program.py:6:8: error JAX101"


class ReleaseError(Exception):
    """The release stops here; the message says why."""


def said(*command: str | Path, at: Path | None = None, accepted: tuple[int, ...] = (0,)) -> str:
    """What a command prints. Raises ReleaseError when it fails."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=at or ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in accepted:
        detail = (done.stdout + done.stderr).strip()[-2000:]
        raise ReleaseError(f"`{' '.join(str(part) for part in command)}` failed\n{detail}")
    return done.stdout.strip()


def version() -> str:
    """The version of this tree."""
    found = VERSION.search(HOME.read_text(encoding="utf-8"))
    if found is None:
        raise ReleaseError(f"{HOME.relative_to(ROOT)} has no `__version__`")
    return found[1]


def copies() -> Iterator[tuple[str, str]]:
    """Each copy of the version: the file, and what it says."""
    for name, pattern in PLACES:
        found = re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not found:
            raise ReleaseError(f"{name} names no version any more; tools/release.py looks for `{pattern}`")
        yield from ((name, one) for one in found)


def write_version(new: str) -> None:
    """Writes a version to its home and to its copies."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", new):
        raise ReleaseError(f"{new} is no version like 0.2.0 or 0.2.0rc1")
    for path, pattern in [(HOME, VERSION.pattern), *((ROOT / name, pattern) for name, pattern in PLACES)]:
        text = path.read_text(encoding="utf-8")
        changed = re.sub(pattern, lambda one: one[0].replace(one[1], new), text, flags=re.MULTILINE)
        path.write_text(changed, encoding="utf-8")


def check_tree() -> None:
    """Refuses a tree whose files are not those of its commit, or whose versions differ."""
    if said("git", "status", "--porcelain"):
        raise ReleaseError("the tree has changes that are not committed: a release is a commit")
    wrong = [f"{name} says {one}" for name, one in copies() if one != version()]
    if wrong:
        raise ReleaseError(
            f"this is version {version()}, but {', '.join(wrong)}; --version writes all of them"
        )
    if f"\n## {version()}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise ReleaseError(f"CHANGELOG.md has no heading `## {version()}`")


def check_date() -> None:
    """Refuses to tag what the changelog calls unreleased, and a tag that is another commit's."""
    if f"\n## {version()} (unreleased)" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise ReleaseError(f"CHANGELOG.md calls {version()} unreleased: write the date there, and commit it")
    tagged = said("git", "rev-parse", "--verify", "--quiet", f"v{version()}^{{commit}}", accepted=(0, 1))
    if tagged and tagged != said("git", "rev-parse", "HEAD"):
        raise ReleaseError(f"v{version()} is the tag of another commit: raise the version")


def build(uv: Path) -> list[Path]:
    """Builds the sdist, and the wheel from the sdist; both into an empty dist/."""
    shutil.rmtree(DIST, ignore_errors=True)
    said(uv, "build", "--quiet", "--out-dir", DIST, ROOT)
    sdist = DIST / f"jaxlint_suite-{version()}.tar.gz"
    wheel = DIST / f"jaxlint_suite-{version()}-py3-none-any.whl"
    built = sorted(path.name for path in DIST.iterdir() if path.name != ".gitignore")
    if built != sorted([sdist.name, wheel.name]):
        raise ReleaseError(f"expected {sdist.name} and a pure wheel in dist/, found {', '.join(built)}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    lost = [name for name in PACKAGES if f"{name}/__init__.py" not in names]
    stray = [
        name for name in names if "/specimens/" in name or not name.startswith((*PACKAGES, "jaxlint_suite-"))
    ]
    if lost or stray:
        raise ReleaseError(f"the wheel lacks {lost} and has {stray[:3]}")
    return [sdist, wheel]


def interpreter(name: str) -> Path:
    """A Python of this version: from PATH or of pyenv, whose shims run one version alone. Raises ReleaseError."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = shutil.which(f"python{name}")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(pyenv.glob(f"versions/{name}.*/bin/python{name}"), reverse=True)
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=False)
        if done.stdout.strip() == name:
            return candidate
    raise ReleaseError(f"there is no Python {name} on PATH or of pyenv; --python names those to try")


def try_out(uv: Path, package: Path, python: str, folder: Path) -> None:
    """Installs a package into an empty environment of one Python, and runs the commands that need nothing else."""
    environment = folder / f"{python}-{package.suffix[1:]}"
    said(uv, "venv", "--quiet", "--no-python-downloads", "--python", interpreter(python), environment)
    own = environment / setup.SCRIPTS / "python"
    said(uv, "pip", "install", "--quiet", "--python", own, package)
    jaxlint = environment / setup.SCRIPTS / "jaxlint"
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    shown = said(jaxlint, "--version", at=folder)
    if shown != f"jaxlint {version()}":
        raise ReleaseError(f"`jaxlint --version` prints {shown}")
    found = said(
        jaxlint, "check", "--no-cache", "--output-format", "concise", program.name, at=folder, accepted=(1,)
    )
    if not found.startswith(FOUND):
        raise ReleaseError(f"`jaxlint check` prints\n{found}")
    rewritten = said(
        jaxlint, "fix", "--diff", "--unsafe-fixes", "--no-cache", program.name, at=folder, accepted=(1,)
    )
    if "+    return jnp.where" not in rewritten and "+    return jax.numpy.where" not in rewritten:
        raise ReleaseError(f"`jaxlint fix --diff` prints\n{rewritten}")
    if "missing-donation (JAX601)" not in said(jaxlint, "explain", "missing-donation", at=folder):
        raise ReleaseError("`jaxlint explain` does not know missing-donation")
    heavy = said(own, "-c", "import importlib.util as u; print(*filter(u.find_spec, ('jax', 'numpy')))")
    if heavy:
        raise ReleaseError(f"the package brings {heavy}")


def release(pythons: list[str]) -> list[Path]:
    """Builds and tries everything. Raises ReleaseError."""
    check_tree()
    uv = setup.find_uv()
    said(sys.executable, ROOT / "tools" / "setup.py", "--venv", TOOLS, "--group", "release")
    print(f"release: building {version()}", flush=True)
    packages = build(uv)
    said(TOOLS / setup.SCRIPTS / "python", "-m", "twine", "check", "--strict", *packages)
    for package in packages:
        print(f"release: {package.relative_to(ROOT)}, {package.stat().st_size / 1e6:.1f} MB", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for python in pythons:
            for package in packages if python == pythons[0] else packages[1:]:
                try_out(uv, package, python, Path(scratch))
                print(f"release: {package.name} runs in an empty environment of Python {python}", flush=True)
        shown = said(uv, "tool", "run", "--quiet", "--from", packages[1], "jaxlint", "--version")
        if shown != f"jaxlint {version()}":
            raise ReleaseError(f"`uvx --from {packages[1].name} jaxlint --version` prints {shown}")
        print("release: it runs by `uvx --from`", flush=True)
    if said("git", "status", "--porcelain"):
        raise ReleaseError("building changed the tree")
    return packages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--version", metavar="VERSION", help="only write this version wherever one stands")
    parser.add_argument("--python", action="append", help="a Python to try [3.11, 3.12 and 3.13]")
    parser.add_argument("--tag", action="store_true", help="tag the commit when everything has passed")
    parser.add_argument("--publish", action="store_true", help="upload what was built with twine")
    options = parser.parse_args()
    try:
        if options.version:
            write_version(options.version)
            print(f"release: wrote {options.version}; look at `git diff`, and commit it")
            return 0
        if options.tag or options.publish:
            check_date()
        packages = release(options.python or [f"{major}.{minor}" for major, minor in setup.SUPPORTED])
        tag = f"v{version()}"
        tagged = bool(said("git", "tag", "--list", tag))
        if options.tag and not tagged:
            said("git", "tag", "--annotate", tag, "--message", f"jaxlint {version()}")
            tagged = True
            print(f"release: tagged {tag}")
        if options.publish:
            if not tagged:
                raise ReleaseError(f"{tag} is no tag: --tag makes it")
            said(TOOLS / setup.SCRIPTS / "python", "-m", "twine", "upload", "--non-interactive", *packages)
            print(f"release: uploaded {version()}; now `git push origin {tag}`")
        else:
            print("release: nothing was published; --tag tags the commit, --publish uploads")
    except (ReleaseError, setup.SetupError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
