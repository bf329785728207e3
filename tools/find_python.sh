#!/bin/sh
# Prints the Python that the project is set up with: that of an existing .venv, else the first supported one on PATH.
supported='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
for python in .venv/bin/python python3 python python3.13 python3.12 python3.11; do
    if "$python" -c "$supported" 2>/dev/null; then
        "$python" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))'
        exit
    fi
done
echo python3 # tools/setup.py says what is wrong with it
