# blind: fifth

import jax
import jax.numpy as jnp
import optax

optimizer = optax.sgd(1e-2)


def loss_fn(params, x, y):
    return optax.l2_loss(jax.nn.relu(x @ params["w1"]) @ params["w2"], y).mean()


@jax.jit
def evaluate(params, x, y):
    return loss_fn(params, x, y)


def make_update():
    def update(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return jax.jit(update, donate_argnums=(0, 1))


def train(params, batches, every=100):
    opt_state = optimizer.init(params)
    update = make_update()
    for step, (x, y) in enumerate(batches):
        params, opt_state, loss = update(params, opt_state, x, y)
        if step % every == 0:
            print(f"step {step}: loss {float(loss):.4f}")
    return params


if __name__ == "__main__":
    key = jax.random.key(0)
    params = {"w1": jax.random.normal(key, (4, 8)), "w2": jnp.zeros((8, 1))}
    batches = [(jnp.ones((16, 4)), jnp.ones((16, 1)))] * 4
    final = train(params, batches)
    print(float(evaluate(final, *batches[0])))
