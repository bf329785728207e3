#!/bin/sh
# The extension in VS Code's own workbench: builds it, installs code-server, which is VS Code for a browser, and drives it
# in a headless Chromium. It is large and compiles three modules, so that CI does without. Needs Node 20 with its headers.
set -e
version=4.100.3
folder=.vscode-workbench
code=$folder/node_modules/code-server
make vscode
if [ ! -f "$folder/ready-$version" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    npm_config_nodedir=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
    export npm_config_nodedir npm_config_yes=true  # node-pty asks whether it may run node-gyp
    npm install --silent --prefix "$folder" --ignore-scripts "code-server@$version"
    (cd "$folder" && npm rebuild --silent argon2)
    (cd "$code/lib/vscode" && npm install --silent --omit=dev --ignore-scripts && npm rebuild --silent @vscode/spdlog node-pty)
    touch "$folder/ready-$version"
fi
"${PYTHON:-.venv/bin/python}" tools/setup.py --venv .venv-jupyter --group jupyter --extra server
exec .venv/bin/python -m pytest -q tests/integration/test_vscode_workbench.py
