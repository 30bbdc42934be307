// Which part of an answer's text is whose. The text is what counts: a stop string may cut it within a token, a character may
// consist of several tokens, and text may come later than its tokens.

// common is the length of the longest common beginning, in whole characters.
function common(a, b) {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  const half = n > 0 && a.charCodeAt(n - 1);
  return half >= 0xd800 && half <= 0xdbff ? n - 1 : n;
}

const encoder = new TextEncoder();

// bytes are those of a token as a trace spells it: one that is no text by itself is spelled byte by byte, \xf0\x9f.
function bytes(token) {
  if (/^(\\x[0-9a-f]{2})+$/.test(token)) {
    const spelled = Uint8Array.from(token.slice(2).split("\\x"), (digits) => Number.parseInt(digits, 16));
    if (new TextDecoder().decode(spelled).includes("\ufffd")) return spelled; // else it is what it says
  }
  return encoder.encode(token);
}

// Aligner gives text to tokens. A character belongs to the token that completes it.
export class Aligner {
  #decoder = new TextDecoder();
  #owed = []; // tokens whose text has not come yet: [index, text]
  #last = -1; // token that had text last

  // add takes new tokens as a trace spells them, whose first has this index, and new text. It calls give(index, text) for each
  // part of the text, in order; the index is -1 for text before any token.
  add(tokens, first, text, give) {
    tokens.forEach((token, i) => this.#owed.push([first + i, this.#decoder.decode(bytes(token), { stream: true })]));
    while (text !== "" && this.#owed.length > 0) {
      const [index, expected] = this.#owed[0];
      const n = common(text, expected);
      if (n > 0) {
        give(index, text.slice(0, n));
        this.#last = index;
        text = text.slice(n);
      }
      if (n < expected.length && text === "") {
        this.#owed[0][1] = expected.slice(n);
      } else {
        this.#owed.shift();
      }
    }
    if (text !== "") give(this.#last, text); // what no token accounts for, such as the mark for bytes that are no text
  }
}

const marks = new Map([["\n", "↵"], ["\t", "⇥"], ["\r", "␍"], [" ", "␣"]]);

// visible shows a token's text where white space and control characters matter.
export function visible(text) {
  if (text === "") return "(no text)";
  return Array.from(text, (c) => marks.get(c) ?? (/\p{Cc}|\p{Cf}/u.test(c) ? "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") : c)).join("");
}

// percent writes a probability.
export function percent(p) {
  if (p > 0 && p < 0.001) return "<0.1%";
  return (100 * p).toFixed(p >= 0.1 && p < 0.995 || p >= 0.9995 ? 0 : 1) + "%";
}

// number writes a number with as many digits as tell something.
export function number(x) {
  if (x === 0) return "0";
  if (Math.abs(x) < 0.0001) return x > 0 ? "<0.0001" : ">-0.0001";
  return Math.abs(x) >= 100 ? x.toFixed(0) : String(Number(x.toPrecision(3)));
}
