"""Asks git about a repository without running what the repository's own settings name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

# Settings that name commands which git runs while it only looks.
_SILENT = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.untrackedCache": "false"}
# An object that a partial clone lacks is not fetched: the address may name a command. Nothing asks, and a name is no pattern.
_ALONE = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
_SECONDS = 60


def run_git(folder: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
    """What git answers in `folder` to `given`; None where there is no git. Raises subprocess.SubprocessError when it does not answer."""
    git = shutil.which("git")
    if git is None:
        return None
    named = _run([git, "-C", folder, "config", "--name-only", "-z", "--get-regexp", _FILTERS], {})
    filters = [os.fsdecode(name) for name in named.stdout.split(b"\0") if name]
    settings = {name: "false" if name.endswith(".required") else "" for name in filters}
    return _run([git, "--no-optional-locks", "-C", folder, *arguments], {**settings, **_SILENT}, given)


def _run(
    command: list[str], settings: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **_ALONE}
    # Through the environment, since a name may hold what `-c` takes for the end of it.
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
    for number, (name, value) in enumerate(settings.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return subprocess.run(
        command, capture_output=True, input=given, timeout=_SECONDS, env=environment, check=False
    )
