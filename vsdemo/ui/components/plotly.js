// What all that plotly draws has in common: the frame, plotly's script, the page's colours.
const frame = element.querySelector("[data-script]");

// Plotly is large: it is fetched when something is first drawn, once a page.
const load = () => window.plotlyLoading ||= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = frame.dataset.script;
  script.onload = () => done(window.Plotly);
  script.onerror = failed;
  document.head.append(script);
});

// Colours of the page for the names of its variables; long lists hold none.
const plain = new Set(["x", "y", "text", "hovertext", "customdata", "meta"]);
const coloured = (thing, style) => {
  if (typeof thing === "string") {
    return thing.replace(/^var\((--[\w-]+)\)$/, (_, name) => style.getPropertyValue(name).trim());
  }
  if (!thing || typeof thing !== "object" || thing.length > 20) return thing;
  if (Array.isArray(thing)) return thing.map((part) => coloured(part, style));
  const parts = Object.entries(thing);
  return Object.fromEntries(parts.map(([k, v]) => [k, plain.has(k) ? v : coloured(v, style)]));
};

