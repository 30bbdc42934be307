// System prompt, sampling and limits of answers. Empty fields leave the choice to the server. Nothing is stored.

import { $, el } from "./dom.js";
import { session } from "./server.js";

// name in the API, label, least, most, step, value to begin with
const fields = [
  ["temperature", "Temperature", 0, 2, 0.1, 0],
  ["max_completion_tokens", "Most tokens", 1, null, 1, ""],
  ["top_p", "Top p", 0, 1, 0.05, ""],
  ["top_k", "Top k", 0, null, 1, ""],
  ["min_p", "Min p", 0, 1, 0.01, ""],
  ["seed", "Seed", null, null, 1, ""],
  ["repetition_penalty", "Repetition penalty", 0, 10, 0.05, ""],
  ["presence_penalty", "Presence penalty", -2, 2, 0.1, ""],
  ["frequency_penalty", "Frequency penalty", -2, 2, 0.1, ""],
];

const inputs = new Map();

export function start() {
  for (const [name, label, min, max, , value] of fields) {
    const input = el("input", { type: "number", name, min, max, step: "any", value, placeholder: "default" });
    inputs.set(name, input);
    $("sampling").append(el("label", {}, label, " ", input));
  }
  $("settings-form").addEventListener("submit", (event) => event.preventDefault());
  $("api-key").addEventListener("input", (event) => {
    session.key = event.target.value.trim();
  });
}

// valid says whether all fields can be sent; if not, the browser shows which cannot.
export function valid() {
  const form = $("settings-form");
  if (form.checkValidity()) return true;
  $("settings").open = true;
  form.reportValidity();
  return false;
}

// sampling are the fields of a request.
export function sampling() {
  const out = {};
  for (const [name, input] of inputs) {
    if (input.value !== "") out[name] = input.valueAsNumber;
  }
  const stops = $("stop-strings").value.split("\n").filter((line) => line !== "");
  if (stops.length > 0) out.stop = stops;
  return out;
}

export function system() {
  return $("system").value;
}
