"""Facts of one file for codemods: dataflow, effects, module state, which operations a tracer does not allow."""
