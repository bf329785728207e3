"""Regress a graph property with message passing; the graphs have different sizes."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

NODE_DIM = 8
HIDDEN = 32
ROUNDS = 2


def random_graph(rng):
    n = int(rng.integers(5, 15))
    senders, receivers = [], []
    for i in range(1, n):
        j = int(rng.integers(0, i))
        senders += [i, j]
        receivers += [j, i]
    for _ in range(int(rng.integers(0, 4))):
        a, b = rng.choice(n, size=2, replace=False)
        senders += [int(a), int(b)]
        receivers += [int(b), int(a)]
    nodes = rng.normal(size=(n, NODE_DIM))
    degree = np.bincount(receivers, minlength=n)
    target = float(np.tanh(nodes[:, 0]).mean() + 0.2 * degree.max() + 0.1 * degree.std())
    return {
        "nodes": nodes,
        "senders": np.array(senders),
        "receivers": np.array(receivers),
        "target": target,
    }


def glorot(key, n_in, n_out):
    limit = np.sqrt(6 / (n_in + n_out))
    return jax.random.uniform(key, (n_in, n_out), minval=-limit, maxval=limit)


def init(key):
    k = jax.random.split(key, 2 * ROUNDS + 3)
    params = {"encode": glorot(k[0], NODE_DIM, HIDDEN), "rounds": []}
    for r in range(ROUNDS):
        params["rounds"].append({
            "message": glorot(k[2 * r + 1], 2 * HIDDEN, HIDDEN),
            "update": glorot(k[2 * r + 2], 2 * HIDDEN, HIDDEN),
        })
    params["readout"] = glorot(k[-2], HIDDEN, HIDDEN)
    params["out"] = glorot(k[-1], HIDDEN, 1)
    return params


def apply(params, graph):
    h = jax.nn.relu(graph["nodes"] @ params["encode"])
    n = h.shape[0]
    for layer in params["rounds"]:
        pair = jnp.concatenate([h[graph["senders"]], h[graph["receivers"]]], axis=-1)
        messages = jax.nn.relu(pair @ layer["message"])
        agg = jax.ops.segment_sum(messages, graph["receivers"], num_segments=n)
        h = h + jax.nn.relu(jnp.concatenate([h, agg], axis=-1) @ layer["update"])
    pooled = jnp.mean(h, axis=0)
    return (jax.nn.relu(pooled @ params["readout"]) @ params["out"])[0]


def loss_fn(params, graph):
    return (apply(params, graph) - graph["target"]) ** 2


def evaluate(predict, params, graphs):
    errors = []
    for graph in graphs:
        errors.append(abs(float(predict(params, graph)) - graph["target"]))
    return sum(errors) / len(errors)


def main(epochs=6):
    rng = np.random.default_rng(0)
    train = [random_graph(rng) for _ in range(24)]
    test = [random_graph(rng) for _ in range(8)]
    params = init(jax.random.key(0))
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(params)
    grad_fn = jax.jit(jax.value_and_grad(loss_fn))
    predict = jax.jit(apply)

    for epoch in range(epochs):
        losses = []
        for i in rng.permutation(len(train)):
            loss, grads = grad_fn(params, train[i])
            updates, opt_state = optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            losses.append(float(loss))
        mae = evaluate(predict, params, test)
        print(f"epoch {epoch} mse {np.mean(losses):.3f} test mae {mae:.3f}")


if __name__ == "__main__":
    main()
