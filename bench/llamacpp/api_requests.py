"""What both servers are asked, and where they are known to answer differently, with the reason."""

from dataclasses import dataclass, field

CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
MODEL = "m"
CONTEXT = 4096

USER = [{"role": "user", "content": "Name the four seasons of the year in order, separated by commas."}]
TURNS = [{"role": "system", "content": "You answer in one word."}, {"role": "user", "content": "What is the capital of France?"},
         {"role": "assistant", "content": "Paris"}, {"role": "user", "content": [{"type": "text", "text": "And of Italy?"}]}]
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"enum": ["London", "Paris"]}},
          "required": ["name", "age", "city"], "additionalProperties": False}
WEATHER = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}}, "required": ["city", "unit"]}}}]
ASKED = [{"role": "user", "content": "What is the weather in Rome, in celsius?"}]
TOLD = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome", "unit": "celsius"}'}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "17 degrees"}]


@dataclass(frozen=True)
class Request:
    """One request. `checks` are names of functions in api_compare; `differs` says why a check is known to fail."""
    name: str
    path: str
    body: dict | bytes | None = None
    checks: tuple[str, ...] = ()
    differs: dict[str, str] = field(default_factory=dict)

    @property
    def streams(self) -> bool:
        return isinstance(self.body, dict) and bool(self.body.get("stream"))


def chat(name: str, *checks: str, differs: dict | None = None, messages: list = USER, **fields) -> Request:
    body = {"model": MODEL, "messages": messages, "temperature": 0, "max_tokens": 16, **fields}
    return Request(name, CHAT, {k: v for k, v in body.items() if v is not ...}, checks, differs or {})


def text(name: str, *checks: str, differs: dict | None = None, **fields) -> Request:
    return Request(name, TEXT, {"model": MODEL, "prompt": "The capital of France is", "temperature": 0, "max_tokens": 8, **fields}, checks, differs or {})


GREEDY = ("text", "finish", "prompt_tokens", "completion_tokens")
STRICT = "a request that cannot be meant is refused by name, where llama-server answers something"
OPENAI = "OpenAI's type; what it is stands in code"
TOOLS = {"calls": "the peer holds a Qwen2.5 to no call format here, and gives what the model writes as text"}
UNTOLD = dict.fromkeys(GREEDY, "with none the model is not told of any tool; the peer writes the tools into the prompt")
SUMS = {"prompt_tokens": "the peer counts one of the prompts only", "completion_tokens": "the peer counts one of the answers only"}

