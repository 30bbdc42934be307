"""The page of the comparison with llama-server, from results of every kind."""


def result(name, *checks, status=(200, 200), why=None, unknown=()):
    return {"name": name, "status": list(status), "checks": [{"check": c, "verdict": v} for c, v in checks], "why": why or {}, "unknown": list(unknown)}


def test_outcomes(llama_server):
    assert llama_server.outcome(result("a", ("status", "same"))) == "the same"
    assert llama_server.outcome(result("a", ("text", "tie"))) == "the same up to a tie"
    assert llama_server.outcome(result("a", ("status", "known"), status=(400, 200), why={"status": "refused"})) == "400 here, 200 there: refused"
    assert llama_server.outcome(result("a", ("finish", "known"), ("text", "known"), why={"finish": "x", "text": "x"})) == "x"
    assert llama_server.outcome(result("a", ("text", "differs"), unknown=["text", "no usage"])) == "**text; no usage**"


def test_page(llama_server):
    results = [result("one", ("status", "same"), ("prompt_tokens", "same")), result("two", ("text", "known"), why={"text": "a | b"})]
    text = llama_server.render({"results": results, "model": "m.gguf", "date": "2026-01-02", "commit": "abc", "peer": "version 1", "fields": {"timings": "own"}, "own": ["routing"]})
    assert "the same 2 requests on the same file, m.gguf" in text and "1 answers were the same" in text
    assert "| one | status, prompt tokens | the same |" in text
    assert "| two |  | a \\| b |" in text
    assert "| `timings` | own |" in text and "peer's answers: `routing`." in text
