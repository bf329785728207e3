# source: jax-ml/jax#13572
# blind: nineteenth

import time

import jax
import jax.numpy as jnp


def random_hmm(key, states, symbols):
    k_t, k_e, k_p = jax.random.split(key, 3)
    return {
        "log_trans": jax.nn.log_softmax(jax.random.normal(k_t, (states, states)), axis=1),
        "log_emit": jax.nn.log_softmax(2.0 * jax.random.normal(k_e, (states, symbols)), axis=1),
        "log_prior": jax.nn.log_softmax(jax.random.normal(k_p, (states,))),
    }


def forward_log_likelihood(hmm, observations):  # finding-also
    alpha = hmm["log_prior"] + hmm["log_emit"][:, observations[0]]
    for t in range(1, observations.shape[0]):  # finding
        predicted = jax.nn.logsumexp(alpha[:, None] + hmm["log_trans"], axis=0)  # finding-also
        alpha = predicted + hmm["log_emit"][:, observations[t]]  # finding-also
    return jax.nn.logsumexp(alpha)


def sample_sequence(key, hmm, length):
    k_init, k_steps = jax.random.split(key)
    z0 = jax.random.categorical(k_init, hmm["log_prior"])

    def emit(z, k):
        k_x, k_z = jax.random.split(k)
        x = jax.random.categorical(k_x, hmm["log_emit"][z])
        return jax.random.categorical(k_z, hmm["log_trans"][z]), x

    return jax.lax.scan(emit, z0, jax.random.split(k_steps, length))[1]


def main():
    k_hmm, k_alt, k_seq = jax.random.split(jax.random.key(0), 3)
    truth = random_hmm(k_hmm, 8, 20)
    rival = random_hmm(k_alt, 8, 20)
    observations = sample_sequence(k_seq, truth, 500)
    start = time.perf_counter()
    score_truth = forward_log_likelihood(truth, observations)
    score_rival = forward_log_likelihood(rival, observations)
    ratio = float(score_truth - score_rival)
    print("log likelihood ratio", ratio, "seconds", round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main()
