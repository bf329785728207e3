# jit once, tables of functions, functions of the loop variable

import functools
import jax

def update(p, b, lr):
    return p - lr * b

step = jax.jit(update)

class Workload:
    def predict(self, p, b):
        return p @ b

    def evaluate(self, params, batches):
        predict = None
        for batch in batches:
            if predict is None:
                predict = jax.jit(self.predict)
            print(predict(params, batch))

def make_evaluator(model):
    def evaluate(params, key):
        return model(params, key)

    def timed(params, key):
        return jax.pmap(evaluate)(params, key)

    return timed

def run(model, params, keys):
    evaluator = make_evaluator(model)
    for key in keys:
        evaluator(params, key)

def make_step(lr):
    @jax.jit
    def inner(p, b):
        return update(p, b, lr)
    return inner

def train(params, batches):
    inner = make_step(0.1)
    for batch in batches:
        params = inner(step(params, batch, 0.1), batch)
    table = {}
    for lr in (0.1, 0.2):
        table[lr] = jax.jit(functools.partial(update, lr=lr))
        tuned = jax.jit(functools.partial(update, lr=lr))
        params = tuned(params, batches[0])
    return params, table

class Model:
    def __init__(self):
        self.scale = 2.0

    def step(self, x):
        return x * self.scale

def stepped(x):
    model = Model()
    step = jax.jit(model.step)
    for _ in range(10):
        x = step(x)
    return x

def evaluate(batches):
    scale = functools.partial(update, lr=0.1)
    params = batches[0]
    for batch in batches:
        params = jax.jit(scale)(params, batch)
    return params
