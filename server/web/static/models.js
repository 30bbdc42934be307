// What the server serves, and the mark of each model: the same colour and underline everywhere on the page.

import { choices } from "./algorithms.js";
import { $, el } from "./dom.js";

// targets are what questions can be put to, routes first: {name, models, algorithm, algorithms, strategy, threshold, share}.
export let targets = [];

const numbers = new Map(); // of models, in order of appearance
const marks = 6; // how many the style sheet tells apart

// mark is the class of a model's mark.
export function mark(name) {
  if (!numbers.has(name)) numbers.set(name, numbers.size);
  return "m" + (numbers.get(name) % marks);
}

// chip names a model beside its mark.
export function chip(name) {
  return el("span", { class: "chip" }, el("span", { class: "swatch " + mark(name), "aria-hidden": "true" }, "ab"), " ", name);
}

// learn takes in what /v1/routes says of what the server serves.
export function learn(list) {
  const routes = list.data.map((route) => ({
    name: route.id, models: route.models, algorithm: route.algorithm, algorithms: choices(route), strategy: route.strategy ?? "",
    threshold: route.default_threshold, share: route.large_share,
  }));
  const alone = list.models.map(({ id }) => ({ name: id, models: [id], algorithm: "single", algorithms: [], strategy: "" }));
  targets = [...routes, ...alone];
  for (const target of targets) target.models.forEach(mark);
  $("legend").replaceChildren(...[...numbers.keys()].map((name) => el("li", {}, chip(name))));
}

export function target(name) {
  return targets.find((one) => one.name === name);
}
