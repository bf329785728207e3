# source: jax-ml/jax#12575
# blind: second
# missed: that the function is elementwise is not known

import equinox as eqx
import jax
import jax.numpy as jnp


class Flow(eqx.Module):
    log_scale: jax.Array
    shift: jax.Array
    steps: int = eqx.field(static=True)

    def forward(self, z):
        for _ in range(self.steps):
            z = jnp.exp(self.log_scale) * z + jnp.tanh(self.shift * z)
        return z

    def log_det(self, z):
        jacobian = jax.jacrev(self.forward)(z)
        return jnp.sum(jnp.log(jnp.abs(jnp.diagonal(jacobian))))  # finding


def log_prob(flow, z):
    base = -0.5 * jnp.sum(z**2) - 0.5 * z.size * jnp.log(2 * jnp.pi)
    return base - flow.log_det(z)


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(flow, zs):
    return -jnp.mean(jax.vmap(log_prob, in_axes=(None, 0))(flow, zs))


def main():
    flow = Flow(jnp.zeros(64), jnp.full(64, 0.1), 3)
    zs = jax.random.normal(jax.random.key(0), (8, 64))
    value, grads = loss(flow, zs)
    print(value, grads.shift.shape)


if __name__ == "__main__":
    main()
