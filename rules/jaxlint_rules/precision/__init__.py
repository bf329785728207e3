"""Rules of the category precision."""
