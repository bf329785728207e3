"""Finds the arrays of a function to split over a mesh, by trying placements and reading the compiler's output."""
