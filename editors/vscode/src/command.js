"use strict";

/**
 * What starts the server.
 *
 * @param {{ command?: string[] }} settings those of the editor
 * @param {string | undefined} python the Python that is selected for the folder, if one is
 * @returns {{ command: string, args: string[] }}
 */
function serverCommand(settings, python) {
  const given = (settings.command ?? []).filter((part) => part !== "");
  if (given.length > 0) {
    return { command: given[0], args: [...given.slice(1), "server"] };
  }
  if (python) {
    // -P: a file of the folder that is called as a module of jaxlint is not loaded in its place
    return { command: python, args: ["-P", "-m", "jaxlint", "server"] };
  }
  return { command: "jaxlint", args: ["server"] };
}

/** What the server is told: its own settings, without those of the extension. */
function serverSettings(settings) {
  const known = ["hover", "inlayHints", "stagedHints", "staticHints"];
  return Object.fromEntries(known.map((name) => [name, settings[name] !== false]));
}

module.exports = { serverCommand, serverSettings };
