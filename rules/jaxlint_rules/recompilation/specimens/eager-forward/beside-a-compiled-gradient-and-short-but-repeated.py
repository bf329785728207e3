# a model beside the gradient of a compiled loss, and a short evaluation that is repeated
import equinox as eqx
import jax
import jax.numpy as jnp
from tqdm import tqdm


def world(net, head, observations):
    @jax.jit
    def loss(head, state):
        return jnp.sum((state @ head) ** 2)

    slope = jax.value_and_grad(loss)
    for observation in tqdm(range(100000)):
        state = net(observations[observation])  # finding
        value, g = slope(head, state)
        head = head - 1e-3 * g
    return head


def under_the_gradient(net, x, steps):
    def loss(net, x):
        return jnp.sum(net(x) ** 2)

    for _ in range(10000):
        value, g = eqx.filter_value_and_grad(loss)(net, x)
        net = eqx.apply_updates(net, g)
    return net


def evaluate(net, rows):
    total = 0.0
    for i in range(20):
        total += net(rows[i]).sum()  # finding
    return total


def evaluate_once(net, rows):
    total = 0.0
    for i in range(20):
        total += net(rows[i]).sum()
    return total


@eqx.filter_jit
def step(net, x):
    g = eqx.filter_grad(lambda net: jnp.sum(net(x) ** 2))(net)
    return eqx.apply_updates(net, g)


key = jax.random.key(0)
net = eqx.nn.MLP(8, 8, 64, 3, key=key)
rows = jax.random.normal(key, (20, 8))
world(net, jnp.ones(8), rows)
for epoch in tqdm(range(5000)):
    net = step(net, rows[0])
    if epoch % 50 == 0:
        print(evaluate(net, rows))
print(evaluate_once(net, rows))
