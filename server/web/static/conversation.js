// The conversation: questions, their answers, and what is sent of them.

import { Answer } from "./answer.js";
import { AnswerView } from "./answer-view.js";
import * as card from "./card.js";
import { $, announce, el } from "./dom.js";
import { expected, explain, stream } from "./server.js";

let exchanges = []; // {question, views: [AnswerView], shown, element}
let cleared = []; // what the last clearing took away
let running = null; // AbortController of the answer that is being written

// Hooks of the rest of the page.
const hooks = { request: null, ended: null, changed: null, edit: null };

// start connects the conversation: request(messages) makes {body, setting} of a request, ended(answer) hears of each end,
// changed(back) of every begin and end, edit(text) takes a question back.
export function start(given) {
  Object.assign(hooks, given);
  card.start($("turns"), (span) => {
    const exchange = exchanges.find((one) => one.element.contains(span));
    return exchange.views[exchange.shown].answer.tokens[span.dataset.i];
  });
}

export function busy() {
  return running !== null;
}

export function stop() {
  running?.abort();
}

export function empty() {
  return exchanges.length === 0;
}

// ask puts a question at the end of the conversation; back is where the focus goes in the end if it was lost.
export function ask(question, back) {
  const element = el("article", { class: "exchange" }, el("div", { class: "question" }, el("h3", {}, "You"), el("div", { class: "text", dir: "auto" }, question)));
  const exchange = { question, views: [], shown: -1, element };
  exchanges.push(exchange);
  lay();
  return answer(exchange, () => back);
}

// lay puts all exchanges onto the page, in order.
function lay() {
  exchanges.forEach((one, i) => {
    one.element.setAttribute("aria-label", `Question ${i + 1}`);
    if (!one.element.isConnected) $("turns").append(one.element);
  });
}

// standing is the answer that counts: the one that is shown, or if it has no text the latest that has some.
function standing(exchange) {
  const texts = exchange.views.map((view) => view.answer.text);
  return texts[exchange.shown] || texts.findLast((text) => text !== "") || "";
}

// messages are the conversation before an exchange, and its question. Questions without an answer are left out: templates want
// both in turn.
function messages(until) {
  const out = [];
  for (const exchange of exchanges) {
    if (exchange === until) break;
    const text = standing(exchange);
    if (text !== "") out.push({ role: "user", content: exchange.question }, { role: "assistant", content: text });
  }
  out.push({ role: "user", content: until.question });
  return out;
}

// answer lets an exchange be answered, again if it has been.
async function answer(exchange, back) {
  const { body, setting } = hooks.request(messages(exchange));
  const result = new Answer(setting);
  const view = new AnswerView(result);
  view.grown = () => follow();
  exchange.views.push(view);
  exchange.shown = exchange.views.length - 1;
  const control = (running = new AbortController());
  render(exchange);
  if (exchange === exchanges.at(-1)) scroller().scrollTop = scroller().scrollHeight;
  else view.element.scrollIntoView({ block: "nearest" });
  announce("Answering.");
  hooks.changed();
  try {
    for await (const chunk of stream(body, control.signal)) view.grow(result.add(chunk));
    result.end("done");
  } catch (error) {
    result.end(error.name === "AbortError" ? "stopped" : "failed", error);
    if (!expected(error)) throw error; // a mistake of the page, which belongs on the console, too
  } finally {
    running = null;
    view.draw();
    render(exchange);
    follow();
    hooks.changed(back());
    hooks.ended(result);
    say(result);
  }
}

function say(result) {
  if (result.status === "failed") return; // its text is an alert
  announce(result.status === "stopped" ? "Stopped." : `The answer is complete: ${result.cost().tokens} tokens.`);
}

// render shows an exchange's answer and what can be done with it.
function render(exchange) {
  const view = exchange.views[exchange.shown];
  const { answer: result } = view;
  const { target, setting } = result.setting;
  const head = el("h3", {}, target, " ", el("small", {}, setting));
  const focused = exchange.element.contains(document.activeElement) ? document.activeElement.dataset.do : undefined;
  exchange.element.querySelector(".reply")?.remove();
  exchange.element.append(el("div", { class: "reply" }, head, view.element, tools(exchange, result)));
  if (result.status === "failed") {
    view.fail(explain(result.error), button("Try again", "again", () => again(exchange)), button("Edit the question", "edit", () => takeBack(exchange)));
  }
  if (focused) exchange.element.querySelector(`[data-do="${focused}"]`)?.focus();
}

function button(label, name, action) {
  return el("button", { type: "button", class: "quiet", "data-do": name, onclick: action }, label);
}

function tools(exchange, result) {
  if (result.running || (result.text === "" && result.status === "failed" && exchange.views.length < 2)) return "";
  const many = exchange.views.length;
  return el("div", { class: "tools", role: "group", "aria-label": "This answer" },
    result.text === "" ? null : button("Copy", "copy", (event) => copy(result.text, event.currentTarget)),
    result.status === "failed" ? null : button("Answer again", "again", () => again(exchange)),
    many < 2 ? null : el("span", { class: "versions" },
      button("‹ earlier", "earlier", () => turn(exchange, -1)),
      ` ${exchange.shown + 1} of ${many} `,
      button("later ›", "later", () => turn(exchange, 1))));
}

function turn(exchange, by) {
  const to = exchange.shown + by;
  if (to < 0 || to >= exchange.views.length) return;
  card.close();
  exchange.shown = to;
  render(exchange);
}

function again(exchange) {
  if (running === null) answer(exchange, () => exchange.element.querySelector('[data-do="again"]'));
}

// takeBack brings a question back to where it can be changed. It leaves the conversation if it has no answer.
function takeBack(exchange) {
  if (running !== null) return;
  if (standing(exchange) === "") {
    exchange.element.remove();
    exchanges = exchanges.filter((one) => one !== exchange);
    lay();
  }
  hooks.edit(exchange.question);
  hooks.changed();
}

async function copy(text, from) {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyPlainly(text);
    announce("Copied.");
    from.textContent = "Copied";
    setTimeout(() => (from.textContent = "Copy"), 1500);
  } catch {
    announce("The browser did not allow copying.");
    from.textContent = "Not allowed";
  }
}

// copyPlainly is for pages that came without TLS from elsewhere: browsers give them no clipboard of the newer kind.
function copyPlainly(text) {
  const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not allowed");
}

// scroller is what scrolls: the conversation, or where little fits the page.
function scroller() {
  return getComputedStyle($("turns")).overflowY === "visible" ? document.scrollingElement : $("turns");
}

// follow keeps the end in view, for those who are looking at it.
function follow() {
  const box = scroller();
  if (box.scrollHeight - box.scrollTop - box.clientHeight < 160) box.scrollTop = box.scrollHeight;
}

// clear takes the conversation away; restore brings it back.
export function clear() {
  stop();
  card.close();
  cleared = exchanges;
  exchanges = [];
  for (const one of cleared) one.element.remove();
  hooks.changed();
}

export function restore() {
  for (const one of exchanges) one.element.remove();
  exchanges = [...cleared, ...exchanges];
  cleared = [];
  lay();
  hooks.changed();
}
