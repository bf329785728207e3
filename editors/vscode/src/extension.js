"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { serverCommand, serverSettings } = require("./command");

/** @type {LanguageClient | undefined} */
let client;

/** The Python that the Python extension has selected. */
async function selectedPython() {
  const extension = vscode.extensions.getExtension("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  const api = extension.isActive ? extension.exports : await extension.activate();
  const chosen = api?.environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
  const known = chosen && (await api.environments.resolveEnvironment(chosen));
  return known?.executable?.uri?.fsPath;
}

async function start() {
  const settings = vscode.workspace.getConfiguration("jaxlint");
  if (!settings.get("enable")) {
    return;
  }
  const run = serverCommand({ command: settings.get("command") }, await selectedPython());
  if (run.command === undefined) {
    const name = settings.get("command")?.[0] || "jaxlint";
    vscode.window.showErrorMessage(
      `${name} is in no folder of the search path. Select a Python that has jaxlint[server], or set jaxlint.command.`,
    );
    return;
  }
  client = new LanguageClient("jaxlint", "jaxlint", run, {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
      { language: "python", scheme: "vscode-notebook-cell" },
      { language: "markdown", scheme: "file" },
    ],
    initializationOptions: serverSettings(settings),
    synchronize: { configurationSection: "jaxlint" },
  });
  try {
    await client.start();
  } catch (error) {
    const said = [run.command, ...run.args].join(" ");
    vscode.window.showErrorMessage(
      `jaxlint did not start (${said}): ${error}. Install jaxlint[server] there, or set jaxlint.command.`,
    );
  }
}

async function restart() {
  await client?.dispose();
  client = undefined;
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("jaxlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("jaxlint.command") || event.affectsConfiguration("jaxlint.enable")) {
        return restart();
      }
    }),
  );
  await start();
}

async function deactivate() {
  await client?.dispose();
}

module.exports = { activate, deactivate };
