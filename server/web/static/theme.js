// Light, dark, or as the system has it; and whether the details are open. early.js has set the colours before anything was drawn.

import { $, recall, remember } from "./dom.js";

const wide = window.matchMedia("(min-width: 64rem)");

function show(open) {
  document.body.classList.toggle("side-open", open);
  $("side-toggle").setAttribute("aria-expanded", String(open));
  $("chat").inert = open && !wide.matches; // it is covered
}

export function start(changed) {
  const select = $("theme");
  select.value = document.documentElement.dataset.theme ?? "auto";
  select.addEventListener("change", () => {
    if (select.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
    remember("theme", select.value);
  });

  // On a narrow screen the details lie over the chat: there they begin closed.
  show(wide.matches && recall("side") !== "closed");
  $("side-toggle").addEventListener("click", () => {
    const open = !sideOpen();
    show(open);
    if (wide.matches) remember("side", open ? "open" : "closed");
    else if (open) $("side").focus();
    changed();
  });
  wide.addEventListener("change", () => {
    show(wide.matches && recall("side") !== "closed");
    changed();
  });
  $("side").addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || wide.matches) return;
    event.preventDefault();
    show(false);
    $("side-toggle").focus();
    changed();
  });
}

export function sideOpen() {
  return document.body.classList.contains("side-open");
}

// openSide shows the details, for what is there to be seen.
export function openSide() {
  show(true);
}
