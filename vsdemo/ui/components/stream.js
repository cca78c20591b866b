// Gradio closes the stream of a page's answers as soon as none is due, and opens another one for
// the next request. A request that is sent while a stream closes gets none: its answer does not
// come until the visitor does something else. So for Gradio there is one stream, which never
// closes; behind it there is a connection whenever an answer is due.
// From the second one on, the values of an answer come as changes. Gradio changes the value before
// in place, also if the page has not taken that one yet, which is then lost. So they come whole.
// Requests that follow each other closely may arrive in another order. So each has a number.
{
  const fetch = window.fetch.bind(window);
  const due = new Set(); // requests whose answers have not ended
  const values = new Map(); // request -> the newest values of its answer
  let joined = () => {}; // called when a request is added
  let sent = 0;

  const isTo = (resource, end) =>
    new URL(resource.url ?? resource, location.href).pathname.endsWith(`/queue/${end}`);

  async function join(resource, options) {
    const headers = new Headers(options?.headers ?? resource.headers);
    headers.set("X-Request-Number", ++sent);
    const response = await fetch(resource, { ...options, headers });
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

  // Return a value after one of the changes that gradio.utils.get_diff writes.
  function changed(value, [action, path, change]) {
    if (!path.length) return action === "append" ? value + change : change;
    const last = path.at(-1);
    const parent = path.slice(0, -1).reduce((item, key) => item[key], value);
    if (action === "append") parent[last] += change;
    else if (action === "replace") parent[last] = change;
    else if (Array.isArray(parent)) {
      if (action === "add") parent.splice(last, 0, change);
      else parent.splice(last, 1);
    } else if (action === "add") parent[last] = change;
    else delete parent[last];
    return value;
  }

  // Replace the changes of a message by the whole values.
  function complete(message) {
    const { msg, event_id: id, output } = message;
    if (msg === "process_completed") values.delete(id);
    if (msg !== "process_generating" || !message.success) return;
    const before = values.get(id);
    if (!before) return values.set(id, output.data);
    const replaced = output.data.map((changes, n) => {
      before[n] = changes.reduce(changed, structuredClone(before[n]));
      return changes.length ? [["replace", [], before[n]]] : [];
    });
    output.data = replaced;
  }

  // Yield the messages of one connection after the other.
  async function* answers(request, first) {
    for (let response = first; ; response = await fetch(request.clone())) {
      if (!response.ok) throw new Error(`The app answered with status ${response.status}.`);
      for await (const text of messages(response)) {
        const message = JSON.parse(text.replace(/^data: /, ""));
        complete(message);
        if (message.msg === "process_completed") due.delete(message.event_id);
        if (message.msg !== "close_stream") yield `data: ${JSON.stringify(message)}\n\n`;
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
