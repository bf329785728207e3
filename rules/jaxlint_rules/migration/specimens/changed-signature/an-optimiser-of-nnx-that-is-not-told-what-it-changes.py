# an optimiser of nnx that is not told what it changes

import optax
from flax import nnx

model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
old = nnx.Optimizer(model, optax.sgd(0.1))  # finding
new = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
both = nnx.ModelAndOptimizer(model, optax.sgd(0.1))
