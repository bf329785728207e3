"""Measurements of jaxlint against real code, peers and experts. Uses jaxlint from outside, as a user does."""
