"""What is followed beside the values: keys, donated buffers, clocks, gradients, meshes, how arrays came about."""
