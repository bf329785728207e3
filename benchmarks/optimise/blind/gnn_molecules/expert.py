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


def pad_batch(graphs, max_nodes=16, max_edges=40):
    batch = {
        "nodes": np.zeros((len(graphs), max_nodes, NODE_DIM), np.float32),
        "senders": np.full((len(graphs), max_edges), max_nodes - 1, np.int32),
        "receivers": np.full((len(graphs), max_edges), max_nodes - 1, np.int32),
        "n": np.array([len(g["nodes"]) for g in graphs], np.int32),
        "target": np.array([g["target"] for g in graphs], np.float32),
    }
    for i, g in enumerate(graphs):
        batch["nodes"][i, :len(g["nodes"])] = g["nodes"]
        batch["senders"][i, :len(g["senders"])] = g["senders"]
        batch["receivers"][i, :len(g["receivers"])] = g["receivers"]
    return batch


def apply(params, graph):
    h = jax.nn.relu(graph["nodes"] @ params["encode"])
    n = h.shape[0]
    for layer in params["rounds"]:
        pair = jnp.concatenate([h[graph["senders"]], h[graph["receivers"]]], axis=-1)
        messages = jax.nn.relu(pair @ layer["message"])
        agg = jax.ops.segment_sum(messages, graph["receivers"], num_segments=n)
        h = h + jax.nn.relu(jnp.concatenate([h, agg], axis=-1) @ layer["update"])
    real = (jnp.arange(n) < graph["n"])[:, None]
    pooled = jnp.sum(jnp.where(real, h, 0.0), axis=0) / graph["n"]
    return (jax.nn.relu(pooled @ params["readout"]) @ params["out"])[0]


def loss_fn(params, graph):
    return (apply(params, graph) - graph["target"]) ** 2


def main(epochs=6):
    rng = np.random.default_rng(0)
    train = [random_graph(rng) for _ in range(24)]
    test = [random_graph(rng) for _ in range(8)]
    optimizer = optax.adam(1e-3)

    @jax.jit
    def create(key):
        params = init(key)
        return params, optimizer.init(params)

    @jax.jit
    def run_epoch(state, train, test, order):
        def step(state, i):
            params, opt_state = state
            graph = jax.tree.map(lambda a: a[i], train)
            loss, grads = jax.value_and_grad(loss_fn)(params, graph)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss

        state, losses = jax.lax.scan(step, state, order)
        errors = jax.vmap(apply, in_axes=(None, 0))(state[0], test) - test["target"]
        return state, losses.mean(), jnp.abs(errors).mean()

    train_batch = jax.device_put(pad_batch(train))
    test_batch = jax.device_put(pad_batch(test))
    state = create(jax.random.key(0))
    for epoch in range(epochs):
        order = rng.permutation(len(train))
        state, mse, mae = run_epoch(state, train_batch, test_batch, order)
        print(f"epoch {epoch} mse {mse:.3f} test mae {mae:.3f}")


if __name__ == "__main__":
    main()
