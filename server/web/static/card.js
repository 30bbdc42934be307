// The card of one token: who wrote it, how sure it was, what else there was.

import { $, el } from "./dom.js";
import { chip } from "./models.js";
import { number, percent, visible } from "./tokens.js";

let token = null; // span that the card belongs to
let closing = 0;

const probability = (logprob) => Math.exp(logprob);

// rows are what the card says of a token, as [name, value].
function rows(one) {
  const list = [["Probability", percent(probability(one.logprob))]];
  if (one.score !== undefined) list.push(["Score", `${number(one.score)} (threshold ${number(one.threshold)})`]);
  if (one.drafted) list.push(["Drafted", "by another model, which was right"]);
  if (one.score !== one.entropy_normalized) list.push(["Uncertainty", number(one.entropy_normalized)]);
  return list;
}

function alternatives(one) {
  if (one.alternatives.length === 0) return null;
  return el("table", {},
    el("caption", {}, "Most likely here"),
    el("tbody", {}, ...one.alternatives.map((other) => {
      const bar = el("span", { class: "bar" });
      bar.style.width = 100 * probability(other.logprob) + "%";
      return el("tr", {}, el("th", { scope: "row" }, visible(other.token)), el("td", {}, percent(probability(other.logprob))), el("td", { class: "bars" }, bar));
    })));
}

// replaced are the tokens that one stands in place of: of drafts thrown away, only the first was for its position.
function replaced(one) {
  const first = one.discarded.findIndex((other) => other.draft);
  return one.discarded.filter((other, i) => !other.draft || i === first);
}

// describe says the same in one line, for a screen reader.
export function describe(answer, index) {
  const one = answer.tokens[index];
  const parts = [`${index + 1} of ${answer.tokens.length}: ${visible(one.token)}`, "by " + one.model];
  parts.push(...rows(one).map(([name, value]) => name + " " + value));
  if (one.discarded.length > 0) parts.push("in place of " + replaced(one).map((other) => `${visible(other.token)} by ${other.model}`).join(", "));
  const others = one.alternatives.filter((other) => other.id !== one.id).slice(0, 3);
  if (others.length > 0) parts.push("also likely: " + others.map((other) => `${visible(other.token)} ${percent(probability(other.logprob))}`).join(", "));
  return parts.join("; ");
}

// open shows the card of a token beside its span.
export function open(span, one) {
  clearTimeout(closing);
  if (token === span) return;
  close();
  token = span;
  span.classList.add("current");
  const discarded = replaced(one).map((other) => el("p", {}, "In place of ", el("b", {}, visible(other.token)), " by ", chip(other.model),
    ` (probability ${percent(probability(other.logprob))}, ${other.score === undefined ? "uncertainty " + number(other.entropy_normalized) : "score " + number(other.score)})`));
  $("card").replaceChildren(
    el("p", { class: "what" }, el("b", {}, visible(one.token)), " by ", chip(one.model)),
    el("dl", {}, ...rows(one).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...discarded,
    alternatives(one) ?? "",
  );
  $("card").hidden = false;
  place(span);
}

// place puts the card below its token, or above where there is no room.
function place(span) {
  const card = $("card");
  const box = span.getClientRects()[0] ?? span.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), window.innerWidth - card.offsetWidth - 8);
  const below = box.bottom + 6;
  const top = below + card.offsetHeight < window.innerHeight ? below : Math.max(8, box.top - card.offsetHeight - 6);
  card.style.left = Math.max(8, left) + "px";
  card.style.top = top + "px";
}

// follow keeps the card at its token as that moves.
function follow() {
  if (token?.isConnected) place(token);
  else if (token) close();
}

export function close() {
  clearTimeout(closing);
  token?.classList.remove("current");
  token = null;
  $("card").hidden = true;
}

// later closes the card soon, unless the pointer comes back to it or to a token.
function later() {
  clearTimeout(closing);
  closing = setTimeout(close, 200);
}

// start makes the card follow the pointer over tokens; find gives the token of a span.
export function start(turns, find) {
  turns.addEventListener("pointerover", (event) => {
    const span = event.target.closest(".t");
    if (span) open(span, find(span));
    else if (token) later();
  });
  turns.addEventListener("pointerleave", later);
  $("card").addEventListener("pointerenter", () => clearTimeout(closing));
  $("card").addEventListener("pointerleave", later);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || token === null) return;
    event.preventDefault(); // one press, one thing
    close();
  });
  for (const event of ["scroll", "resize"]) window.addEventListener(event, follow, { capture: true, passive: true });
}
