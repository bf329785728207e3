"""Queries git about a repository without running commands that the repository's settings name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

# Settings that name commands which git runs even for read-only queries.
_SILENT = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.untrackedCache": "false"}
# Objects missing in a partial clone are not fetched: the address may name a command. No prompts, and names are not
# patterns.
_ALONE = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
_SECONDS = 60


def run_git(folder: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
    """The output of git in `folder` for `given`; None if there is no git. Raises subprocess.SubprocessError if it
    fails, or if a filter of the repository cannot be switched off."""
    git = shutil.which("git")
    if git is None:
        return None
    named = [git, "-C", folder]
    off = {name: "false" if name.endswith(".required") else "" for name in _filters(named, {})} | _SILENT
    # Passed twice: git before 2.31 does not read settings of the environment, and `-c` cuts a name at its first `=`.
    for name in off:
        if "=" not in name:
            named[1:1] = ["-c", f"{name}={off[name]}"]
    if any("=" in name for name in off):
        left = _filters(named, off)
        if any(left[name] != off[name] for name in left if name in off):
            raise subprocess.SubprocessError("a filter of the repository cannot be switched off")
    return _run([*named, "--no-optional-locks", *arguments], off, given)


def _filters(command: list[str], settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that name commands of filters, and what they are."""
    told = _run([*command, "config", "-z", "--get-regexp", _FILTERS], settings)
    pairs = (os.fsdecode(one).partition("\n") for one in told.stdout.split(b"\0") if one)
    return {name: value for name, _, value in pairs}  # the last one of a name counts


def _run(
    command: list[str], settings: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **_ALONE}
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
    for number, (name, value) in enumerate(settings.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return subprocess.run(
        command, capture_output=True, input=given, timeout=_SECONDS, env=environment, check=False
    )
