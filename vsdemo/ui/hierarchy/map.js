// The map: draws its figure and reports clicked and selected items. Runs once per component.
const plot = container.querySelector(".plot");
const preview = container.querySelector(".photo-preview");
const note = container.querySelector(".note");

const REDRAW_DELAY = 150; // milliseconds after the last zoom or resize
const LETTER_WIDTH = 7; // pixels, about
const LABEL_HEIGHT = 18; // pixels
const RING_RADIUS = 11; // pixels, as in vsdemo.plots.embedding_map
const PREVIEW_WIDTH = 122; // pixels, with its border
const PREVIEW_HEIGHT = 98; // pixels, with its border
const PREVIEW_DISTANCE = 52; // pixels between pointer and photo; the tooltip is between them
const PREVIEW_MARGIN = 4; // pixels to the edges of the map

let figure = null; // without the overlay
let overlay = []; // traces of the path and the arrows
let shapes = []; // the ring
let photoAddress = ""; // with {number} in place of the photo's number
let hasListeners = false;
let redrawTimer = 0;
let latestDrawing = 0;

const hasWebgl = () => (
  window.hasWebgl ??= Boolean(document.createElement("canvas").getContext("webgl"))
);

// Hide labels that overlap. Labels of the path have priority, then the most general ones.
const hideOverlappingLabels = (traces) => {
  const fullLayout = plot._fullLayout;
  const isSameMap = fullLayout && fullLayout.uirevision === figure.layout.uirevision;
  const { xaxis, yaxis } = isSameMap ? fullLayout : figure.layout;
  const [x0, x1] = xaxis.range;
  const [y0, y1] = yaxis.range;
  const scaleX = container.clientWidth / (x1 - x0);
  const scaleY = container.clientHeight / (y1 - y0);
  const placed = []; // boxes as left, right, bottom, top
  const hasRoom = (trace, i) => {
    const width = trace.text[i].length * LETTER_WIDTH;
    const x = (trace.x[i] - x0) * scaleX;
    const y = (trace.y[i] - y0) * scaleY;
    const box = [x - width / 2, x + width / 2, y, y + LABEL_HEIGHT];
    const overlaps = placed.some((other) => (
      other[0] < box[1] && box[0] < other[1] && other[2] < box[3] && box[2] < other[3]
    ));
    if (width && !overlaps) placed.push(box);
    return !overlaps;
  };
  const labelled = new Map();
  for (const trace of [...traces].reverse()) { // the path is the last trace
    if (!trace.text) continue;
    const text = trace.text.map((label, i) => hasRoom(trace, i) ? label : "");
    labelled.set(trace, { ...trace, text });
  }
  return traces.map((trace) => labelled.get(trace) || trace);
};

const draw = async () => {
  if (!figure || !container.clientWidth) return; // in a hidden tab; drawn when it opens
  const drawing = ++latestDrawing;
  if (!window.Plotly) note.textContent = "Drawing the map …";
  try {
    await loadPlotly();
  } catch {
    note.textContent = "The map cannot be drawn: its script failed to load.";
    return;
  }
  if (drawing !== latestDrawing) return;
  note.textContent = "";
  const style = getComputedStyle(container);
  const size = { width: container.clientWidth, height: container.clientHeight };
  const traces = hideOverlappingLabels([...figure.data, ...overlay]).map((trace) => ({
    ...resolveColours(trace, style), type: hasWebgl() ? trace.type : "scatter",
  }));
  const layout = resolveColours({ ...figure.layout, shapes, ...size }, style);
  await Plotly.react(plot, traces, layout, { ...figure.config });
  addListeners();
  countDrawing(container);
};

const redrawLater = () => {
  clearTimeout(redrawTimer);
  redrawTimer = setTimeout(draw, REDRAW_DELAY);
};

// The value is a whole figure, or only the overlay of the figure that is drawn.
const update = () => {
  if (!props.value) return;
  const payload = JSON.parse(props.value);
  photoAddress = payload.source || photoAddress;
  if (payload.data) {
    const isOverlay = (trace) => Boolean(trace.meta && trace.meta.over);
    figure = { ...payload, data: payload.data.filter((trace) => !isOverlay(trace)) };
    overlay = payload.data.filter(isOverlay);
    shapes = payload.layout.shapes || [];
  } else {
    overlay = payload.over;
    shapes = payload.shapes;
  }
  draw();
};

const itemNumbers = (points) => (
  [...new Set(points.map((point) => point.customdata).filter(Number.isInteger))]
);

// Move the ring at once; the response of the app follows.
const moveRing = ({ x, y }) => {
  const colour = getComputedStyle(container).getPropertyValue("--accent").trim();
  shapes = [{
    type: "circle",
    layer: "above",
    line: { color: colour, width: 3 },
    xsizemode: "pixel",
    ysizemode: "pixel",
    xanchor: x,
    yanchor: y,
    x0: -RING_RADIUS,
    x1: RING_RADIUS,
    y0: -RING_RADIUS,
    y1: RING_RADIUS,
  }];
  Plotly.relayout(plot, { shapes });
};

// Show the photo under the pointer below its tooltip or, without enough room, above it.
const showPreview = ({ points: [point], event }) => {
  const { kind, photos } = point.data.meta || {};
  preview.hidden = kind !== "photo" || !photoAddress;
  if (preview.hidden) return;
  const box = container.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const right = box.width - PREVIEW_WIDTH - PREVIEW_MARGIN;
  const left = Math.max(PREVIEW_MARGIN, Math.min(x - PREVIEW_WIDTH / 2, right));
  const below = y + PREVIEW_DISTANCE;
  const above = Math.max(PREVIEW_MARGIN, y - PREVIEW_DISTANCE - PREVIEW_HEIGHT);
  preview.src = photoAddress.replace("{number}", photos[point.pointIndex]);
  preview.style.left = `${left}px`;
  preview.style.top = `${below + PREVIEW_HEIGHT < box.height ? below : above}px`;
};

const hidePreview = () => {
  preview.hidden = true;
};

// Plotly adds `on` to the element when it draws for the first time.
// One object for all events: Gradio resends the first one for events during a running callback, so
// it must hold the latest.
const payload = { numbers: [] };
const select = (numbers) => {
  payload.numbers = numbers;
  trigger("select", payload);
};

const addListeners = () => {
  if (hasListeners) return;
  hasListeners = true;
  plot.on("plotly_click", ({ points }) => {
    const numbers = itemNumbers(points.slice(0, 1));
    if (!numbers.length) return;
    select(numbers);
    moveRing(points[0]);
  });
  plot.on("plotly_selected", (event) => {
    const numbers = event ? itemNumbers(event.points) : [];
    if (numbers.length) select(numbers);
  });
  plot.on("plotly_hover", showPreview);
  plot.on("plotly_unhover", hidePreview);
  plot.on("plotly_relayout", (changes) => {
    if (Object.keys(changes).some((key) => /^[xy]axis/.test(key))) redrawLater();
  });
};

preview.addEventListener("error", hidePreview);
new ResizeObserver(() => plot.data ? redrawLater() : draw()).observe(container);
// The theme is a class of the body.
new MutationObserver(() => plot.data && redrawLater())
  .observe(document.body, { attributeFilter: ["class"] });
watch("value", update);
update();
