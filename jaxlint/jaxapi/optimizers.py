"""The optimizers of optax, and the contents of their states."""

from __future__ import annotations

from collections.abc import Iterable

# Their states hold an array for each parameter, created by `zeros_like` or `full_like`.
OPTIMIZERS_WITH_MOMENTS = frozenset(
    f"optax.{name}"
    for name in """adabelief adadelta adagrad adam adamax adamaxw adamw adan amsgrad lamb lars lion nadam nadamw novograd
    optimistic_adam optimistic_adam_v2 optimistic_gradient_descent radam rmsprop rprop signum sm3 yogi""".split()  # noqa: SIM905
)
# Their states hold arrays.
OPTIMIZERS_WITH_ARRAYS = OPTIMIZERS_WITH_MOMENTS | {"optax.adafactor", "optax.lbfgs"}
# Transformations that scale by the learning rate, their first argument.
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

# What these add to the root of a moment, in the dtype of the parameters, by default: without it, a parameter whose
# gradient is zero gets NaN.
EPSILONS = {
    **dict.fromkeys(
        (
            f"optax.{name}"
            for name in [
                "adam",
                "adamax",
                "adamaxw",
                "adamw",
                "adan",
                "amsgrad",
                "nadam",
                "nadamw",
                "rmsprop",
                "scale_by_adam",
                "scale_by_adan",
                "scale_by_amsgrad",
                "scale_by_rms",
                "scale_by_stddev",
            ]
        ),
        1e-8,
    ),
    "optax.adabelief": 1e-16,
    "optax.scale_by_belief": 1e-16,
}

# Other functions that create an object with functions `init` and `update`.
_PARTS = frozenset(
    f"optax.{name}"
    for name in """MultiSteps adaptive_grad_clip add_decayed_weights add_noise apply_every apply_if_finite centralize chain clip
    clip_by_block_rms clip_by_global_norm conditionally_mask conditionally_transform ema flatten freeze identity
    keep_params_nonnegative lookahead masked measure_with_ema multi_transform named_chain normalize_by_update_norm
    partition scale selective_transform set_to_zero snapshot stateless stateless_with_tree_map trace
    with_extra_args_support zero_nans""".split()  # noqa: SIM905
)

# Their gradients have another structure than the parameters, or functions of the program decide about the structure.
_OF_OTHER_TREES = frozenset(
    {"optax.lookahead", "optax.GradientTransformation", "optax.GradientTransformationExtraArgs"}
)


def keeps_structure(parts: Iterable[str]) -> bool:
    """Whether gradients, parameters and updates of an optimizer composed of `parts` have one structure."""
    return _OF_OTHER_TREES.isdisjoint(parts)


def makes_optimizer(name: str) -> bool:
    """Whether a call of optax creates an optimizer or a part of one: an object of functions, which jit does
    not accept as an argument.
    """
    return name in OPTIMIZERS or name in _PARTS or name.startswith(("optax.scale_by_", "optax.contrib."))
