# source: jax-ml/jax#18237
# blind: seventh

import argparse
import logging

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

log = logging.getLogger("train")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--coordinator", default="localhost:12345")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rank", type=int, default=0)
    return parser.parse_args()


def mean_square(x):
    return jnp.mean(x * x)


def main():
    args = parse()
    jax.distributed.initialize(args.coordinator, args.processes, args.rank)
    log.info("devices of this host: %s", jax.local_devices())
    mesh = jax.make_mesh((jax.device_count(),), ("hosts",))
    sharding = NamedSharding(mesh, P("hosts"))
    x = jax.make_array_from_callback((1024,), sharding, lambda index: jnp.ones(1024)[index])
    print(jax.jit(mean_square)(x))


if __name__ == "__main__":
    main()
