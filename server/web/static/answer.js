// One answer as it comes: its tokens, who wrote them, what it cost. No document here.

import { Aligner } from "./tokens.js";

// Answer grows with the chunks of a stream.
export class Answer {
  tokens = []; // those of the trace (docs/api.md), each with its part of the text, and whether that is a thought
  text = ""; // without thoughts
  status = "waiting"; // waiting, streaming, done, stopped or failed
  error = null;
  finish = "";
  routing = null; // the server's account
  started = performance.now();
  first = 0; // when the first token came
  last = 0; // when the latest came
  #aligner = new Aligner();

  // setting says how it was asked for: {target, setting, models}.
  constructor(setting) {
    this.setting = setting;
  }

  get running() {
    return this.status === "waiting" || this.status === "streaming";
  }

  // add takes in a chunk and returns the indices of tokens whose text grew.
  add(chunk) {
    const grown = new Set();
    if (chunk.routing?.tokens) this.routing = chunk.routing;
    const choice = chunk.choices[0];
    if (choice?.finish_reason) this.finish = choice.finish_reason;
    const trace = chunk.routing?.trace ?? [];
    const begin = this.tokens.length;
    for (const one of trace) {
      grown.add(this.tokens.length);
      this.tokens.push({ handoffs: 0, discarded: [], alternatives: [], ...one, text: "", thought: false });
    }
    const write = (index, text, thought) => {
      if (!thought) this.text += text;
      if (index < 0) return;
      this.tokens[index].text += text;
      this.tokens[index].thought = thought;
      grown.add(index);
    };
    this.#aligner.add(trace.map((one) => one.token), begin, choice?.delta?.reasoning_content ?? "", (index, text) => write(index, text, true));
    this.#aligner.add([], begin, choice?.delta?.content ?? "", (index, text) => write(index, text, false));
    if (this.tokens.length > begin) {
      this.last = performance.now();
      if (this.first === 0) this.first = this.last;
      this.status = "streaming";
    }
    return grown;
  }

  end(status, error = null) {
    this.status = status;
    this.error = error;
  }

  // counts are the tokens of each model: the server's where it has given an account, what has come otherwise.
  counts() {
    if (this.routing) return new Map(this.setting.models.map((name) => [name, this.routing.tokens[name] ?? 0]));
    const counts = new Map(this.setting.models.map((name) => [name, 0]));
    for (const one of this.tokens) counts.set(one.model, (counts.get(one.model) ?? 0) + 1);
    return counts;
  }

  // cost is what it took so far: {tokens, large, speed, first, handoffs, discarded}. large is the share of all models but the entry;
  // speed in tokens a second, first in seconds; NaN: not known yet.
  cost() {
    const counts = this.counts();
    const tokens = [...counts.values()].reduce((a, b) => a + b, 0);
    const between = this.tokens.length - 1; // the first came before the clock began
    return {
      tokens,
      large: counts.size > 1 && tokens > 0 ? 1 - counts.get(this.setting.models[0]) / tokens : NaN,
      speed: between > 0 && this.last > this.first ? (1000 * between) / (this.last - this.first) : NaN,
      first: this.first > 0 ? (this.first - this.started) / 1000 : NaN,
      handoffs: this.routing?.handoffs ?? this.tokens.reduce((n, one) => n + one.handoffs, 0),
      discarded: this.routing?.discarded ?? this.tokens.reduce((n, one) => n + one.discarded.length, 0),
    };
  }
}
