// One subserver in the live view.

import { el } from "./dom.js";
import { chip, mark } from "./models.js";
import { number } from "./tokens.js";

const history = 60; // moments in the chart

const svg = (tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

// index.html says what they mean.
const names = [
  ["running", "Running"], ["waiting", "Waiting"], ["pending", "Pending"],
  ["batch", "Batch"], ["b", "B"], ["planned", "B*"],
  ["speed", "Tokens/s"], ["steps", "Steps/s"], ["share", "Share"],
];

// ModelView shows the states of one model as they come.
export class ModelView {
  #values = new Map();
  #line = svg("polyline", {});
  #chart = svg("svg", { class: "chart", viewBox: `0 0 ${history - 1} 10`, preserveAspectRatio: "none", role: "img", "aria-label": "Batch in the last minute" });
  #used = el("span", { class: "used" });
  #cached = el("span", { class: "cached" });
  #kv = el("div", { class: "kv", role: "img" }, this.#used, this.#cached);
  #kvText = el("p", { class: "chart-name" });
  #sizes = [];
  #before = null; // state and time of the moment before

  constructor(name) {
    this.#chart.append(this.#line);
    const list = el("dl", {}, ...names.map(([key, label]) => {
      const value = el("dd", {}, "–");
      this.#values.set(key, value);
      return el("div", {}, el("dt", {}, label), value);
    }));
    this.element = el("section", { class: "model " + mark(name), "aria-label": name },
      el("h3", {}, chip(name)), list, this.#chart, el("p", { class: "chart-name" }, "Batch in the last minute"), this.#kv, this.#kvText);
  }

  // show takes in a moment. Rates and the size of batches are those since the moment before: what happens between two is not lost.
  show(state, now) {
    const set = (key, value) => (this.#values.get(key).textContent = value);
    set("running", state.running);
    set("waiting", state.waiting);
    set("pending", state.pending);
    set("b", state.batch.threshold);
    set("planned", state.batch.planned);
    set("share", state.routing === null ? "–" : (100 * state.share).toFixed(1) + "%");
    if (this.#before !== null) {
      const { state: old, now: then } = this.#before;
      const took = (now - then) / 1000;
      const steps = state.batch.steps - old.batch.steps;
      const size = steps > 0 ? (state.batch.requests - old.batch.requests) / steps : 0;
      set("batch", number(steps > 0 ? size : state.batch.last));
      set("speed", number((state.tokens - old.tokens) / took));
      set("steps", number(steps / took));
      this.#sizes = [...this.#sizes, size].slice(-history);
      this.#draw();
    }
    this.#before = { state, now };
    this.#memory(state.kv);
  }

  #draw() {
    const most = Math.max(1, ...this.#sizes);
    const first = history - this.#sizes.length;
    this.#line.setAttribute("points", this.#sizes.map((size, i) => `${first + i},${9.5 - (9 * size) / most}`).join(" "));
    this.#chart.setAttribute("aria-label", `Batch in the last minute: now ${number(this.#sizes.at(-1))}, at most ${number(Math.max(...this.#sizes))}`);
  }

  #memory(kv) {
    const part = (tokens) => (kv.capacity > 0 ? (100 * tokens) / kv.capacity : 0) + "%";
    this.#used.style.width = part(kv.used);
    this.#cached.style.width = part(kv.cached);
    const text = `KV cache: ${kv.used} of ${kv.capacity} tokens in use, ${kv.cached} kept`;
    this.#kv.setAttribute("aria-label", text);
    this.#kvText.textContent = text;
  }
}
