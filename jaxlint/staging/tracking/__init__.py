"""Tracking beside the values: keys, donated buffers, clocks, gradients, meshes, operations behind arrays."""
