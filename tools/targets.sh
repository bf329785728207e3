#!/bin/sh
# Runs the tests of targets that are not there, in an environment of their own. TARGETS says which compilers it gets:
# tpu (1.5 GB), gpu (4.6 GB), both by default.
set -e
TARGETS=${TARGETS:-tpu gpu}
name=$(echo "$TARGETS" | tr ' ' '-')
set -- --venv ".venv-$name" --extra verify
case " $TARGETS " in *" gpu "*) set -- "$@" --extra triton ;; esac
for extra in $TARGETS; do
    set -- "$@" --extra "$extra"
done
"$PYTHON" tools/setup.py "$@"
exec ".venv-$name/bin/python" -m pytest -m targets tests/runtime
