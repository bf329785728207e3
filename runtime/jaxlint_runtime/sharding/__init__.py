"""Which arrays of a function to split over a mesh of devices, found by trying and read from the compiler."""
