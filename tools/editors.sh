#!/bin/sh
# The tests in editors: makes Neovim, Emacs, npm and Chromium ready, by the system's packages where they are missing and that is allowed, builds
# the extension for VS Code, makes an environment with JupyterLab, and tests them all.
set -e
missing=
command -v nvim >/dev/null || missing="neovim"
if command -v dpkg >/dev/null; then
    for one in emacs-nox elpa-eglot elpa-lsp-mode; do
        dpkg -s "$one" >/dev/null 2>&1 || missing="$missing $one"
    done
fi
command -v npm >/dev/null || missing="$missing npm"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing="$missing chromium"
if [ -n "$missing" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    if command -v apt-get >/dev/null; then
        # A machine without a way to its packages is to lose no time.
        quick="timeout 90 $sudo apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10"
        # shellcheck disable=SC2086
        $quick update && for one in $missing; do $quick install -y --no-install-recommends "$one" || true; done || true
    elif command -v brew >/dev/null; then
        # shellcheck disable=SC2086
        brew install --quiet $missing || true
    fi
fi
if command -v npm >/dev/null && (cd editors/vscode && npm ci --ignore-scripts --silent --fetch-retries=0 --fetch-timeout=30000); then
    (cd editors/vscode && npm test --silent && npm run --silent package)
else
    echo "npm is not installed, or has no way to its packages: the extension for VS Code is not built" >&2
fi
command -v nvim >/dev/null || echo "Neovim is not installed: its test is skipped" >&2
command -v emacs >/dev/null || echo "Emacs is not installed: its tests are skipped" >&2
"${PYTHON:-.venv/bin/python}" tools/setup.py --venv .venv-jupyter --group jupyter --extra server ||
    echo "JupyterLab could not be installed: its test is skipped" >&2
exec .venv/bin/python -m pytest -q tests/integration/test_neovim.py tests/integration/test_emacs.py tests/integration/test_vscode.py tests/integration/test_jupyterlab.py
