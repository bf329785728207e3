# layers, attention, a network that is rolled out

import jax
import jax.numpy as jnp

def block(layer, h):
    return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"]

def forward(params, x):
    def body(h, layer):
        return block(layer, h), None

    h, _ = jax.lax.scan(body, x, params["layers"])  # finding
    return h

@jax.jit
def step(params, x):
    return jax.grad(lambda params: jnp.mean(forward(params, x) ** 2))(params)

def attend(p, x):
    scores = jax.nn.softmax(jnp.einsum("td,sd->ts", x @ p["q"], x @ p["k"]))
    return scores @ (x @ p["v"])

def rollout(params, state, steps):
    def predict(state, _):
        for w in params:
            state = jnp.tanh(state @ w)
        return state, state

    return jax.lax.scan(predict, state, None, length=100)[1]  # finding

@jax.jit
def update(params, layers, state):
    def loss(params, layers):
        x = jax.lax.scan(lambda h, p: (h + attend(p, h), None), state, layers)[0]  # finding
        return jnp.sum(rollout(params, x, 100))

    return jax.value_and_grad(loss, argnums=(0, 1))(params, layers)
