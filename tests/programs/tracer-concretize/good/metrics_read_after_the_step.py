# source: google/flax#1010
# blind: sixth

"""float() where the value is known."""
import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def step(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * grad, {"loss": loss, "norm": jnp.sqrt(jnp.vdot(grad, grad))}


def main():
    w = jnp.zeros(3)
    for _ in range(20):
        w, metrics = step(w, jnp.ones((4, 3)), jnp.ones(4))
    host = jax.device_get(metrics)
    summary = {name: float(value) for name, value in host.items()}
    print(f"{summary['loss']:.3f}", w.tolist())


if __name__ == "__main__":
    main()
