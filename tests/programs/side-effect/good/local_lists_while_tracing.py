# source: google/flax#1553
# blind: sixth

"""Lists that live and die inside the trace."""
import jax
import jax.numpy as jnp


def features(x):
    parts = []
    for freq in (1.0, 2.0, 4.0):
        parts.append(jnp.sin(freq * x))
        parts.append(jnp.cos(freq * x))
    return jnp.concatenate(parts, axis=-1)


@jax.jit
def predict(w, x):
    aux = {}
    h = features(x)
    aux["energy"] = jnp.mean(h**2)
    return h @ w, aux


def main():
    losses = []
    for seed in range(3):
        y, aux = predict(jnp.ones(12), jax.random.normal(jax.random.key(seed), (4, 2)))
        losses.append(float(y.mean()))
    print(losses, aux)


if __name__ == "__main__":
    main()
