"""The optimizers of optax, and what their states hold."""

from __future__ import annotations

# Their states hold an array for each parameter, which `zeros_like` or `full_like` makes.
OPTIMIZERS_WITH_MOMENTS = frozenset(
    f"optax.{name}"
    for name in """adabelief adadelta adagrad adam adamax adamaxw adamw adan amsgrad lamb lars lion nadam nadamw novograd
    optimistic_adam optimistic_adam_v2 optimistic_gradient_descent radam rmsprop rprop signum sm3 yogi""".split()  # noqa: SIM905
)
# Their states hold arrays.
OPTIMIZERS_WITH_ARRAYS = OPTIMIZERS_WITH_MOMENTS | {"optax.adafactor", "optax.lbfgs"}
# All that scale by the learning rate, each the first argument.
OPTIMIZERS = OPTIMIZERS_WITH_ARRAYS | {
    "optax.fromage",
    "optax.noisy_sgd",
    "optax.polyak_sgd",
    "optax.sgd",
    "optax.sign_sgd",
}

# `update` of these raises without the parameters.
OPTIMIZERS_OF_PARAMETERS = frozenset(
    f"optax.{name}"
    for name in """adafactor adamaxw adamw add_decayed_weights lamb lars lion nadamw scale_by_trust_ratio""".split()  # noqa: SIM905
)
