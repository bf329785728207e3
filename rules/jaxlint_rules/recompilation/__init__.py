"""Rules of the category recompilation."""
