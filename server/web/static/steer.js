// How the next answer is routed: by which route, algorithm and threshold.

import { at, position, scale, strategies } from "./algorithms.js";
import { $, options } from "./dom.js";
import { number } from "./tokens.js";
import { target, targets } from "./models.js";

const steps = 1000; // of the slider

// What was chosen. value is null as long as the route's own threshold or share holds.
const chosen = { target: "", algorithm: "", strategy: "", by: "threshold", value: null };

function current() {
  return target(chosen.target);
}

// own says whether algorithm and strategy are the route's: only then its parameters hold.
function own() {
  const route = current();
  return chosen.algorithm === route.algorithm && (chosen.strategy === "" || chosen.strategy === route.strategy);
}

const shares = { low: 0, high: 1, curve: 1, name: "Share of tokens", more: 1 };

function dial() {
  return chosen.by === "share" ? shares : scale(chosen.algorithm, chosen.strategy || (own() ? current().strategy : ""));
}

// configured is the value that holds without a choice.
function configured() {
  const route = current();
  if (chosen.by === "share") return route.share ?? 0.1;
  if (own() && route.threshold !== undefined) return route.threshold;
  return dial().usual;
}

// routing is the routing object of the next request.
export function routing() {
  const route = current();
  const object = { trace: true };
  if (route.models.length < 2) return object;
  if (chosen.algorithm !== route.algorithm) object.algorithm = chosen.algorithm;
  if (chosen.strategy !== "") object.strategy = chosen.strategy;
  if (chosen.value !== null) object[chosen.by === "share" ? "large_share" : "threshold"] = chosen.value;
  return object;
}

// describe names the setting in a few words.
export function describe() {
  const route = current();
  if (route.models.length < 2) return { target: route.name, setting: "alone" };
  const name = chosen.algorithm + (chosen.strategy === "" ? "" : ", " + chosen.strategy);
  const steered = dial() !== null && (chosen.value !== null || route.share === undefined || !own());
  let setting = name;
  if (steered) setting += (chosen.by === "share" ? ", share " : ", threshold ") + number(chosen.value ?? configured());
  else if (route.share !== undefined && own()) setting += ", share " + number(route.share);
  return { target: route.name, setting };
}

export function model() {
  return chosen.target;
}

function show() {
  const route = current();
  const several = route.models.length > 1;
  const large = route.models[route.models.length - 1];
  for (const id of ["algorithm-label", "by-label"]) $(id).hidden = !several;
  const names = several ? strategies(chosen.algorithm, route) : [];
  $("strategy-label").hidden = names.length === 0;
  if (names.length > 0) options($("strategy"), names.map((name) => [name, name]), chosen.strategy || (own() && route.strategy) || names[0]);
  const gauge = several ? dial() : null;
  $("dial").hidden = gauge === null;
  $("reset").hidden = chosen.value === null && own();
  $("by-label").hidden = !several || gauge === null || (scale(chosen.algorithm, chosen.strategy)?.noShare ?? false);
  $("by").value = chosen.by;
  if (gauge === null) return;
  const value = chosen.value ?? configured();
  $("dial-name").textContent = gauge.name;
  $("slider").value = Math.round(steps * position(gauge, value));
  $("slider").setAttribute("aria-valuetext", number(value));
  $("exact").setAttribute("aria-label", gauge.name + ", exact");
  $("exact").value = value;
  const which = { "-1": `Lower: more from ${large}.`, 0: "", 1: `Higher: more from ${large}.` }[gauge.more];
  $("dial-hint").textContent = (which + (chosen.value !== null ? " Holds from the next answer on." : own() ? " As configured." : " The algorithm's own value.")).trim();
}

function pick(name) {
  const route = target(name);
  Object.assign(chosen, { target: name, algorithm: route.algorithm, strategy: "", by: route.share === undefined ? "threshold" : "share", value: null });
  options($("algorithm"), route.algorithms.map((one) => [one, one]), route.algorithm);
  show();
}

function set(value) {
  chosen.value = value;
  show();
}

// refresh offers what the server serves now, and keeps what was chosen where it still can.
export function refresh() {
  $("steer").hidden = false;
  options($("target"), targets.map((one) => [one.name, one.models.length > 1 ? one.name : one.name + " alone"]), chosen.target);
  if (current() === undefined) pick(targets[0].name);
  else show();
}

export function start() {
  $("slider").max = steps;
  $("target").addEventListener("change", (event) => pick(event.target.value));
  $("algorithm").addEventListener("change", (event) => {
    const algorithm = event.target.value;
    Object.assign(chosen, { algorithm, strategy: algorithm === current().algorithm ? "" : strategies(algorithm, current())[0] ?? "", by: "threshold", value: null });
    show();
  });
  $("strategy").addEventListener("change", (event) => {
    Object.assign(chosen, { strategy: event.target.value, value: null });
    if (dial()?.noShare) chosen.by = "threshold";
    show();
  });
  $("by").addEventListener("change", (event) => {
    Object.assign(chosen, { by: event.target.value, value: null });
    if (chosen.by === "share") chosen.value = configured();
    show();
  });
  $("slider").addEventListener("input", (event) => set(at(dial(), event.target.value / steps)));
  $("exact").addEventListener("change", (event) => {
    const value = event.target.valueAsNumber;
    if (Number.isNaN(value)) show();
    else set(value);
  });
  $("reset").addEventListener("click", () => {
    pick(chosen.target);
    $("slider").focus();
  });
}
