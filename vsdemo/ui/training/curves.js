// Training curves: draws a panel for each metric, only when its data changed. Runs once per
// component.
const find = (name) => container.querySelector(`.${name}`);
const smoothing = find("smoothing");
const logScale = find("log-scale");
const saveButton = find("png");
const note = find("note");

const EMPTY_NOTE = note.textContent;
const UNITS = { rsum: vsdemo.translate("sum of the recalls, %"), accuracy: "%" };
const [, THOUSANDS, , , , DECIMAL] = vsdemo.number(1000.5, 1); // "1,000.5"
const STEP = vsdemo.translate("step {step}", { step: "%{x:,}" });
const RESIZE_DELAY = 150; // milliseconds after the last change of size or theme
const IDLE_FACTOR = 10; // wait 10 times as long as the last drawing took, to spare the processor
const MAX_MARKERS = 30; // evaluations; more are drawn as a line without markers
const TICK_DISTANCE = 90; // pixels between two steps of the x axis, at least
const MIN_STEPS = 10; // that the x axis shows

// The exported image, in pixels of the page.
const PANEL_WIDTH = 600;
const PANEL_HEIGHT = 280;
const HEAD_HEIGHT = 30;
const GAP = 16;
const LINE_HEIGHT = 22;
const LEGEND_LINE = 34; // length of the line beside the name of a run
const LEGEND_TEXT = 44; // from the start of the line to the name
const RESOLUTION = 2; // pixels of the image per pixel of the page

const hasTouch = matchMedia("(pointer: coarse)").matches; // a drag scrolls the page there
const panels = [...container.querySelectorAll(".panel")].map((box) => ({
  box,
  key: box.dataset.panel,
  plot: box.querySelector(".plot"),
  metricSelect: box.querySelector(".metric"),
  drawn: "", // the data and layout that it shows, as JSON
}));

let runs = [];
let isDrawing = false;
let isOutdated = false;
let drawTimer = 0;
let idleUntil = 0; // milliseconds, as of performance.now()

// Only this metric's name is a word.
const metricName = (metric) => (metric === "accuracy" ? vsdemo.translate("accuracy") : metric);

// Return the exponential moving average with TensorBoard's correction of the bias to zero.
const smooth = (values, weight) => {
  let sum = 0;
  let remaining = 1;
  return values.map((value) => {
    sum = weight * sum + (1 - weight) * value;
    remaining *= weight;
    return sum / (1 - remaining);
  });
};

const escapeHtml = (text) => (
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
);

// Update the list of metrics of a panel and return the selected one. A selection that no run has
// any more gives way to the first metric of the first run.
const selectedMetric = ({ key, box, metricSelect }) => {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run[key])))];
  const first = names[0] ?? "";
  if (!metricSelect) return first;
  if (metricSelect.dataset.names !== names.join()) {
    const previous = metricSelect.value;
    metricSelect.replaceChildren(...names.map((name) => new Option(metricName(name), name)));
    metricSelect.value = names.includes(previous) ? previous : first;
    metricSelect.dataset.names = names.join();
    metricSelect.hidden = names.length < 2;
  }
  const metric = metricSelect.value;
  const unit = UNITS[metric] || (metric.startsWith("R@") ? "%" : "");
  const named = [metricName(metric), unit].filter(Boolean).join(", ");
  const unitText = metricSelect.hidden ? named : unit;
  const unitElement = box.querySelector(".unit");
  if (unitElement.textContent !== unitText) unitElement.textContent = unitText;
  return metric;
};

// Return a line per run or, with smoothing, a pale and a smoothed line.
const traces = ({ key, box }, metric) => {
  const weight = "smooth" in box.dataset ? Number(smoothing.value) : 0;
  return runs.filter((run) => run[key][metric]).flatMap((run) => {
    const { x, y } = run[key][metric];
    const hasMarkers = x.length === 1 || (key === "dev" && x.length <= MAX_MARKERS);
    const line = {
      type: "scatter",
      x,
      y: weight ? smooth(y, weight) : y,
      mode: hasMarkers ? "lines+markers" : "lines",
      name: escapeHtml(run.name),
      hovertemplate: `${STEP}<br>%{y:,.5~r}`,
      line: { color: run.colour, width: 2, dash: run.dash },
      marker: { color: run.colour, size: 5 },
    };
    if (!weight) return [line];
    const raw = {
      ...line,
      y,
      opacity: 0.45,
      hoverinfo: "skip",
      hovertemplate: "",
      line: { color: run.colour, width: 1 },
    };
    return [raw, line];
  });
};

