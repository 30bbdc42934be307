// What each setting cost: beside the dial for the latest answer, and in a table for all of this visit.

import { $, el } from "./dom.js";
import { costs, seconds } from "./answer-view.js";
import { percent } from "./tokens.js";

const most = 50; // rows of the table

let body = null;

const or = (value, write) => (Number.isNaN(value) ? "–" : write(value));

// latest shows the cost of an answer beside the dial, also while it is written.
export function latest(answer) {
  const cost = answer.cost();
  if (cost.tokens === 0) return;
  const { target, setting, models } = answer.setting;
  const parts = [];
  if (!Number.isNaN(cost.large)) parts.push(el("span", {}, el("b", {}, percent(cost.large)), ` by ${models.slice(1).join(", ")}`));
  parts.push(...costs(cost).map((part) => el("span", {}, part)));
  $("cost").replaceChildren(el("span", {}, "Last answer", el("span", { class: "aside" }, ` (${target}, ${setting})`), ":"), ...parts);
}

// list adds a finished answer to the table, newest first.
export function list(answer) {
  const cost = answer.cost();
  if (cost.tokens === 0) return;
  if (body === null) {
    body = el("tbody");
    const columns = ["Setting", "Large", "Tokens/s", "First"];
    $("costs").replaceChildren(el("table", { class: "costs" }, el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))), body));
  }
  const { target, setting } = answer.setting;
  body.prepend(el("tr", {},
    el("th", { scope: "row" }, `${target}, ${setting}`),
    el("td", {}, or(cost.large, percent)),
    el("td", {}, or(cost.speed, (speed) => speed.toFixed(speed < 100 ? 1 : 0))),
    el("td", {}, or(cost.first, seconds))));
  while (body.rows.length > most) body.lastChild.remove();
}
