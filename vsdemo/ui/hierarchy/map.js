// The map: draws the figure in `frame`, and tells of clicks and selections. Runs once a widget.
const plot = frame.querySelector(".plot"), near = frame.querySelector(".near");
const note = frame.querySelector(".note");
const SLOW = 150; // milliseconds after the last turn of the wheel
let figure = null, over = [], shapes = [], source = "", listening = false, timer = 0, drawing = 0;

const webgl = () => window.webglWorks ??= Boolean(document.createElement("canvas").getContext("webgl"));

// Names that would be written over another give way: the path's stay, then the most general.
const labelled = (traces) => {
  const full = plot._fullLayout, axes = full && full.uirevision === figure.layout.uirevision ? full : figure.layout;
  const [x0, x1] = axes.xaxis.range, [y0, y1] = axes.yaxis.range, taken = [];
  const wide = frame.clientWidth / (x1 - x0), high = frame.clientHeight / (y1 - y0);
  const free = (trace, i) => {
    const long = trace.text[i].length * 7, x = (trace.x[i] - x0) * wide, y = (trace.y[i] - y0) * high;
    const box = [x - long / 2, x + long / 2, y, y + 18];
    const hit = taken.some((b) => b[0] < box[1] && box[0] < b[1] && b[2] < box[3] && box[2] < b[3]);
    if (long && !hit) taken.push(box);
    return !hit;
  };
  const shown = new Map([...traces].reverse().filter((t) => t.text).map((trace) => (
    [trace, { ...trace, text: trace.text.map((text, i) => free(trace, i) ? text : "") }]
  )));
  return traces.map((trace) => shown.get(trace) || trace);
};

const draw = async () => {
  if (!figure || !frame.clientWidth) return; // the tab is hidden: drawn when it shows
  const turn = ++drawing;
  if (!window.Plotly) note.textContent = "Drawing the map …";
  try {
    await load();
  } catch {
    note.textContent = "The map cannot be drawn: its script did not load.";
    return;
  }
  if (turn !== drawing) return;
  note.textContent = "";
  const style = getComputedStyle(frame), size = { width: frame.clientWidth, height: frame.clientHeight };
  const traces = labelled([...figure.data, ...over]).map((trace) => ({
    ...coloured(trace, style), type: webgl() ? trace.type : "scatter",
  }));
  const layout = coloured({ ...figure.layout, shapes, ...size }, style);
  await Plotly.react(plot, traces, layout, { ...figure.config });
  listen();
  frame.dataset.drawn = Number(frame.dataset.drawn || 0) + 1;
};

const soon = () => {
  clearTimeout(timer);
  timer = setTimeout(draw, SLOW);
};

const take = () => {
  if (!props.value) return;
  const told = JSON.parse(props.value);
  source = told.source || source;
  if (told.data) {
    figure = { ...told, data: told.data.filter((t) => !(t.meta && t.meta.over)) };
    over = told.data.filter((t) => t.meta && t.meta.over);
    shapes = told.layout.shapes || [];
  } else {
    ({ over, shapes } = told);
  }
  draw();
};

const numbers = (points) => [...new Set(points.map((p) => p.customdata).filter(Number.isInteger))];

// The ring moves at once; the app's answer follows.
const ring = ({ x, y }) => {
  const style = getComputedStyle(frame), line = { color: style.getPropertyValue("--accent").trim(), width: 3 };
  const at = { type: "circle", layer: "above", line, xsizemode: "pixel", ysizemode: "pixel", xanchor: x, yanchor: y };
  shapes = [{ ...at, x0: -11, x1: 11, y0: -11, y1: 11 }];
  Plotly.relayout(plot, { shapes });
};

// A photo shows itself below the words, or above them where there is no room.
const show = ({ points: [point], event }) => {
  const { kind, photos } = point.data.meta || {};
  near.hidden = kind !== "photo" || !source;
  if (near.hidden) return;
  const box = frame.getBoundingClientRect(), [wide, high] = [122, 98], away = 52;
  const x = event.clientX - box.left, y = event.clientY - box.top;
  near.src = source.replace("{number}", photos[point.pointIndex]);
  near.style.left = `${Math.max(4, Math.min(x - wide / 2, box.width - wide - 4))}px`;
  near.style.top = `${y + away + high < box.height ? y + away : Math.max(4, y - away - high)}px`;
};

const listen = () => {
  if (listening) return;
  listening = true;
  plot.on("plotly_click", ({ points }) => {
    const found = numbers(points.slice(0, 1));
    if (!found.length) return;
    trigger("select", { numbers: found });
    ring(points[0]);
  });
  plot.on("plotly_selected", (event) => {
    const found = event ? numbers(event.points) : [];
    if (found.length) trigger("select", { numbers: found });
  });
  plot.on("plotly_hover", show);
  plot.on("plotly_unhover", () => { near.hidden = true; });
  plot.on("plotly_relayout", (change) => {
    if (Object.keys(change).some((key) => /^[xy]axis/.test(key))) soon();
  });
};

near.addEventListener("error", () => { near.hidden = true; });
new ResizeObserver(() => plot.data ? soon() : draw()).observe(frame);
new MutationObserver(() => plot.data && soon()).observe(document.body, { attributeFilter: ["class"] });
watch("value", take);
take();
