# a gradient that nothing compiles, in a loop of the program

import jax
import jax.numpy as jnp
import optax

def loss(params, x, y):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((h @ params["w2"] - y) ** 2)

value_and_grad = jax.value_and_grad(loss)

def train(params, x, y, n):
    opt = optax.sgd(0.1)
    state = opt.init(params)
    for _ in range(n):
        value, grads = value_and_grad(params, x, y)  # finding
        updates, state = opt.update(grads, state)
        params = optax.apply_updates(params, updates)
    return params

def adapt(params, x, y, n):
    for _ in range(n):
        grads = jax.grad(loss)(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return loss(params, x, y)

@jax.jit
def meta_step(params, x, y):
    grads = jax.grad(lambda p: adapt(p, x, y, 5))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

def sensitivity(params, points):
    return [value_and_grad(params, x, x[:, :1])[0] for x in points]

def square(w):
    return w**2

def descend(w):
    for _ in range(100):
        w = w - 0.1 * jax.grad(square)(w)
    return w

def main():
    params = {"w1": jnp.ones((3, 4)), "b1": jnp.zeros(4), "w2": jnp.ones((4, 1))}
    x, y = jnp.ones((8, 3)), jnp.ones((8, 1))
    params = train(meta_step(params, x, y), x, y, 100)
    with jax.disable_jit(False):
        print(value_and_grad(params, x, y), sensitivity(params, [x]), descend(1.0))

main()
