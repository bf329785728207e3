"""Rules of the category api."""
