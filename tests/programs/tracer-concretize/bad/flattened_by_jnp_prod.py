# blind: seventeenth

"""A convolutional Q-network in haiku."""
import haiku as hk
import jax
import jax.numpy as jnp
import optax


class QNetwork(hk.Module):
    def __init__(self, num_actions, name=None):
        super().__init__(name=name)
        self.num_actions = num_actions

    def __call__(self, frames):
        x = frames.astype(jnp.float32) / 255.0
        x = jax.nn.relu(hk.Conv2D(16, 8, stride=4)(x))
        x = jax.nn.relu(hk.Conv2D(32, 4, stride=2)(x))
        flat = jnp.prod(jnp.array(x.shape[1:]))
        x = x.reshape(x.shape[0], flat)  # finding
        x = jax.nn.relu(hk.Linear(64)(x))
        return hk.Linear(self.num_actions)(x)


network = hk.without_apply_rng(hk.transform(lambda f: QNetwork(6)(f)))
optimizer = optax.adam(1e-4)


@jax.jit
def update(params, opt_state, frames, actions, targets):
    def loss_fn(params):
        q = network.apply(params, frames)
        chosen = jnp.take_along_axis(q, actions[:, None], axis=1)[:, 0]
        return jnp.mean(jnp.square(chosen - targets))

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def main():
    frames = jnp.zeros((4, 84, 84, 4), jnp.uint8)
    params = jax.jit(network.init)(jax.random.key(0), frames)
    opt_state = optimizer.init(params)
    actions = jnp.zeros(4, jnp.int32)
    params, opt_state = update(params, opt_state, frames, actions, jnp.ones(4))
    print(jax.tree.map(jnp.shape, params))


if __name__ == "__main__":
    main()
