"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const { located, serverCommand, serverSettings } = require("../src/command");
const manifest = require("../package.json");

test("the command of the settings comes first, then the selected Python, then the path", () => {
  const where = { platform: "linux", env: { PATH: "/bin" }, isFile: () => true };
  assert.deepEqual(serverCommand({ command: ["uvx", "jaxlint"] }, "/py", where), { command: "/bin/uvx", args: ["jaxlint", "server"] });
  assert.deepEqual(serverCommand({ command: [] }, "/py", where), { command: "/py", args: ["-P", "-m", "jaxlint", "server"] });
  assert.deepEqual(serverCommand({}, undefined, where), { command: "/bin/jaxlint", args: ["server"] });
});

test("a program is looked for in full folders of the search path alone, never in the folder that is open", () => {
  const all = new Set(["C:\\tools\\jaxlint.exe", "/bin/jaxlint", "jaxlint", "jaxlint.exe", "./jaxlint", "here/jaxlint"]);
  const isFile = (name) => all.has(name);
  const windows = { platform: "win32", env: { Path: ";.;here;C:\\none;C:\\tools" }, isFile };
  assert.equal(located("jaxlint", windows), "C:\\tools\\jaxlint.exe");
  assert.equal(located("jaxlint.exe", windows), "C:\\tools\\jaxlint.exe");
  assert.equal(located("jaxlint", { ...windows, env: { Path: ";.;here" } }), undefined);
  assert.equal(located("jaxlint", { ...windows, env: {} }), undefined);
  assert.equal(located("C:\\own\\jaxlint.exe", windows), "C:\\own\\jaxlint.exe");
  const linux = { platform: "linux", env: { PATH: ":.:here:/none:/bin" }, isFile };
  assert.equal(located("jaxlint", linux), "/bin/jaxlint");
  assert.equal(located("jaxlint", { ...linux, env: { PATH: ":.:here" } }), undefined);
  assert.equal(located("./jaxlint", linux), "./jaxlint");
  assert.equal(serverCommand({}, undefined, { ...linux, env: { PATH: "." } }).command, undefined);
});

test("the server is told what the settings say, and by default what their schema says", () => {
  const properties = manifest.contributes.configuration.properties;
  const defaults = serverSettings({});
  for (const [name, value] of Object.entries(defaults)) {
    assert.equal(properties[`jaxlint.${name}`].default, value);
  }
  assert.deepEqual(serverSettings({ hover: false, staticHints: false }), {
    hover: false,
    inlayHints: true,
    tracedHints: true,
    staticHints: false,
  });
});

test("each setting that the extension reads is declared, and each that is declared is read", () => {
  const sources = ["extension.js", "command.js"].map((name) =>
    readFileSync(path.join(__dirname, "../src", name), "utf8"),
  );
  for (const name of Object.keys(manifest.contributes.configuration.properties)) {
    const short = name.split(".")[1];
    assert.ok(short === "trace" || sources.some((text) => text.includes(short)), name);
  }
});

// The Python of the repository, where there is one: the command really starts a server that answers.
const python = path.join(__dirname, "../../../.venv/bin/python");
test("the command starts a server", { skip: !existsSync(python) }, async () => {
  const { command, args } = serverCommand({}, python);
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { processId: process.pid, rootUri: null, capabilities: { notebookDocument: { synchronization: {} } }, initializationOptions: serverSettings({}) },
  });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  let said = "";
  for await (const chunk of server.stdout) {
    said += chunk;
    if (said.includes("hoverProvider")) {
      break;
    }
  }
  server.kill();
  assert.match(said, /"hoverProvider"/);
  assert.match(said, /"notebookDocumentSync"/);
});
