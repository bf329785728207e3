"""Rules of the category transfer."""
