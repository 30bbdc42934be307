// The server's API, and its errors in plain words.

import { events } from "./sse.js";

// Session holds the API key: in this page's memory alone.
export const session = { key: "" };

// ServerError is an answer that the server refused or could not finish.
export class ServerError extends Error {
  constructor(status, detail, wait) {
    super(detail?.message ?? `status ${status}`);
    this.status = status;
    this.code = detail?.code ?? "";
    this.param = detail?.param ?? "";
    this.wait = wait; // seconds until another try makes sense; NaN if not said
  }
}

// UnreachableError is a server that does not answer, CutError an answer whose connection ended before it did.
class UnreachableError extends Error {}
class CutError extends Error {}

// expected says whether an error is one that this module explains, rather than a mistake of the page.
export function expected(error) {
  return error.name === "AbortError" || [ServerError, UnreachableError, CutError].some((kind) => error instanceof kind);
}

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (/[^\x20-\x7e]/.test(session.key)) throw new ServerError(401, { message: "The key has characters that no header can carry." }, NaN);
  if (session.key !== "") headers.Authorization = "Bearer " + session.key;
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit" });
  } catch (error) {
    throw error instanceof TypeError ? new UnreachableError(error.message) : error;
  }
  if (response.ok) return response;
  let detail;
  try {
    detail = (await response.json()).error;
  } catch {
    // Not this server's own words: a proxy between may have answered.
  }
  throw new ServerError(response.status, detail, Number.parseFloat(response.headers.get("Retry-After")));
}

// get reads a JSON document.
export async function get(path, signal) {
  return (await call(path, { signal })).json();
}

// readiness says whether models are still being loaded: {status, loading: [{model, progress}]}.
export async function readiness() {
  return (await fetch("/readyz", { credentials: "omit" })).json();
}

// stream yields the chunks of a chat completion. It throws unless the answer came to its end.
export async function* stream(request, signal) {
  const response = await call("/v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  try {
    for await (const data of events(response.body)) {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data);
      if (chunk.error) throw new ServerError(response.status, chunk.error, NaN);
      yield chunk;
    }
  } catch (error) {
    throw expected(error) ? error : new CutError(error.message);
  }
  throw new CutError("the stream ended without [DONE]");
}

const byCode = {
  model_loading: "The models are still being loaded.",
  shutting_down: "The server is shutting down.",
  queue_full: "The server is busy: its queue is full.",
  rate_limit_exceeded: "You have too many questions waiting at this server.",
  model_not_found: "The server does not serve this model any more.",
  context_length_exceeded: "The conversation is too long for this model. Clear it, or ask a shorter question.",
  request_too_large: "The conversation is larger than this server takes. Clear it, or ask a shorter question.",
  timeout: "The answer took longer than this server allows.",
  internal_error: "Something went wrong in the server. Its log says more.",
};

// explain says what went wrong and what to do: {words, detail, key}; detail is what the server itself said, key whether an API key
// is wanted.
export function explain(error) {
  if (error instanceof CutError) {
    return { words: "The connection broke before the answer was complete.", detail: error.message };
  }
  if (error instanceof UnreachableError) return { words: "The server cannot be reached. Is it running?" };
  if (!(error instanceof ServerError)) return { words: "The page could not show this.", detail: error.message };
  if (error.status === 401 || error.status === 403) {
    return { words: "The server wants a valid API key. Enter it under Settings of answers.", detail: error.message, key: true };
  }
  let words = byCode[error.code];
  if (words === undefined) words = error.status === 400 ? "The server does not accept this setting." : "The server could not answer.";
  if (error.wait > 0) words += ` Try again in ${Math.ceil(error.wait)} s.`;
  return { words, detail: error.message };
}
