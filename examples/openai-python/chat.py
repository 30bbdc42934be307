#!/usr/bin/env python3
"""A chat with a TokenRouter server by the official OpenAI client (pip install openai): each token as it comes, then who wrote
how many.

    tokenrouter serve --demo &
    chat.py [QUESTION]

The server is that of OPENAI_BASE_URL, or else http://127.0.0.1:8080/v1; OPENAI_API_KEY is its key, if it wants one.
"""

import os
import sys

from openai import OpenAI

# One that the pair that is built in was made for.
QUESTION = "Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?"

client = OpenAI(base_url=os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"),
                api_key=os.environ.get("OPENAI_API_KEY", "unused"))
model = client.models.list().data[0].id  # the first route
stream = client.chat.completions.create(
    model=model, stream=True, messages=[{"role": "user", "content": " ".join(sys.argv[1:]) or QUESTION}])
routing = None
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
    # What only a token router has is an extra field of the last chunk.
    routing = (chunk.model_extra or {}).get("routing") or routing
print()
if routing:
    print(", ".join(f"{name}: {count} tokens" for name, count in routing["tokens"].items()),
          f"{routing['handoffs']} handoffs", sep="; ", file=sys.stderr)
