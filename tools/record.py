"""Pictures of jaxlint at work, for the README: runs the real commands and writes what they print as SVG.

`python tools/record.py [NAME...]` writes docs/images/NAME.svg for each recording below, all of them by default. The
commands run in a terminal of a fixed width, so colours and layout are what a user sees; progress, which goes to
standard error, is left out. "editor" is the screen of Neovim (`record_editor.py`).
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from record_editor import hover_and_fix
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS = 112


@dataclass(frozen=True)
class Recording:
    """A command as a user types it, and what of its output to show: the lines before `head` (a number of lines, or a
    pattern that the first hidden line matches) and the last `tail` lines."""

    command: str
    head: int | str
    tail: int = 1


# Each picture, by its name: commands that run one after the other, in a copy of a folder where one is named.
RECORDINGS: dict[str, tuple[str | None, tuple[Recording, ...]]] = {
    "check": (None, (Recording("jaxlint check fixtures/demo/train.py", 41),)),
    "fix": (None, (Recording("jaxlint fix --diff fixtures/demo", 40),)),
    "verify": (None, (Recording("jaxlint verify -q fixtures/demo/train.py", r"^Jitted functions", 0),)),
    "tour": (
        "fixtures/tutorial",
        (
            Recording("jaxlint check --severity error train.py", 99),
            Recording("jaxlint fix --select tracer-branch --unsafe-fixes train.py", 99),
            Recording("jaxlint verify -q train.py", r"^(Trade-offs|Jitted functions)", 0),
        ),
    ),
}

# The program that is opened in the editor, and the line and column that the cursor is at.
EDITOR = ("fixtures/tutorial", "train.py", (19, 12))


def output_of(command: str, folder: Path) -> str:
    """What `command` prints to a terminal of COLUMNS columns, escape sequences included."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    program, *arguments = shlex.split(command)
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.DEVNULL,
    )
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # how Linux reports that the other end was closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    if process.wait() not in (0, 1):
        raise RuntimeError(f"`{command}` ended with exit code {process.returncode}")
    return b"".join(chunks).decode().replace("\r\n", "\n")


def shown(recording: Recording, output: str) -> list[Text]:
    """The lines of a command and of what its recording shows."""
    lines = list(Text.from_ansi(output.rstrip()).split("\n", allow_blank=True))
    head = recording.head
    if isinstance(head, str):
        head = next((i for i, line in enumerate(lines) if re.match(head, line.plain)), len(lines))
    hidden = len(lines) - head - recording.tail
    if hidden > 1:
        left_out = Text(f"... {hidden} more lines ...", style="dim")
        lines = [*lines[:head], left_out, Text(""), *lines[len(lines) - recording.tail :]]
    return [Text.assemble(("$ ", "bold green"), (recording.command, "bold")), *lines]


def picture(lines: Sequence[Text]) -> str:
    """An SVG of a terminal that shows these lines."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(line)
    svg = console.export_svg(title="jaxlint", theme=MONOKAI, unique_id="jaxlint")
    # Fonts come from the reader's own machine.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main() -> int:
    every = [*RECORDINGS, "editor"]
    names = sys.argv[1:] or every
    if unknown := set(names) - set(every):
        print(
            f"error: no recording {', '.join(sorted(unknown))}; there are {', '.join(every)}",
            file=sys.stderr,
        )
        return 2
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as scratch:
            lines: list[Text] = []
            if name == "editor":
                home, program, place = EDITOR
                folder = Path(shutil.copytree(ROOT / home, Path(scratch) / "copy"))
                lines = hover_and_fix(folder, program, place, COLUMNS)
            else:
                source, recordings = RECORDINGS[name]
                folder = Path(shutil.copytree(ROOT / source, Path(scratch) / "copy")) if source else ROOT
                for recording in recordings:
                    print(f"{name}: {recording.command} ...", file=sys.stderr, flush=True)
                    lines += [Text("")] * bool(lines) + shown(recording, output_of(recording.command, folder))
        (IMAGES / f"{name}.svg").write_text(picture(lines), encoding="utf-8")
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
