// The page of the playground: the text, its line numbers, what jaxlint says of it, and a link that holds the code.
const place = document.querySelector("#pg");
const text = place.querySelector("textarea");
const gutter = place.querySelector(".pg-gutter");
const list = place.querySelector(".pg-findings");
const state = place.querySelector(".pg-state");
const choice = place.querySelector("select");
const share = place.querySelector(".pg-share");
const home = new URL(".", import.meta.url);

const examples = await fetch(new URL("examples.json", home)).then((answer) => (answer.ok ? answer.json() : []));

// --- the link: the text, compressed, behind the `#`, which no server ever sees

const most = 1 << 20; // bytes of code; a link of some hundred kilobytes may hold gigabytes

async function through(bytes, stream) {
  const parts = [];
  let size = 0;
  for (const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError("too much");
    }
  }
}

async function packed(code) {
  const written = new TextEncoder().encode(code);
  if (written.length > most) throw new RangeError("too much");
  const bytes = await through(written, new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(fragment) {
  const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
}

async function fromLink() {
  const said = new URLSearchParams(location.hash.slice(1));
  if (said.has("code")) {
    try {
      return await unpacked(said.get("code"));
    } catch (error) {
      say(error instanceof RangeError ? "This link holds more code than is shown here." : "This link is damaged: its code cannot be read.");
      return null;
    }
  }
  const rule = examples.find((one) => one.rule === said.get("rule"));
  return rule ? rule.code : null;
}

// --- the worker

const worker = new Worker(new URL("worker.mjs", home), { type: "module" });
let asked = 0, timer = 0, broken = false;

function say(what, busy = false) {
  state.textContent = what;
  state.classList.toggle("pg-busy", busy);
}

function check() {
  clearTimeout(timer);
  if (broken) return;
  asked += 1;
  say(asked === 1 ? "Loading Python (13 MB, once) ..." : "Checking ...", true);
  worker.postMessage({ number: asked, text: text.value });
}

function fail(why) {
  broken = true;
  say("The playground cannot run here: " + why);
}

worker.onerror = (event) => fail(event.message || "this copy of the site was built without it (`make docs` needs npm for that)");
worker.onmessage = ({ data }) => {
  if (data.failed && data.number === undefined) return fail(data.failed);
  if (data.number !== asked) return;
  if (data.failed) return say("The check failed: " + data.failed.trim().split("\n").at(-1));
  show(data.report);
};

// --- what was found

const words = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

function element(tag, name, content) {
  const made = document.createElement(tag);
  made.className = name;
  for (const [index, part] of content.split("`").entries()) {
    if (index % 2 === 0) made.append(part);
    else made.append(Object.assign(document.createElement("code"), { textContent: part }));
  }
  return made;
}

function show({ findings, errors }) {
  list.replaceChildren();
  for (const error of errors) {
    list.append(entry(error.line ?? 1, "error", error.line ? `line ${error.line}` : "", [element("p", "pg-message", error.message)], error));
  }
  for (const one of findings) {
    const link = Object.assign(document.createElement("a"), { href: new URL(`../rules/${one.name}/`, home).href, textContent: `${one.code} ${one.name}` });
    const head = element("p", "pg-rule", "");
    head.append(link);
    const parts = [element("p", "pg-message", one.message), element("p", "pg-reason", one.reason)];
    if (one.fix) parts.push(element("p", "pg-fix", `${one.fix.safety === "safe" ? "Fix" : "Unsafe fix"}: ${one.fix.message}`));
    list.append(entry(one.line, one.severity, `${one.line}:${one.column}`, [...parts, head], one));
  }
  mark(new Map([...errors, ...findings].reverse().map((one) => [one.line, one.severity ?? "error"])));
  say(errors.length ? "This cannot be checked as it is." : findings.length ? `${words(findings.length, "finding")}.` : "Nothing was found.");
}

function entry(line, severity, where, parts, one) {
  const made = document.createElement("li");
  made.className = `pg-${severity}`;
  made.dataset.line = line;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: where ? `${severity} ${where}` : severity });
  button.addEventListener("click", () => select(one));
  made.append(button, ...parts);
  return made;
}

function select({ line, column = 1, end_line = line, end_column = column }) {
  const starts = [0];
  for (const part of text.value.split("\n")) starts.push(starts.at(-1) + part.length + 1);
  if (!line) return;
  text.focus();
  text.setSelectionRange(starts[line - 1] + column - 1, starts[end_line - 1] + end_column - 1);
  text.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(text).lineHeight));
}

function mark(lines) {
  const count = text.value.split("\n").length;
  gutter.replaceChildren(...Array.from({ length: count }, (_, index) => {
    const number = document.createElement("span");
    number.textContent = index + 1;
    if (lines.has(index + 1)) number.className = `pg-${lines.get(index + 1)}`;
    return number;
  }));
  gutter.scrollTop = text.scrollTop;
}

// --- what the reader does

function name() {
  choice.value = examples.find((one) => one.code === text.value)?.rule ?? ""; // none, so that each may be chosen again
}

function put(code) {
  text.value = code;
  name();
  mark(new Map());
  check();
}

text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
text.addEventListener("input", () => {
  name();
  mark(new Map());
  clearTimeout(timer);
  timer = setTimeout(check, 400);
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Escape") text.blur(); // the way out for those without a mouse, since Tab indents
  if (event.key !== "Tab" || event.shiftKey) return;
  event.preventDefault();
  text.setRangeText("    ", text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input"));
});
choice.addEventListener("change", () => {
  const chosen = examples.find((one) => one.rule === choice.value);
  if (chosen) put(chosen.code);
});
share.addEventListener("click", async () => {
  try {
    history.replaceState(null, "", `#code=${await packed(text.value)}`);
  } catch {
    say("This code is too long for a link.");
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied; it is in the address bar, too.");
  } catch {
    say("The link is in the address bar.");
  }
});
addEventListener("hashchange", async () => {
  const code = await fromLink();
  if (code !== null) put(code);
});

for (const featured of [true, false]) {
  const group = Object.assign(document.createElement("optgroup"), { label: featured ? "Begin with" : "All rules" });
  for (const one of examples.filter((other) => other.featured === featured)) {
    group.append(Object.assign(document.createElement("option"), { value: one.rule, textContent: one.rule }));
  }
  choice.append(group);
}
put((await fromLink()) ?? examples[0]?.code ?? "import jax\n");
