"""Files in and out: discovery, decoding, atomic writes, diffs."""

from jaxlint.source.file import SourceError, SourceFile

__all__ = ["SourceError", "SourceFile"]
