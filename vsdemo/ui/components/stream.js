// Gradio closes the stream of a page's answers as soon as none is due, and opens another one for
// the next request. A request that is sent while a stream closes gets none: its answer does not
// come until the visitor does something else. So for Gradio there is one stream, which never
// closes; behind it there is a connection whenever an answer is due.
{
  const fetch = window.fetch.bind(window);
  const due = new Set(); // requests whose answers have not ended
  let joined = () => {}; // called when a request is added

  const isTo = (resource, end) =>
    new URL(resource.url ?? resource, location.href).pathname.endsWith(`/queue/${end}`);

  async function join(...args) {
    const response = await fetch(...args);
    const { event_id: id } = response.ok ? await response.clone().json() : {};
    if (id) due.add(id);
    joined();
    return response;
  }

  // Yield the messages of a connection, each as it was sent.
  async function* messages(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (text + value).split("\n\n");
      text = parts.pop();
      yield* parts;
    }
  }

  // Yield the messages of one connection after the other.
  async function* answers(request, first) {
    for (let response = first; ; response = await fetch(request.clone())) {
      if (!response.ok) throw new Error(`The app answered with status ${response.status}.`);
      for await (const text of messages(response)) {
        const { msg, event_id: id } = JSON.parse(text.replace(/^data: /, ""));
        if (msg === "process_completed") due.delete(id);
        if (msg !== "close_stream") yield `${text}\n\n`;
      }
      while (!due.size) await new Promise((resolve) => (joined = resolve));
    }
  }

  async function stream(request) {
    const first = await fetch(request.clone());
    if (!first.ok) return first;
    const source = answers(request, first);
    const body = new ReadableStream({
      async pull(controller) {
        const { value } = await source.next();
        controller.enqueue(new TextEncoder().encode(value));
      },
      cancel: () => void source.return(),
    });
    return new Response(body, first);
  }

  window.fetch = (resource, options) => {
    if (isTo(resource, "join")) return join(resource, options);
    if (isTo(resource, "data")) return stream(new Request(resource, options));
    return fetch(resource, options);
  };
}
