// Runs jaxlint under Pyodide, away from the page: a long check does not freeze it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = (async () => {
  const archive = fetch("jaxlint.zip").then((answer) => {
    if (!answer.ok) throw new Error(`jaxlint.zip: ${answer.status}`);
    return answer.arrayBuffer();
  });
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  python.unpackArchive(await archive, "zip");
  return python.runPython("from check_text import check_text; check_text");
})();

ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);

onmessage = async ({ data }) => {
  try {
    const check = await ready;
    postMessage({ number: data.number, report: JSON.parse(check(data.text)) });
  } catch (error) {
    postMessage({ number: data.number, failed: String(error) });
  }
};
