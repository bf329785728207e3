"""Starts the worker under any interpreter, even one without jaxlint.

Run as a script: `python -P boot.py READ_FD WRITE_FD`, `python -P boot.py fork FD` for a process that forks
workers, or `python -P boot.py rank FOLDER LENT` (or `errand`, `ray`) by a launcher, which may not pass the
environment on. Processes that Ray starts import it for `lend`. The interpreter borrows only jaxlint's own packages, from the folder of this file.
"""

import importlib.abc
import importlib.machinery
import os
import sys

_LENT = ("jaxlint_runtime", "jaxlint")
_LENT_IF_MISSING = ("flatbuffers",)  # the serialiser of `jax.export`; pure Python


class _Lender(importlib.abc.MetaPathFinder):
    """Finds jaxlint's packages where the command line found them."""

    def __init__(self, folders, names):
        self._folders = folders
        self._names = names

    def find_spec(self, fullname, path, target=None):
        if path is None and fullname in self._names:
            return importlib.machinery.PathFinder.find_spec(fullname, self._folders)
        return None


def lend(lent, missing=""):
    """Adds the packages: those in the folders `lent`, and those in `missing` that this interpreter lacks."""
    if any(isinstance(finder, _Lender) for finder in sys.meta_path):
        return
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.dirname(package), *filter(None, lent.split(os.pathsep))]
    sys.meta_path.insert(0, _Lender(folders, _LENT))
    sys.meta_path.append(_Lender(list(filter(None, missing.split(os.pathsep))), _LENT_IF_MISSING))


def main():
    """Adds the packages and runs the worker."""
    role = sys.argv[1]
    lent = sys.argv[3] if len(sys.argv) > 3 else os.environ.pop("JAXLINT_LENT", "")
    if sys.version_info < (3, 11):  # noqa: UP036 - `--python` may name any interpreter
        sys.exit("jaxlint verify needs Python 3.11 or later")
    missing = os.environ.pop("JAXLINT_LENT_IF_MISSING", "")
    lend(lent, missing)
    from jaxlint_runtime.workers.main import be_errand, be_rank, drive_ray
    from jaxlint_runtime.workers.main import main as work

    if role == "rank":
        be_rank(sys.argv[2])
    elif role == "ray":
        drive_ray(sys.argv[2], lent, missing)
    elif role == "errand":
        be_errand(sys.argv[2])
    elif role == "fork":
        from jaxlint_runtime.workers.fork_server import serve

        serve(int(sys.argv[2]))
    else:
        work(int(role), int(sys.argv[2]))


if __name__ == "__main__":
    main()
