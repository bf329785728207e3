# clipped after the optimiser, and a step upwards

import optax

late = optax.chain(optax.adam(1e-3), optax.clip_by_global_norm(1.0))  # finding
scaled = optax.chain(optax.scale_by_adam(), optax.scale(-1e-3), optax.clip(1.0))  # finding
upwards = optax.chain(optax.clip(1.0), optax.scale_by_adam(), optax.scale(1e-3))  # finding
signed = optax.chain(optax.signum(1e-3), optax.clip(1.0))  # finding
