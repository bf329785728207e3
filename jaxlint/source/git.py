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
    fails."""
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
    # Passed through the environment, since `-c` could cut a name at a special character.
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
    for number, (name, value) in enumerate(settings.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return subprocess.run(
        command, capture_output=True, input=given, timeout=_SECONDS, env=environment, check=False
    )
