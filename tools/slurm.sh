#!/bin/sh
# Installs Slurm and munge by the system's packages, where they are missing and that is allowed: tests/integration/test_slurm.py
# starts a Slurm of one node, and is skipped without them.
set -e
PATH=$PATH:/usr/sbin
command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && exit 0
if command -v apt-get >/dev/null; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    # A machine without a way to its packages is to lose no time.
    quick="timeout 90 $sudo apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10"
    # shellcheck disable=SC2086
    $quick update && $quick install -y --no-install-recommends slurm-wlm munge || true
fi
command -v slurmctld >/dev/null || echo "Slurm is not installed: its tests are skipped" >&2
