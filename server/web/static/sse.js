// Server-sent events out of the body of an answer (HTML standard, section 9.2.6).

// events yields the data of each event. It ends with the body; an error of the connection is thrown.
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      // A line may end with CR LF; a CR at the end waits for what follows it.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield data.join("\n");
          data = [];
        } else if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        } // comments, which keep the connection alive, and other fields are of no interest
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // whoever stops reading wants no more of the answer
  }
}
