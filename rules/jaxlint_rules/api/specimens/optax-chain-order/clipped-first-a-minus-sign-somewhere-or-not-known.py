# clipped first, a minus sign somewhere, or not known

import optax

def make(lr, parts):
    a = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(lr))
    b = optax.chain(optax.scale_by_adam(), optax.scale(-1e-3))
    c = optax.chain(optax.scale_by_adam(), optax.scale(1e-3), optax.scale(-1))
    d = optax.chain(optax.scale_by_adam(), optax.scale_by_learning_rate(lr))
    e = optax.chain(optax.scale_by_adam(), optax.scale(lr))
    f = optax.chain(optax.adam(lr), optax.scale(0.5))
    return a, b, c, d, e, f, optax.chain(*parts, optax.clip(1.0))