const layout = ({ box, plot }, metric, lastStep) => {
  const isLog = "log" in box.dataset && logScale.checked;
  const axis = {
    gridcolor: "var(--sunk)",
    linecolor: "var(--line)",
    zeroline: false,
    autorange: true,
    separatethousands: true,
  };
  return {
    width: plot.clientWidth,
    height: plot.clientHeight,
    margin: { l: 62, r: 14, t: 6, b: 40 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    separators: DECIMAL + THOUSANDS,
    font: { color: "var(--quiet)", family: "system-ui, sans-serif", size: 12 },
    showlegend: false,
    hovermode: "closest",
    hoverdistance: 40,
    dragmode: hasTouch ? false : "zoom",
    hoverlabel: {
      bgcolor: "var(--raised)",
      namelength: 40,
      font: { color: "var(--ink)", size: 12 },
    },
    xaxis: {
      ...axis,
      title: { text: vsdemo.translate("step"), standoff: 4, font: { size: 12 } },
      tickangle: 0,
      nticks: Math.ceil(plot.clientWidth / TICK_DISTANCE),
      rangemode: "tozero",
      autorangeoptions: { include: Math.max(MIN_STEPS, lastStep) },
      exponentformat: "none",
    },
    yaxis: {
      ...axis,
      exponentformat: isLog ? "power" : "none",
      nticks: 6,
      type: isLog ? "log" : "linear",
      rangemode: "zero" in box.dataset ? "tozero" : "normal",
    },
    // Plotly keeps the zoom while this stays the same.
    uirevision: JSON.stringify([runs.map((run) => run.name), metric, isLog]),
  };
};

const drawPanel = async (panel, style) => {
  const metric = selectedMetric(panel);
  const data = traces(panel, metric);
  const lastSteps = runs.flatMap((run) => (
    panels.flatMap(({ key }) => Object.values(run[key]).map((line) => line.x.at(-1)))
  ));
  const figureLayout = resolveColours(layout(panel, metric, Math.max(...lastSteps)), style);
  const content = JSON.stringify([data, figureLayout]);
  if (content === panel.drawn) return;
  panel.drawn = content;
  panel.box.classList.toggle("none", !data.length);
  if (!data.length && !panel.plot.data) return;
  const config = { displayModeBar: false, showTips: false, plotlyServerURL: "" };
  await Plotly.react(panel.plot, data, figureLayout, config);
  countDrawing(panel.box);
};

const drawPanels = async () => {
  if (!container.clientWidth || document.hidden) return; // drawn when it becomes visible
  try {
    await loadPlotly();
  } catch {
    note.textContent = vsdemo.translate("The curves cannot be drawn: their script failed to load.");
    return;
  }
  if (!runs.length) return; // removed while the script was loading
  note.textContent = "";
  saveButton.disabled = false;
  let duration = 0;
  for (const panel of panels) {
    const start = performance.now();
    await drawPanel(panel, getComputedStyle(container));
    duration += performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve)); // keep the page responsive
  }
  idleUntil = performance.now() + IDLE_FACTOR * duration;
  countDrawing(container);
};

// Draw now or, if a drawing is in progress, once more after it.
const draw = async () => {
  isOutdated = true;
  if (isDrawing) return;
  isDrawing = true;
  try {
    while (isOutdated && runs.length) {
      isOutdated = false;
      await drawPanels();
    }
  } finally {
    isDrawing = false;
  }
};

const drawAfter = (milliseconds) => {
  clearTimeout(drawTimer);
  drawTimer = setTimeout(draw, milliseconds);
};

const legendEntry = ({ name, colour, dash }) => {
  const item = document.createElement("li");
  item.innerHTML = '<svg width="34" height="4" aria-hidden="true">'
    + '<line x2="34" y1="2" y2="2" stroke-width="2"/></svg>';
  const line = item.querySelector("line");
  line.setAttribute("stroke", colour);
  if (dash !== "solid") line.setAttribute("stroke-dasharray", dash);
  item.append(name);
  return item;
};

