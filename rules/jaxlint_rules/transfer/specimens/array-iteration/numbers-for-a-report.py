# numbers that are listed for a report, which is advice, and rows that are written one by one

import csv

import jax.numpy as jnp


def report(summary):
    lists = {}
    for name, part in summary.items():
        values = jnp.linalg.eigvalsh(part)
        lists[name] = [float(v) for v in values]  # finding
    return lists


def finite(upper):
    mask = jnp.isfinite(jnp.asarray(upper))
    return tuple(bool(m) for m in mask)  # finding


def write(path, errors):
    residuals = jnp.abs(jnp.asarray(errors))
    with open(path, "w") as file:
        writer = csv.writer(file)
        for row in residuals:
            writer.writerow([float(v) for v in row])  # finding


def neighbours(scores, similar, k):
    found = []
    for index in jnp.argsort(-scores)[:k]:  # finding
        found.append({"token": int(index), "score": float(similar[index])})
    return found
