import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class MessagePassing(nn.Module):
    width: int
    rounds: int

    @nn.compact
    def __call__(self, nodes, senders, receivers):
        x = nn.Dense(self.width)(nodes)
        for _ in range(self.rounds):
            messages = nn.relu(nn.Dense(self.width)(jnp.concatenate([x[senders], x[receivers]], axis=1)))
            gathered = jax.ops.segment_sum(messages, receivers, num_segments=len(nodes))
            x = nn.LayerNorm()(x + nn.relu(nn.Dense(self.width)(gathered)))
        return x


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, nodes, senders, receivers, graph_ids, graph_count):
        x = MessagePassing(width=24, rounds=2)(nodes, senders, receivers)
        pooled = jax.ops.segment_sum(x, graph_ids, num_segments=graph_count)
        return nn.Dense(1)(nn.relu(nn.Dense(24)(pooled)))[:, 0]


def make_graph(rng):
    count = rng.integers(5, 12)
    nodes = rng.normal(size=(count, 4))
    edges = [(i, (i + 1) % count) for i in range(count)]
    edges += [tuple(rng.integers(0, count, size=2)) for _ in range(rng.integers(0, 5))]
    edges += [(b, a) for a, b in edges]
    senders, receivers = np.array(edges).T
    target = np.tanh(nodes[senders, 0] * nodes[receivers, 1]).sum() / count
    return nodes, senders, receivers, target


def collate(graphs):
    nodes, senders, receivers, ids, targets = [], [], [], [], []
    offset = 0
    for i, (n, s, r, t) in enumerate(graphs):
        nodes.append(n)
        senders.append(s + offset)
        receivers.append(r + offset)
        ids.append(np.full(len(n), i))
        targets.append(t)
        offset += len(n)
    return (
        np.concatenate(nodes),
        np.concatenate(senders),
        np.concatenate(receivers),
        np.concatenate(ids),
        np.array(targets),
    )


model = Regressor()
optimizer = optax.adam(4e-3)


def loss_fn(params, nodes, senders, receivers, graph_ids, targets):
    predictions = model.apply(params, nodes, senders, receivers, graph_ids, len(targets))
    return jnp.mean((predictions - targets) ** 2)


@jax.jit
def train_step(params, opt_state, nodes, senders, receivers, graph_ids, targets):
    loss, grads = jax.value_and_grad(loss_fn)(params, nodes, senders, receivers, graph_ids, targets)
    updates, opt_state = optimizer.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def main():
    rng = np.random.default_rng(7)
    graphs = [make_graph(rng) for _ in range(48)]
    batch = collate(graphs[:8])
    params = model.init(jax.random.PRNGKey(0), *batch[:4], 8)
    opt_state = optimizer.init(params)
    for epoch in range(2):
        order = rng.permutation(len(graphs))
        losses = []
        for start in range(0, len(graphs), 8):
            batch = collate([graphs[i] for i in order[start : start + 8]])
            params, opt_state, loss = train_step(params, opt_state, *batch)
            losses.append(float(loss))
        print(f"epoch {epoch}: loss {np.mean(losses):.5f}")


if __name__ == "__main__":
    main()
