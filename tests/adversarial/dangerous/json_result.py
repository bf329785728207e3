# function: summarize
# arguments: x=array
# refused: may return a Python number
# flags: --json

"""A report with Python numbers beside arrays, written as JSON on request."""

import argparse
import json

import jax
import jax.numpy as jnp


def summarize(x):
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / x.shape[0]
    return {"mean": x.mean(axis=0), "trace": jnp.trace(covariance), "n": x.shape[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    key = jax.random.key(0)
    for number in range(40):
        x = jax.random.normal(jax.random.fold_in(key, number), (100, 8))
        r = summarize(x)
    print("trace", r["trace"])
    if args.json:
        print(json.dumps({"n": r["n"], "trace": float(r["trace"])}))


if __name__ == "__main__":
    main()
