"""Runs the command line and kills it at its n-th event that changes files: `killer.py N ROOT fix ...`.

With N = 0 it runs to its end, and writes one byte for each such event to the descriptor in KILLER_COUNT. Where KILLER_FROM is given, the
first event that counts is one whose path holds that text.
"""

import os
import signal
import sys

_CHANGES = frozenset(
    {
        "os.rename",
        "os.remove",
        "os.chmod",
        "os.chown",
        "os.mkdir",
        "os.rmdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)


def main() -> None:
    """Place the hook, then be the command line."""
    at, root = int(sys.argv[1]), sys.argv[2]
    tell = int(os.environ.get("KILLER_COUNT", "-1"))
    begin = os.environ.get("KILLER_FROM", "")
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in _CHANGES:
            return
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or not os.path.abspath(path).startswith(root) or path.endswith(".pyc"):
            return
        if not seen and begin not in path:
            return
        seen += 1
        if tell >= 0:
            os.write(tell, b".")
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.argv = ["jaxlint", *sys.argv[3:]]
    sys.addaudithook(hook)
    from jaxlint.__main__ import run

    run()


if __name__ == "__main__":
    main()
