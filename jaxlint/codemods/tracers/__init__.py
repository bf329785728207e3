"""Code that needs a concrete value, or changes an object, becomes code for tracers."""
