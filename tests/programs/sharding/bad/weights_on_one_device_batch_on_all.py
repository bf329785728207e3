# source: jax-ml/jax#25882
# blind: sixth
# missed: devices of arrays are not followed

"""Inference with the batch spread over devices."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P


def load_weights():
    device = jax.devices()[0]
    return {
        "w": jax.device_put(np.ones((4, 2), np.float32), device),
        "b": jax.device_put(np.zeros(2, np.float32), device),
    }


@jax.jit
def predict(params, x):
    return jax.nn.softmax(x @ params["w"] + params["b"])


def main():
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    params = load_weights()
    x = jax.device_put(jnp.ones((16, 4)), NamedSharding(mesh, P("data")))
    print(predict(params, x))  # finding


if __name__ == "__main__":
    main()