const update = () => {
  const allRuns = props.value ? JSON.parse(props.value).runs : [];
  const hasData = (run) => panels.some(({ key }) => Object.keys(run[key]).length);
  const newRuns = allRuns.filter(hasData);
  const legendKey = (list) => JSON.stringify(list.map(({ name, colour }) => [name, colour]));
  const isNewLegend = legendKey(runs) !== legendKey(newRuns);
  if (isNewLegend) find("runs").replaceChildren(...newRuns.map(legendEntry));
  runs = newRuns;
  if (!runs.length) {
    note.textContent = EMPTY_NOTE;
    saveButton.disabled = true;
  }
  drawAfter(isNewLegend ? 0 : Math.max(0, idleUntil - performance.now()));
};

// Return the position of each run in the legend of the image, with line breaks, and the height of
// the legend.
const legendPositions = (measure) => {
  const positions = [];
  let x = GAP;
  let y = GAP;
  for (const { name } of runs) {
    const width = LEGEND_TEXT + measure(name);
    if (x > GAP && x + width > 2 * PANEL_WIDTH) {
      x = GAP;
      y += LINE_HEIGHT;
    }
    positions.push([x, y]);
    x += width;
  }
  return { positions, height: y + HEAD_HEIGHT };
};

const drawLegendLine = (context, { colour, dash }, x, y) => {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.setLineDash(dash === "solid" ? [] : dash.split(",").map(parseFloat));
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + LEGEND_LINE, y);
  context.stroke();
};

// Return a PNG with the names of the runs above all panels.
const exportImage = async () => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const style = getComputedStyle(container);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const drawText = (text, x, y, colourName, weight = 400) => { // returns where the next text begins
    context.font = `${weight} 14px ${style.fontFamily}`;
    context.fillStyle = colour(colourName);
    context.fillText(text, x, y);
    return x + context.measureText(text).width + GAP;
  };
  const { positions, height } = legendPositions((text) => drawText(text, 0, 0, "ink"));
  canvas.width = RESOLUTION * (2 * PANEL_WIDTH + 3 * GAP);
  canvas.height = RESOLUTION * (height + 2 * (PANEL_HEIGHT + HEAD_HEIGHT + GAP));
  context.scale(RESOLUTION, RESOLUTION);
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  runs.forEach((run, i) => {
    const [x, y] = positions[i];
    drawLegendLine(context, run, x, y);
    drawText(run.name, x + LEGEND_TEXT, y + 5, "ink");
  });
  for (const [i, { box, plot, metricSelect }] of panels.entries()) {
    const x = GAP + (i % 2) * (PANEL_WIDTH + GAP);
    const y = height + Math.floor(i / 2) * (PANEL_HEIGHT + HEAD_HEIGHT + GAP);
    const metric = metricSelect && !metricSelect.hidden && metricName(metricSelect.value);
    const title = [box.querySelector("h2").textContent, metric].filter(Boolean).join(" · ");
    const end = drawText(title, x + 12, y + 20, "ink", 600);
    drawText(box.querySelector(".unit").textContent, end - 8, y + 20, "quiet");
    if (box.classList.contains("none")) continue;
    const image = new Image();
    image.src = await Plotly.toImage(plot, {
      format: "png",
      width: PANEL_WIDTH,
      height: PANEL_HEIGHT,
      scale: RESOLUTION,
    });
    await image.decode();
    context.drawImage(image, x, y + HEAD_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT);
  }
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
};

const saveImage = async () => {
  saveButton.disabled = true;
  try {
    const link = document.createElement("a");
    const name = runs.map((run) => run.name).join("-");
    link.href = URL.createObjectURL(await exportImage());
    link.download = `${name.replace(/[^\p{L}\p{N}._]+/gu, "-").slice(0, 80)}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } finally {
    saveButton.disabled = !runs.length;
  }
};

saveButton.addEventListener("click", saveImage);
logScale.addEventListener("change", draw);
container.addEventListener("change", ({ target }) => target.matches(".metric") && draw());
smoothing.addEventListener("input", () => {
  find("weight").textContent = vsdemo.number(Number(smoothing.value), 2);
  draw();
});
document.addEventListener("visibilitychange", draw);
new ResizeObserver(() => drawAfter(container.dataset.drawn ? RESIZE_DELAY : 0)).observe(container);
// The theme is a class of the body.
new MutationObserver(() => container.dataset.drawn && drawAfter(RESIZE_DELAY))
  .observe(document.body, { attributeFilter: ["class"] });
watch("value", update);
update();
