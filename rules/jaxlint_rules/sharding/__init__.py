"""Rules of the category sharding."""
