// The view of the subservers: what each is doing now, once a second while somebody can see it.

import { $, el } from "./dom.js";
import { get } from "./server.js";
import { ModelView } from "./model-view.js";

const every = 1000; // ms

const views = new Map(); // ModelView by name
let timer = 0;
let visible = () => true;
let seen = () => {};
let paused = false;

// start watches while watched() says that the view can be seen, and hands on each state to heard.
export function start(watched, heard) {
  visible = watched;
  seen = heard;
  $("pause").addEventListener("click", () => {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", String(paused));
    wake();
  });
  document.addEventListener("visibilitychange", wake);
  wake();
}

// wake looks at once, and goes on if there is somebody to look.
export function wake() {
  clearTimeout(timer);
  if (paused || document.hidden || !visible()) return;
  look().finally(() => {
    clearTimeout(timer);
    timer = setTimeout(wake, every);
  });
}

async function look() {
  try {
    const state = await get("/v1/routes", AbortSignal.timeout(5 * every));
    show(state);
    seen(state);
  } catch {
    $("live-line").textContent = "The state of the server cannot be read now.";
    $("live").classList.add("stale");
  }
}

function show(state) {
  const now = performance.now();
  $("live").classList.remove("stale");
  $("live-line").textContent = `${state.queue} in the queue, ${state.live} being answered`;
  for (const model of state.models) {
    if (!views.has(model.id)) {
      views.set(model.id, new ModelView(model.id));
      $("live").append(views.get(model.id).element);
    }
    views.get(model.id).show(model, now);
  }
  for (const [name, view] of views) {
    if (state.models.some((model) => model.id === name)) continue;
    view.element.remove();
    views.delete(name);
  }
}
