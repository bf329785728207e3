"""Rules of the category random."""
