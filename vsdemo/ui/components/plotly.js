// Shared by all components drawn by plotly, and placed before their own scripts.
const container = element.querySelector("[data-script]");

// plotly.js is large, so it is loaded once per page, when something is drawn for the first time.
const loadPlotly = () => window.plotlyLoading ||= new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = container.dataset.script;
  script.onload = () => resolve(window.Plotly);
  script.onerror = reject;
  document.head.append(script);
});

// Data without colours, which may be long.
const DATA_KEYS = new Set(["x", "y", "text", "hovertext", "customdata", "meta"]);
const MAX_COLOURS = 20; // longer lists are data too

// Return a copy of a figure with the names of CSS variables replaced by the page's colours.
const resolveColours = (value, style) => {
  if (typeof value === "string") {
    return value.replace(/^var\((--[\w-]+)\)$/, (_, name) => style.getPropertyValue(name).trim());
  }
  if (!value || typeof value !== "object" || value.length > MAX_COLOURS) return value;
  if (Array.isArray(value)) return value.map((item) => resolveColours(item, style));
  const entries = Object.entries(value).map(([key, item]) => (
    [key, DATA_KEYS.has(key) ? item : resolveColours(item, style)]
  ));
  return Object.fromEntries(entries);
};

const countDrawing = (target) => {
  target.dataset.drawn = Number(target.dataset.drawn || 0) + 1;
};
