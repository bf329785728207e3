"""Functions that no visible call reaches: entry points, methods of unknown objects, callbacks of libraries."""
