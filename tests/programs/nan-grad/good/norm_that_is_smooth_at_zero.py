# blind: seventeenth

"""Adversarial perturbation with a norm penalty that is smooth at zero."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def safe_norm(v, eps=1e-12):
    sq = jnp.sum(v * v)
    zero = sq < eps
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, sq)))


def attack_loss(delta, model, x, label, weight):
    logits = model(x + delta)
    fool = jax.nn.log_softmax(logits)[label]
    return fool + weight * safe_norm(delta)


@eqx.filter_jit
def attack(model, x, label, steps=40, lr=1e-2, weight=0.1):
    optim = optax.adam(lr)
    delta = jnp.zeros_like(x)
    state = optim.init(delta)

    def body(carry, _):
        delta, state = carry
        loss, grad = jax.value_and_grad(attack_loss)(delta, model, x, label, weight)
        updates, state = optim.update(grad, state)
        return (optax.apply_updates(delta, updates), state), loss

    (delta, _), losses = jax.lax.scan(body, (delta, state), None, length=steps)
    return delta, losses


def main():
    model = eqx.nn.MLP(10, 3, 16, 2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (10,))
    label = jnp.argmax(model(x))
    delta, losses = attack(model, x, label)
    print(losses[:3], jnp.linalg.norm(delta))


if __name__ == "__main__":
    main()
