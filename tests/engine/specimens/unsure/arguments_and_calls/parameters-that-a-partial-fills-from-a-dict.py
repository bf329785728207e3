# parameters that a partial fills from a dict
from functools import partial

import jax

class Stack:
    def body(self, carry, layer, graph, width):
        return carry + layer * width, graph

    def forward(self, x, layers, *more, **options):
        x, _ = jax.lax.scan(partial(self.body, graph=3, **options), x, layers)
        y, _ = jax.lax.scan(partial(self.body, *more), x, layers)
        return x + y
