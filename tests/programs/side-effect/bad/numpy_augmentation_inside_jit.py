# blind: sixteenth

"""SimCLR-style training on small images; augmentation inside of the compiled step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


def random_flip(images):
    flip = np.random.rand(images.shape[0]) < 0.5  # finding
    return jnp.where(flip[:, None, None, None], images[:, :, ::-1, :], images)


def random_brightness(images, strength=0.4):
    factor = 1.0 + np.random.uniform(-strength, strength, (images.shape[0], 1, 1, 1))  # finding
    return images * factor.astype(np.float32)


def augment(images):
    return random_brightness(random_flip(images))


def init(key, pixels, dim=32):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (pixels, 128)) / np.sqrt(pixels),
        "w2": jax.random.normal(k2, (128, dim)) / np.sqrt(128),
    }


def embed(params, images):
    x = images.reshape(images.shape[0], -1)
    z = jax.nn.relu(x @ params["w1"]) @ params["w2"]
    return z / jnp.linalg.norm(z + 1e-6, axis=-1, keepdims=True)


def nt_xent(params, view_a, view_b, temperature=0.2):
    za, zb = embed(params, view_a), embed(params, view_b)
    logits = za @ zb.T / temperature
    labels = jnp.arange(logits.shape[0])
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, images):
    view_a, view_b = augment(images), augment(images)
    loss, grads = jax.value_and_grad(nt_xent)(params, view_a, view_b)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(0)
    data = rng.random((512, 16, 16, 3), dtype=np.float32)
    params = init(jax.random.PRNGKey(0), 16 * 16 * 3)
    opt_state = optimizer.init(params)
    for epoch in range(3):
        for i in range(0, 512, 64):
            params, opt_state, loss = train_step(params, opt_state, data[i : i + 64])
        print(epoch, loss)


if __name__ == "__main__":
    main()
