// Small helpers for the document. Text is only ever set as text: nothing here, or anywhere on the page, makes markup of it.

export const $ = (id) => document.getElementById(id);

// el makes an element. Attributes named on… are event handlers; false, null and undefined leave an attribute out.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// options fills a select with [value, label] pairs and keeps or sets its value.
export function options(select, pairs, value) {
  select.replaceChildren(...pairs.map(([of, label]) => el("option", { value: of }, label)));
  if (pairs.some(([of]) => of === value)) select.value = value;
}

// announce tells a screen reader something, once.
export function announce(text) {
  $("announce").textContent = text;
}

// remember and recall keep a choice about the page's looks; without storage it lasts as long as the page.
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is forbidden or full: the choice is not kept, nothing else is lost.
  }
}

export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
