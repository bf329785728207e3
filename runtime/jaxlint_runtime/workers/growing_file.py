"""A file that another process appends lines to."""

from __future__ import annotations

from pathlib import Path


class GrowingFile:
    """Its complete lines, each once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0  # bytes
        self._rest = b""

    def lines(self) -> list[bytes]:
        """The lines since the last call; none as long as there is no such file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError:
            return []
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


def append(path: Path, lines: list[bytes]) -> None:
    """Adds lines, each without its end."""
    with path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines))
