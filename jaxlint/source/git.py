"""Queries git about a repository without running commands that the repository's settings name."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from jaxlint.source.git_metadata import irregular

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
MOST = 128 << 20  # bytes of an answer: a list of a million files, or the old text of some hundreds
_MOST_OF_ERRORS = 1 << 16


class NoFile(subprocess.SubprocessError):
    """Something that is not a file, so that git would wait for it."""


class TooMuch(subprocess.SubprocessError):
    """An answer over the limit."""


def run_git(folder: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
    """The output of git in `folder` for `given`; None if there is no git. Raises subprocess.SubprocessError if it
    fails, or if a filter of the repository cannot be switched off."""
    git = _program()
    if git is None:
        return None
    if (odd := irregular(Path(os.path.realpath(folder)))) is not None:
        raise NoFile(f"{odd} is not a regular file")
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


def _program() -> str | None:
    """The git of the search path. A folder that is named from the current one, which may be a clone, does not count;
    Windows would look there first."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    name = "git.exe" if os.name == "nt" else "git"
    places = (shutil.which(os.path.join(folder, name)) for folder in folders if os.path.isabs(folder))
    return next((place for place in places if place is not None), None)


def _filters(command: list[str], settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that name the commands of filters, with their values."""
    told = _run([*command, "config", "-z", "--get-regexp", _FILTERS], settings)
    pairs = (os.fsdecode(one).partition("\n") for one in told.stdout.split(b"\0") if one)
    return {name: value for name, _, value in pairs}  # the last setting of a name counts


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
    return _bounded(command, environment, given)


def _bounded(
    command: list[str], environment: Mapping[str, str], given: bytes
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command whose output may not exceed `MOST`: a few kilobytes of a repository can describe endless
    trees and files of gigabytes. Raises subprocess.SubprocessError.
    """
    said: list[bytes] = []

    def feed(stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:
            stream.write(given)

    def listen(stream: IO[bytes]) -> None:
        said.append(stream.read(_MOST_OF_ERRORS))
        while stream.read(_MOST_OF_ERRORS):
            pass

    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        late = threading.Timer(_SECONDS, process.kill)
        helpers = [
            late,
            threading.Thread(target=feed, args=(process.stdin,)),
            threading.Thread(target=listen, args=(process.stderr,)),
        ]
        began = time.monotonic()
        try:
            for helper in helpers:
                helper.start()
            output = process.stdout.read(MOST + 1)
            if len(output) > MOST:
                raise TooMuch(f"git gives more than {MOST >> 20} MB")
            process.wait()
        finally:
            process.kill()
            late.cancel()
            for helper in helpers:
                helper.join()
    if time.monotonic() - began > _SECONDS:
        raise subprocess.TimeoutExpired(command, _SECONDS)
    return subprocess.CompletedProcess(command, process.returncode, output, b"".join(said))
