# one iteration alone draws

import jax

def forward(layers, x, key):
    for i, layer in enumerate(layers):
        if i < len(layers) - 1:
            x = layer(x)
        else:
            x = x + jax.random.normal(key, x.shape)
    return x

def walk(x, n, key):
    for i in range(n):
        if i == 0:
            x = x + jax.random.normal(key, x.shape)
        x = x * 2
    return x
