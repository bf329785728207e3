"""`jaxlint server` in Emacs, with both of its clients: findings, a hover, and a fix that it makes and saves."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.editor_session import PAGE, project, run

EMACS = shutil.which("emacs")
# With the settings of the documentation, and no question that a test could not answer.
SESSION = """
(setq last-nonmenu-event ?a  ; the keyboard
      make-backup-files nil
      eglot-sync-connect t eglot-confirm-server-initiated-edits nil
      lsp-auto-guess-root t lsp-restart 'ignore lsp-diagnostics-provider :none lsp-enable-snippet nil)
(defun wait-for (what ready)
  (let ((end (+ (float-time) 60)))
    (while (not (funcall ready))
      (when (> (float-time) end) (error "nothing came: %s" what))
      (accept-process-output nil 0.05))))
(defun found-at (text offset)
  (goto-char (point-min))
  (search-forward text)
  (forward-char offset))
(defun chosen (title) (string-prefix-p "jaxlint: Replace" title))
(defun tell (said hover action)
  (require 'json)
  (with-temp-file "out.json" (insert (json-encode (list :said said :hover hover :action action)))))
(find-file "program.py")
"""
EGLOT = """
(require 'eglot)
(apply #'eglot (eglot--guess-contact))
(wait-for "diagnostics" (lambda () (flymake-start) (flymake-diagnostics)))
(let ((said (flymake-diagnostic-text (car (flymake-diagnostics)))) hover action)
  (found-at "leaf, value" -2)
  (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
  (wait-for "a hover" (lambda () hover))
  (found-at "tree_map" -2)
  (cl-letf (((symbol-function 'completing-read)
             (lambda (prompt titles &rest _) (setq action (seq-find #'chosen (all-completions "" titles))))))
    (eglot-code-actions (point) (point) "quickfix" t))
  (save-buffer)
  (wait-for "the finding to go" (lambda () (flymake-start) (null (flymake-diagnostics))))
  (tell said (substring-no-properties hover) action))
(kill-emacs 0)
"""
LSP_MODE = """
(require 'lsp-mode)
(defun findings () (apply #'append (hash-table-values (lsp-diagnostics t))))
(lsp)
(wait-for "the server" #'lsp-workspaces)
(wait-for "diagnostics" #'findings)
(let ((said (lsp-get (car (findings)) :message)) hover action)
  (found-at "leaf, value" -2)
  (setq hover (lsp-request "textDocument/hover" (lsp--text-document-position-params)))
  (found-at "tree_map" -2)
  (setq action (seq-find (lambda (one) (chosen (lsp-get one :title))) (lsp-code-actions-at-point)))
  (lsp-execute-code-action action)
  (save-buffer)
  (wait-for "the finding to go" (lambda () (null (findings))))
  (tell said (lsp-get (lsp-get hover :contents) :value) (lsp-get action :title)))
(kill-emacs 0)
"""


def has(client: str) -> bool:
    if EMACS is None:
        return False
    command = [EMACS, "--batch", "-f", "package-initialize", "--eval", f"(require '{client})"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def settings(client: str) -> str:
    """Those of the documentation, as they stand."""
    page = PAGE.read_text(encoding="utf-8")
    return next(
        block for block in re.findall(r"```elisp\n(.*?)```", page, re.DOTALL) if f"'{client}" in block
    )


@pytest.mark.parametrize(("client", "session"), [("eglot", EGLOT), ("lsp-mode", LSP_MODE)])
def test_emacs_shows_findings_and_hovers_and_makes_a_fix(client: str, session: str, tmp_path: Path) -> None:
    if not has(client):
        pytest.skip(f"Emacs or its client {client} is not installed")
    assert EMACS is not None
    project(tmp_path)
    init, script = tmp_path / "init.el", tmp_path / "session.el"
    init.write_text(f"(package-initialize)\n(require 'subr-x)\n{settings(client)}")
    script.write_text(SESSION + session)
    run([EMACS, "--batch", "-l", init, "-l", script], tmp_path, tmp_path / "out.json")
