// An answer on the page: tokens with marks, a strip to walk along them, what it cost.

import * as card from "./card.js";
import { el } from "./dom.js";
import { chip, mark } from "./models.js";
import { percent } from "./tokens.js";

const ends = {
  length: "The answer was cut: it reached its most tokens, or the end of the context.",
};

// costs are the parts of a line about a cost, those that are known.
export function costs(cost) {
  const parts = [];
  if (!Number.isNaN(cost.speed)) parts.push(`${cost.speed.toFixed(cost.speed < 100 ? 1 : 0)} tokens/s`);
  if (!Number.isNaN(cost.first)) parts.push(`first token after ${seconds(cost.first)}`);
  return parts;
}

export function seconds(s) {
  return s < 1 ? (1000 * s).toFixed(0) + " ms" : s.toFixed(1) + " s";
}

// AnswerView shows one answer and follows it as it grows.
export class AnswerView {
  #spans = [];
  #waiting = new Set(); // indices of tokens to draw
  #frame = 0;
  #thoughts = el("div", { class: "text thoughts", dir: "auto", role: "group", "aria-label": "Thoughts", hidden: true });
  #text = el("div", { class: "text", dir: "auto" });
  #walk = el("input", { type: "range", class: "walk", "data-do": "walk", min: 0, max: 0, step: 1, value: 0, "aria-label": "Tokens of this answer", hidden: true });
  #facts = el("p", { class: "facts" });
  #problem = el("div", { class: "problem", role: "alert", hidden: true });

  constructor(answer) {
    this.answer = answer;
    this.element = el("div", { class: "answer" }, this.#thoughts, this.#text, this.#walk, this.#facts, this.#problem);
    this.#walk.addEventListener("input", () => this.#at(Number(this.#walk.value)));
    this.#walk.addEventListener("focus", () => this.#at(Number(this.#walk.value)));
    this.#walk.addEventListener("blur", card.close);
    this.element.addEventListener("click", (event) => {
      const span = event.target.closest(".t");
      if (span === null || !document.getSelection().isCollapsed) return;
      this.#walk.value = span.dataset.i;
      this.#walk.focus({ preventScroll: true });
      this.#at(Number(span.dataset.i));
    });
    this.draw();
  }

  // grow draws tokens before the next frame, as many as come until then at once.
  grow(indices) {
    for (const index of indices) this.#waiting.add(index);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.draw());
  }

  // draw shows everything there is.
  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { answer } = this;
    for (const index of this.#waiting) this.#token(index);
    this.#waiting.clear();
    if (!answer.running) this.#tail();
    this.element.classList.toggle("running", answer.running);
    this.#strip();
    this.#account();
    this.grown?.();
  }

  // fail shows what went wrong, with buttons to go on.
  fail({ words, detail }, ...buttons) {
    this.#problem.hidden = false;
    this.#problem.replaceChildren(el("p", {}, words), detail ? el("p", { class: "hint" }, detail) : "", el("p", { class: "buttons" }, ...buttons));
  }

  #token(index) {
    const one = this.answer.tokens[index];
    let span = this.#spans[index];
    if (span === undefined) {
      span = this.#spans[index] = el("span", { class: "t " + mark(one.model), "data-i": index });
      this.#text.append(span);
    }
    span.textContent = one.text;
    if (!one.thought || span.parentNode === this.#thoughts) return;
    this.#thoughts.append(span);
    this.#thoughts.hidden = false;
  }

  // tail gives the last tokens, if they are without text, something to see: the end of the answer is a token, too.
  #tail() {
    for (let i = this.#spans.length - 1; i >= 0 && this.answer.tokens[i].text === ""; i--) this.#spans[i].classList.add("silent");
  }

  // strip draws who wrote which part.
  #strip() {
    const { tokens } = this.answer;
    this.#walk.hidden = tokens.length === 0;
    if (tokens.length === 0) return;
    this.#walk.max = tokens.length - 1;
    const stops = [];
    for (let i = 0, begin = 0; i < tokens.length; i++) {
      if (tokens[i].model === tokens[i + 1]?.model) continue;
      const colour = `var(--${mark(tokens[i].model)}-line)`;
      stops.push(`${colour} ${(100 * begin) / tokens.length}% ${(100 * (i + 1)) / tokens.length}%`);
      begin = i + 1;
    }
    this.#walk.style.setProperty("--strip", `linear-gradient(to right, ${stops.join(", ")})`);
    this.#walk.setAttribute("aria-valuetext", card.describe(this.answer, Math.min(Number(this.#walk.value), tokens.length - 1)));
  }

  #account() {
    const { answer } = this;
    const cost = answer.cost();
    const parts = [];
    if (answer.status === "waiting") parts.push("Waiting for the first token …");
    if (cost.tokens > 0) {
      for (const [name, count] of answer.counts()) {
        parts.push(el("span", {}, chip(name), answer.counts().size > 1 ? ` ${count} (${percent(count / cost.tokens)})` : ` ${count} tokens`));
      }
      if (answer.counts().size > 1) parts.push(`${cost.handoffs} handoffs, ${cost.discarded} discarded`);
      parts.push(...costs(cost));
    }
    if (answer.status === "stopped") parts.push("Stopped.");
    if (ends[answer.finish]) parts.push(ends[answer.finish]);
    this.#facts.replaceChildren(...parts.map((part) => (typeof part === "string" ? el("span", {}, part) : part)));
  }

  #at(index) {
    const span = this.#spans[index];
    if (span === undefined) return;
    this.#walk.setAttribute("aria-valuetext", card.describe(this.answer, index));
    span.scrollIntoView({ block: "nearest" });
    card.open(span, this.answer.tokens[index]);
  }
}
