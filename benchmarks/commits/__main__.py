"""Which causes that public commits mend does `check` name on the side before?

    python -m benchmarks.commits [--clones FOLDER] [--write benchmarks/results/commits.md] [COMMIT ...]

For each row of commits.tsv, the files that the commit changes are checked within their repository, before it and after it. A cause is *named* if a finding of one of its
rules is there before and gone afterwards. FOLDER holds clones as `owner/name`; those that are not there are cloned from GitHub without file contents, which git fetches as needed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.fetch import cache_folder
from benchmarks.pages import page_of_figures, put
from jaxlint import __version__

ROWS = Path(__file__).with_name("commits.tsv")


@dataclass(frozen=True, slots=True)
class Commit:
    """One row: `rules` are the codes that speak of such a cause; none if no rule does."""

    repository: str
    commit: str
    rules: frozenset[str]
    cause: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What goes with a commit: the findings of its rules, and other ones; `error` if it could not be checked."""

    commit: Commit
    named: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    error: str = ""


def rows() -> list[Commit]:
    found = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            repository, commit, rules, cause = line.split("\t")
            found.append(Commit(repository, commit, frozenset(rules.split(",")) - {"-"}, cause))
    return found


def clone_of(repository: str, folder: Path) -> Path:
    """The clone of a repository; made if it is not there. Raises CalledProcessError."""
    clone = folder / repository
    if not clone.exists():
        address = f"https://github.com/{repository}"
        command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", address, str(clone)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return clone


def changed_files(clone: Path, commit: str) -> list[str]:
    """The Python files that a commit changes, tests left out."""
    command = [
        "git",
        "-C",
        str(clone),
        "diff",
        "--name-only",
        "--diff-filter=M",
        f"{commit}^",
        commit,
        "--",
        "*.py",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return [name for name in listed if name and "test" not in name]


def findings(clone: Path, revision: str, files: list[str], beside: list[str]) -> set[tuple[str, str, str]]:
    """Code, message and file of the findings in `files`, checked among the files `beside` of the revision."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "project")
        # A checkout: the rest of the project shows how the files are used.
        (folder / ".git").mkdir(parents=True)
        subprocess.run(
            ["git", "--git-dir", str(clone), "--work-tree", str(folder), "checkout", revision, "--", *beside],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "GIT_INDEX_FILE": str(Path(top, "index"))},
        )
        command = [sys.executable, "-P", "-m", "jaxlint", "check", "--no-cache", "--severity", "info"]
        done = subprocess.run(
            [*command, "--output-format", "json", *files],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": ""},
        )
        if done.returncode > 1:
            raise subprocess.CalledProcessError(done.returncode, "jaxlint check", stderr=done.stderr)
    return {(one["code"], one["message"], one["path"]) for one in json.loads(done.stdout)}


def seen(commit: Commit, folder: Path) -> Seen:
    """Compares the two sides of a commit."""
    try:
        clone = clone_of(commit.repository, folder)
        files = changed_files(clone, commit.commit)
        # In its own repository, JAX is the project and no library.
        beside = files if commit.repository == "jax-ml/jax" else ["*.py"]
        before, after = (findings(clone, one, files, beside) for one in (f"{commit.commit}^", commit.commit))
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or [f"{error.cmd} failed"]
        return Seen(commit, error=" ".join(str(last[0]).split()))
    gone = sorted({code for code, message, path in before - after if not code.startswith("JAX9")})
    return Seen(
        commit,
        tuple(code for code in gone if code in commit.rules),
        tuple(code for code in gone if code not in commit.rules),
    )


def table(all_seen: list[Seen]) -> str:
    """The table of the page, with the counts above it."""
    named = sum(bool(one.named) for one in all_seen)
    spoken = sum(bool(one.commit.rules) for one in all_seen)
    lines = [
        f"jaxlint {__version__}: **{named} of {len(all_seen)} causes are named**, {named} of the {spoken} that some rule speaks of.",
        "",
        "| repository | commit | cause | rules | named by | gone besides |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in all_seen:
        commit = one.commit
        cells = (
            f"[{commit.repository}](https://github.com/{commit.repository})",
            commit.commit,
            commit.cause,
            ", ".join(sorted(commit.rules)) or "none",
            one.error or ", ".join(one.named) or "-",
            ", ".join(one.others) or "-",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", nargs="*", help="Commits of commits.tsv; all when left out.")
    parser.add_argument("--clones", type=Path, default=cache_folder() / "clones")
    parser.add_argument("--write", type=page_of_figures)
    options = parser.parse_args()
    all_seen = []
    for one in rows():
        if not options.commit or one.commit in options.commit:
            all_seen.append(seen(one, options.clones))
            last = all_seen[-1]
            print(one.repository, one.commit, last.error or last.named, last.others, flush=True)
    text = table(all_seen)
    print(text)
    if options.write is not None:
        put(options.write, text)


if __name__ == "__main__":
    main()
