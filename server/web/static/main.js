// The page: ties its parts together.

import * as conversation from "./conversation.js";
import * as costs from "./costs.js";
import { $, announce, el } from "./dom.js";
import * as live from "./live.js";
import { learn, target, targets } from "./models.js";
import { explain, get, readiness, ServerError } from "./server.js";
import * as settings from "./settings.js";
import * as steer from "./steer.js";
import * as theme from "./theme.js";

const alternatives = 5; // likeliest tokens that the card of a token lists

// Where there is a keyboard; elsewhere the focus would call one onto the screen.
const typing = window.matchMedia("(pointer: fine)").matches;

const examples = [
  "Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?",
  "Mia has 12 apples. She gives 5 to Tom and buys 9 more. How many apples does Mia have?",
];

function request(messages) {
  const system = settings.system();
  if (system.trim() !== "") messages.unshift({ role: "system", content: system });
  const { target: name, setting } = steer.describe();
  return {
    setting: { target: name, setting, models: target(name).models },
    body: { model: steer.model(), messages, stream: true, ...settings.sampling(), routing: { ...steer.routing(), alternatives } },
  };
}

// changed shows what can be done now. If the focus was on what is not there any more it goes on: to Stop, and in the end to back.
function changed(back = null) {
  const busy = conversation.busy();
  const lost = [$("send"), $("stop"), document.body].includes(document.activeElement);
  $("send").hidden = busy;
  $("stop").hidden = !busy;
  $("empty").hidden = !conversation.empty();
  $("clear").disabled = conversation.empty();
  $("send").disabled = targets.length === 0;
  if (lost) (busy ? $("stop") : back)?.focus({ preventScroll: true });
}

function send() {
  const question = $("question").value;
  if (conversation.busy() || question.trim() === "" || targets.length === 0 || !settings.valid()) return;
  $("question").value = "";
  notice();
  conversation.ask(question, typing ? $("question") : null);
}

// notice shows a line above the conversation, with a button where there is something to do; without a text it goes.
function notice(text = "", label = "", action = null) {
  $("notice").hidden = text === "";
  $("notice").replaceChildren(el("span", {}, text), label === "" ? "" : el("button", { type: "button", class: "quiet", onclick: action }, label));
}

function clear() {
  conversation.clear();
  notice("The conversation is cleared.", "Undo", () => {
    conversation.restore();
    notice();
    $("question").focus();
  });
  $("question").focus();
}

let served = ""; // what the server served when it was last asked

// take learns from /v1/routes what the server serves, if that has changed: models may come and go.
function take(state) {
  const now = JSON.stringify([state.data, state.models.map((model) => model.id)]);
  if (now === served) return;
  served = now;
  learn(state);
  steer.refresh();
  changed();
}

// load learns what the server serves; while models are being loaded it says so and waits.
async function load() {
  try {
    take(await get("/v1/routes"));
    notice();
    live.wake();
  } catch (error) {
    const { words, detail, key } = explain(error);
    if (key) {
      theme.openSide();
      $("settings").open = true;
      $("api-key").focus();
      notice(words, "Connect", load);
    } else if (error instanceof ServerError && error.code === "model_loading") {
      await loading();
    } else {
      notice(detail ? `${words} ${detail}` : words, "Try again", load);
    }
  }
}

async function loading() {
  for (;;) {
    const state = await readiness().catch(() => ({}));
    const models = (state.loading ?? []).map((one) => `${one.model} ${Math.round(100 * one.progress)}%`).join(", ");
    notice(`The models are being loaded${models === "" ? "" : ": " + models} …`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (state.status !== "loading") return load();
  }
}

function keys(event) {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
}

theme.start(live.wake);
settings.start();
steer.start();
conversation.start({
  request,
  changed,
  ended: (answer) => {
    costs.latest(answer);
    costs.list(answer);
  },
  edit: (text) => {
    const box = $("question");
    box.value = box.value === "" ? text : text + "\n" + box.value;
    box.focus();
  },
});
live.start(() => theme.sideOpen() && targets.length > 0, take);
$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("question").addEventListener("keydown", keys);
$("stop").addEventListener("click", conversation.stop);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) conversation.stop();
});
$("clear").addEventListener("click", clear);
for (const question of examples) {
  $("examples").append(el("button", { type: "button", onclick: () => {
    $("question").value = question;
    send();
  } }, question));
}
changed();
load();
if (typing) $("question").focus();
