# blind: twenty-first
# missed: what tree_unflatten gets beside arrays

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class DiagGaussian:
    def __init__(self, mean, log_scale):
        self.mean = jnp.asarray(mean, jnp.float32)  # finding-also
        self.log_scale = jnp.asarray(log_scale, jnp.float32)  # finding-also

    def tree_flatten(self):
        return (self.mean, self.log_scale), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)  # finding

    def log_prob(self, x):
        z = (x - self.mean) * jnp.exp(-self.log_scale)
        const = 0.5 * jnp.log(2 * jnp.pi)
        return jnp.sum(-0.5 * z ** 2 - self.log_scale - const)

    def sample(self, key):
        eps = jax.random.normal(key, self.mean.shape)
        return self.mean + jnp.exp(self.log_scale) * eps


def target_log_prob(x):
    return -0.5 * jnp.sum((x - 2.0) ** 2) / 0.25


def elbo(dist, keys):
    def one(key):
        x = dist.sample(key)
        return target_log_prob(x) - dist.log_prob(x)

    return jnp.mean(jax.vmap(one)(keys))


@jax.jit
def update(dist, key, lr):
    keys = jax.random.split(key, 32)
    value, grads = jax.value_and_grad(elbo)(dist, keys)
    return jax.tree.map(lambda p, g: p + lr * g, dist, grads), value


def main():
    dist = DiagGaussian(jnp.zeros(3), jnp.zeros(3))
    key = jax.random.key(0)
    for i in range(300):
        dist, value = update(dist, jax.random.fold_in(key, i), 0.02)
    particles = jax.vmap(dist.sample)(jax.random.split(key, 5))
    mixture = jax.vmap(lambda m: DiagGaussian(m, jnp.zeros(3)))(particles)
    template = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, p.dtype), mixture)  # finding-also
    print("elbo", float(value), "mean", dist.mean)
    print("checkpoint template", template.mean, template.log_scale)


if __name__ == "__main__":
    main()
