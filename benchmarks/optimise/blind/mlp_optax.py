import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_params(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n_in, n_out)) * np.sqrt(2.0 / n_in), "b": jnp.zeros(n_out)})
    return params


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    last = params[-1]
    return x @ last["w"] + last["b"]


def loss_fn(params, x, y):
    logits = forward(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


grad_fn = jax.jit(jax.value_and_grad(loss_fn))


def main():
    rng = np.random.default_rng(0)
    data_x = rng.normal(size=(4096, 64))
    data_y = rng.integers(0, 10, size=4096)
    params = init_params(jax.random.PRNGKey(0), [64, 128, 128, 10])
    optimizer = optax.adamw(1e-3)
    opt_state = optimizer.init(params)
    losses = []
    for epoch in range(5):
        order = rng.permutation(len(data_x))
        for start in range(0, len(data_x), 64):
            idx = order[start : start + 64]
            x, y = data_x[idx], data_y[idx]
            loss, grads = grad_fn(params, x, y)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            losses.append(float(loss))
        print(f"epoch {epoch}: loss {np.mean(losses[-64:]):.4f}")


if __name__ == "__main__":
    main()