REQUESTS = [
    chat("one question", *GREEDY),
    chat("turns, parts of content, system", *GREEDY, messages=TURNS),
    chat("max_completion_tokens", *GREEDY, max_tokens=..., max_completion_tokens=3),
    chat("max_tokens -1", "status", max_tokens=-1, stop=["Summer"], differs={"status": STRICT + "; leave it out for as many as fit"}),
    chat("max_tokens 0", "status", max_tokens=0, differs={"status": STRICT}),
    chat("stop, one", *GREEDY, stop="Summer"),
    chat("stop, several", *GREEDY, stop=["never", "Sum"]),
    chat("n", "text", "finish", "prompt_tokens", "completion_tokens", n=2, differs={"completion_tokens": SUMS["completion_tokens"]}),
    chat("logprobs", *GREEDY, "logprobs", logprobs=True, top_logprobs=3),
    chat("top_logprobs without logprobs", "status", "error", top_logprobs=3),
    chat("logit_bias", *GREEDY, logit_bias={"11": -100}),
    chat("seed, twice", "repeats", "prompt_tokens", temperature=1.2, seed=7),
    chat("penalties", *GREEDY, presence_penalty=1.5, frequency_penalty=1.5),
    chat("top_k, top_p, min_p, greedy", *GREEDY, top_k=20, top_p=0.9, min_p=0.1),
    chat("top_k -1", *GREEDY, top_k=-1),
    chat("json_object", "json", "finish", "prompt_tokens", max_tokens=80, response_format={"type": "json_object"}),
    chat("json_schema", "json", "finish", "prompt_tokens", max_tokens=80, messages=[{"role": "user", "content": "Ada was 36 and lived in London."}],
         response_format={"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}}),
    chat("tools, auto", "calls", "prompt_tokens", messages=ASKED, max_tokens=80, tools=WEATHER, differs=TOOLS),
    chat("tools, required", "calls", "prompt_tokens", messages=ASKED, max_tokens=80, tools=WEATHER, tool_choice="required", differs=TOOLS),
    chat("tools, one of them", "calls", "prompt_tokens", messages=ASKED, max_tokens=80, tools=WEATHER, parallel_tool_calls=False,
         tool_choice={"type": "function", "function": {"name": "get_weather"}}, differs=TOOLS),
    chat("tools, none", *GREEDY, tools=WEATHER, tool_choice="none", differs=UNTOLD),
    chat("tools, an answer of one", "status", "prompt_tokens", messages=TOLD, tools=WEATHER),
    chat("chat_template_kwargs, user, metadata", *GREEDY, chat_template_kwargs={"enable_thinking": False}, user="u", metadata={"a": "b"}),
    chat("stream", *GREEDY, "ends", stream=True),
    chat("stream, include_usage", *GREEDY, "ends", stream=True, stream_options={"include_usage": True}),
    chat("stream, logprobs", "text", "finish", "ends", "logprobs", stream=True, logprobs=True, top_logprobs=2),
    chat("stream, n", "text", "finish", "ends", stream=True, n=2),
    chat("stream, tools", "calls", "ends", messages=ASKED, max_tokens=80, tools=WEATHER, tool_choice="required", stream=True, differs=TOOLS),
    text("completion", *GREEDY),
    text("completion of token ids", *GREEDY, prompt=[785, 6722, 315, 9625, 374]),
    text("completions of two prompts", *GREEDY, prompt=["The capital of France is", "One two three"], differs=SUMS),
    text("completion, logprobs", *GREEDY, "logprobs", logprobs=2),
    text("completion, stop, stream", *GREEDY, "ends", stop=["Paris is"], stream=True, stream_options={"include_usage": True},
         differs={"ends": "the usage is on a chunk of its own, as the API says; the peer has it on the last chunk of the text"}),
    text("echo", "status", echo=True, differs={"status": "refused by name; the peer ignores it"}),
    text("suffix", "status", suffix="!", differs={"status": "refused by name; the peer ignores it"}),
    Request("models", "/v1/models", None, ("names",)),
    Request("one model", "/v1/models/" + MODEL, None, ("status",), {"status": "OpenAI has this path; the peer does not"}),
    Request("health", "/health", None, ("status",)),
    Request("tokenize", "/tokenize", {"content": "Hello, wörld <|im_end|> 123"}, ("tokens",)),
    Request("tokenize, special as text", "/tokenize", {"content": "Hello <|im_end|>", "add_special": True, "parse_special": False}, ("tokens",)),
    Request("tokenize, pieces", "/tokenize", {"content": "Hi é 🙂", "with_pieces": True}, ("tokens",)),
    Request("detokenize", "/detokenize", {"tokens": [9707, 11, 1879, 151645]}, ("content",)),
    Request("apply-template", "/apply-template", {"messages": TURNS}, ("prompt",)),
    Request("apply-template, tools", "/apply-template", {"messages": TOLD, "tools": WEATHER}, ("prompt",)),
    Request("not JSON", CHAT, b'{"model": "m", "messages": [', ("status",), {"status": "the peer takes it for a failure of its own"}),
    Request("a list", CHAT, b"[]", ("status", "error")),
    Request("unknown path", "/v1/nothing", {}, ("status", "error"), {"error": OPENAI}),
    chat("unknown model", "status", model="nobody", differs={"status": "the peer has one model, and answers under any name"}),
    chat("messages empty", "status", messages=[], differs={"status": STRICT}),
    Request("messages missing", CHAT, {"model": MODEL}, ("status", "error")),
    chat("unknown role", "status", messages=[{"role": "nobody", "content": "hi"}], differs={"status": STRICT}),
    chat("number as text", "status", "error", top_p="much"),
    chat("longer than the context", "status", "error", messages=[{"role": "user", "content": "word " * 2 * CONTEXT}], differs={"error": OPENAI + ": context_length_exceeded"}),
    chat("unknown field", "status", temprature=0.5, differs={"status": "refused by name, with the field that may have been meant; the peer ignores it"}),
]

# Fields of the peer's answers that are not here, by the beginning of their path, and why.
ABSENT = {
    "timings": "times are in /metrics",
    "models": "a second list in Ollama's form",
    "data[].aliases": "the peer's own", "data[].tags": "the peer's own",
    "data[].meta": "the peer's own; the context length is context_length here",
    "error.n_prompt_tokens": "in the message", "error.n_ctx": "in the message",
    "choices[].logprobs.content[].id": "ids of tokens are in the trace: routing.trace",
    "choices[].logprobs.content[].top_logprobs[].id": "ids of tokens are in the trace: routing.trace",
}
# Fields whose types differ, and why.
RETYPED = {
    "error.code": "OpenAI's codes are texts; the peer repeats the status",
    "choices[].message.content": "null where there is nothing but calls; the peer made none",
    "choices[].delta.content": "the first chunk has an empty text, as OpenAI's; the peer's has null",
}
# What holds for completions alone: there the peer has the logprobs of chats.
ABSENT_TEXT = {"choices[].logprobs.content": "OpenAI's form for completions: tokens, token_logprobs, top_logprobs, text_offset"}
