# After flax' nnx MNIST tutorial: the steps under nnx.jit, the model initialised under nnx.jit.
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class CNN(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.conv1 = nnx.Conv(1, 8, kernel_size=(3, 3), rngs=rngs)
        self.conv2 = nnx.Conv(8, 16, kernel_size=(3, 3), rngs=rngs)
        self.dropout = nnx.Dropout(rate=0.1, rngs=rngs)
        self.linear1 = nnx.Linear(16 * 3 * 3, 32, rngs=rngs)
        self.linear2 = nnx.Linear(32, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv1(x)), window_shape=(2, 2), strides=(2, 2))
        x = nnx.max_pool(nnx.relu(self.conv2(x)), window_shape=(2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        x = self.dropout(nnx.relu(self.linear1(x)))
        return self.linear2(x)


def make_images(rng, count):
    labels = rng.integers(0, 4, size=count)
    yy, xx = np.mgrid[0:12, 0:12] / 12.0
    images = np.zeros((count, 12, 12, 1))
    for i, label in enumerate(labels):
        angle = np.pi * label / 4 + rng.normal(scale=0.1)
        phase = rng.uniform(0, 2 * np.pi)
        images[i, :, :, 0] = np.sin(12 * (np.cos(angle) * xx + np.sin(angle) * yy) + phase)
    images += rng.normal(scale=0.5, size=images.shape)
    return images, labels


def loss_fn(model, batch):
    logits = model(batch["image"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits=logits, labels=batch["label"]).mean()
    return loss, logits


@nnx.jit(donate_argnums=(0, 1, 2))
def train_step(model, optimizer, metrics, batch):
    grad_fn = nnx.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(model, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])
    optimizer.update(model, grads)


@nnx.jit(donate_argnums=(1,))
def eval_step(model, metrics, batch):
    loss, logits = loss_fn(model, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])


def iterate(images, labels, batch_size):
    for start in range(0, len(images), batch_size):
        yield {
            "image": jnp.array(images[start : start + batch_size]),
            "label": jnp.array(labels[start : start + batch_size]),
        }


@nnx.jit
def create():
    model = CNN(rngs=nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adamw(5e-3, 0.9), wrt=nnx.Param)


def main():
    rng = np.random.default_rng(0)
    train_images, train_labels = make_images(rng, 640)
    test_images, test_labels = make_images(rng, 128)
    model, optimizer = create()
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    history = {"train_loss": [], "train_accuracy": [], "test_loss": [], "test_accuracy": []}
    for epoch in range(3):
        model.train()
        for batch in iterate(train_images, train_labels, 32):
            train_step(model, optimizer, metrics, batch)
        for name, value in metrics.compute().items():
            history[f"train_{name}"].append(value)
        metrics.reset()
        model.eval()
        for batch in iterate(test_images, test_labels, 32):
            eval_step(model, metrics, batch)
        for name, value in metrics.compute().items():
            history[f"test_{name}"].append(value)
        metrics.reset()
        print(
            f"epoch {epoch}: train loss {history['train_loss'][-1]:.4f} accuracy {history['train_accuracy'][-1]:.3f} "
            f"test loss {history['test_loss'][-1]:.4f} accuracy {history['test_accuracy'][-1]:.3f}"
        )


if __name__ == "__main__":
    main()
