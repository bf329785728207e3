"use strict";

const fs = require("node:fs");
const path = require("node:path");

/** What a program is looked for in: the search path, and the files of the machine. */
const machine = { platform: process.platform, env: process.env, isFile: (name) => fs.statSync(name, { throwIfNoEntry: false })?.isFile() ?? false };

/**
 * The full path of a program that is called by its name. The server starts in the folder that is open, which may be a
 * clone: Windows would look for the program there first, and so would a search path with a relative part.
 *
 * @param {string} name a name, or a path, which stays as it is
 * @returns {string | undefined}
 */
function located(name, { platform, env, isFile } = machine) {
  const windows = platform === "win32";
  const { isAbsolute, join, basename, extname } = windows ? path.win32 : path.posix;
  if (basename(name) !== name) {
    return name;
  }
  const key = Object.keys(env).find((one) => (windows ? one.toUpperCase() : one) === "PATH");
  const folders = (env[key] ?? "").split(windows ? ";" : ":").filter((folder) => isAbsolute(folder));
  const endings = windows && extname(name) === "" ? [".exe", ".com"] : [""];
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isFile);
}

/**
 * What starts the server; without a command where there is no such program.
 *
 * @param {{ command?: string[] }} settings those of the editor
 * @param {string | undefined} python the Python that is selected for the folder, if one is
 * @returns {{ command: string | undefined, args: string[] }}
 */
function serverCommand(settings, python, where = machine) {
  const given = (settings.command ?? []).filter((part) => part !== "");
  if (given.length > 0) {
    return { command: located(given[0], where), args: [...given.slice(1), "server"] };
  }
  if (python) {
    // -P: a file of the folder that is called as a module of jaxlint is not loaded in its place
    return { command: python, args: ["-P", "-m", "jaxlint", "server"] };
  }
  return { command: located("jaxlint", where), args: ["server"] };
}

/** What the server is told: its own settings, without those of the extension. */
function serverSettings(settings) {
  const known = ["hover", "inlayHints", "tracedHints", "staticHints"];
  return Object.fromEntries(known.map((name) => [name, settings[name] !== false]));
}

module.exports = { located, serverCommand, serverSettings };
