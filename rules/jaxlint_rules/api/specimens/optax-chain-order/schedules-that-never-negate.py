# a positive schedule alone, and the same with a negative factor, a negated schedule, or the right function
import optax

schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-4, 100, 10_000)

up = optax.chain(  # finding
    optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale_by_schedule(schedule)
)
down = optax.chain(optax.scale_by_adam(), optax.scale_by_schedule(schedule), optax.scale(-1.0))
negated = optax.chain(optax.scale_by_adam(), optax.scale_by_schedule(lambda count: -schedule(count)))
usual = optax.chain(optax.scale_by_adam(), optax.scale_by_learning_rate(schedule))
falling = optax.chain(
    optax.scale_by_adam(), optax.scale_by_schedule(optax.exponential_decay(-1e-3, 100, 0.9))
)
unknown = optax.chain(optax.scale_by_adam(), optax.scale_by_schedule(print))
