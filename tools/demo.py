"""`make demo`: check, fix and verify on the naive training program in fixtures/demo. Arguments are those of a shorter verify."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
JAXLINT = Path(sys.executable).with_name("jaxlint")

# The command, what it shows, and the exit codes that are not a failure (1 means that something was found).
STEPS = (
    (["check", "fixtures/demo"], "what is slow, big or wrong, read from the source alone", (0, 1)),
    (["fix", "--diff", "fixtures/demo"], "what the safe rewrites would change", (0, 1)),
    (
        ["verify", "fixtures/demo/train.py"],
        "which improvements hold when the program runs",
        (0,),
    ),
)


def main(more: list[str]) -> int:
    console = Console(highlight=False)
    for command, meaning, accepted in STEPS:
        arguments = [*command, *more] if command[0] == "verify" else command
        console.print(f"\n[bold green]$ jaxlint {' '.join(arguments)}[/]  [dim]# {meaning}[/]\n")
        start = time.perf_counter()
        code = subprocess.run(
            [JAXLINT, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, check=False
        ).returncode
        if code not in accepted:
            seconds = time.perf_counter() - start
            print(
                f"demo: jaxlint {arguments[0]} ended with exit code {code} after {seconds:.0f} s",
                file=sys.stderr,
            )
            return 1
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main(sys.argv[1:]))
