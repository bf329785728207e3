# source: jax-ml/jax#3058
# blind: seventeenth

"""Adversarial perturbation with a norm penalty."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def attack_loss(delta, model, x, label, weight):
    logits = model(x + delta)
    fool = jax.nn.log_softmax(logits)[label]
    return fool + weight * jnp.linalg.norm(delta)  # finding


@eqx.filter_jit
def attack(model, x, label, steps=40, lr=1e-2, weight=0.1):
    optim = optax.adam(lr)
    delta = jnp.zeros_like(x)
    state = optim.init(delta)

    def body(carry, _):
        delta, state = carry
        loss, grad = jax.value_and_grad(attack_loss)(delta, model, x, label, weight)  # finding-also
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
