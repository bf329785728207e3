"""File input and output: discovery, decoding, atomic writes, diffs."""

from jaxlint.source.file import SourceError, SourceFile
from jaxlint.source.read import read_source, source_from_bytes

__all__ = ["SourceError", "SourceFile", "read_source", "source_from_bytes"]
