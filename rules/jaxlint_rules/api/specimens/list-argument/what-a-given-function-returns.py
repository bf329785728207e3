# which branch is right for the function that was given is known to the callers
import jax.numpy as jnp


def scaled(tensors, with_angles=True):
    return [2.0 * t for t in tensors]


def turned(tensors, with_angles=True):
    return [2.0 * t for t in tensors], jnp.ones(2)


def largest(tensors, convert, spiral):
    if spiral:
        converted, angles = convert(tensors)
    else:
        converted = convert(tensors)
    if not spiral:
        return max(jnp.sum(one) for one in converted)
    return angles


def total(tensors, convert):
    converted = convert(tensors)
    return [jnp.sum(one) for one in converted]


def total_of_kind(tensors, convert, spiral):
    if spiral:
        result = jnp.sum(convert(tensors)[1])
    else:
        result = total(tensors, convert)
    return result


def without_tests(tensors, convert):
    converted = convert(tensors)
    return [jnp.sum(one) for one in converted]  # finding


def main(flag):
    tensors = [jnp.ones(3), jnp.ones(3)]
    print(largest(tensors, scaled, False), largest(tensors, turned, flag))
    print(total_of_kind(tensors, scaled, False), total_of_kind(tensors, turned, flag))
    print(without_tests(tensors, turned))


main(len(__doc__ or "") > 3)
