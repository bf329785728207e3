"""SimCLR on small patches: augmentations of each image, a projection head, a nearest-neighbour probe."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

SIDE, CROP, TEMPERATURE = 16, 12, 0.3


def make_images(rng, count):
    labels = rng.integers(0, 4, size=count)
    grid = np.arange(SIDE)
    images = []
    for label in labels:
        phase = rng.uniform(0, 2 * np.pi)
        wave_x = np.sin(grid * (0.5 + 0.25 * (label % 2)) + phase)
        wave_y = np.cos(grid * (0.4 + 0.4 * (label // 2)))
        images.append(np.outer(wave_x, wave_y) + 0.3 * rng.normal(size=(SIDE, SIDE)))
    return np.array(images, np.float32), labels


def augment(key, image):
    crop_key, flip_key, scale_key, noise_key = jax.random.split(key, 4)
    corner = jax.random.randint(crop_key, (2,), 0, SIDE - CROP + 1)
    patch = jax.lax.dynamic_slice(image, (corner[0], corner[1]), (CROP, CROP))
    patch = jnp.where(jax.random.bernoulli(flip_key), patch[:, ::-1], patch)
    scale = jax.random.uniform(scale_key, (), minval=0.8, maxval=1.2)
    return scale * patch + 0.1 * jax.random.normal(noise_key, patch.shape)


def two_views(key, images):
    def next_keys(key, _):
        key, k1, k2 = jax.random.split(key, 3)
        return key, (k1, k2)

    _, (k1, k2) = jax.lax.scan(next_keys, key, None, len(images))
    return jax.vmap(augment)(k1, images), jax.vmap(augment)(k2, images)


def init_params(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        w = jax.random.normal(sub, (n_in, n_out)) * np.sqrt(2.0 / n_in)
        params.append({"w": w, "b": jnp.zeros(n_out)})
    return params


def encode(params, x):
    x = x.reshape(x.shape[0], -1)
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x


def project(params, x):
    h = encode(params, x)
    z = h @ params[-1]["w"] + params[-1]["b"]
    return z / jnp.linalg.norm(z, axis=1, keepdims=True)


def nt_xent(params, first, second):
    z = jnp.concatenate([project(params, first), project(params, second)])
    n = first.shape[0]
    similarity = z @ z.T / TEMPERATURE
    similarity = jnp.where(jnp.eye(2 * n, dtype=bool), -1e9, similarity)
    partner = (jnp.arange(2 * n) + n) % (2 * n)
    return optax.softmax_cross_entropy_with_integer_labels(similarity, partner).mean()


def train(key, params, images, rng, epochs, batch_size):
    optimizer = optax.adamw(2e-3)
    opt_state = optimizer.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, key, batch):
        key, view_key = jax.random.split(key)
        first, second = two_views(view_key, batch)
        loss, grads = jax.value_and_grad(nt_xent)(params, first, second)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, key, loss

    for epoch in range(epochs):
        order = rng.permutation(len(images))
        running = 0.0
        for start in range(0, len(images), batch_size):
            batch = images[order[start : start + batch_size]]
            params, opt_state, key, loss = step(params, opt_state, key, batch)
            running += loss
        print(f"epoch {epoch}: loss {running / (len(images) // batch_size):.3f}")
    return params


def centre(images):
    edge = (SIDE - CROP) // 2
    return images[:, edge : edge + CROP, edge : edge + CROP]


@jax.jit
def neighbours(params, train_x, test_x):
    bank = encode(params, centre(train_x))
    bank = bank / jnp.linalg.norm(bank, axis=1, keepdims=True)
    features = encode(params, centre(test_x))
    features = features / jnp.linalg.norm(features, axis=1, keepdims=True)
    return jnp.argsort(-features @ bank.T, axis=1)[:, :5]


def probe(params, train_x, train_y, test_x, test_y):
    right = 0
    for nearest, label in zip(np.asarray(neighbours(params, train_x, test_x)), test_y):
        right += int(np.bincount(train_y[nearest]).argmax() == label)
    return right / len(test_y)


def main():
    rng = np.random.default_rng(0)
    images, labels = make_images(rng, 96)
    test_images, test_labels = make_images(rng, 60)
    key = jax.random.PRNGKey(0)
    params = init_params(key, [CROP * CROP, 64, 64, 32])
    params = train(key, params, images, rng, 4, 32)
    accuracy = probe(params, images, labels, test_images, test_labels)
    print(f"5-nn accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
