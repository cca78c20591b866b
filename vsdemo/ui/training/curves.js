// The curves: draws the panels of the runs in `frame`, each only when it changed. Once a widget.
const find = (name) => frame.querySelector(`.${name}`);
const smooth = find("smooth"), log = find("log"), png = find("png"), note = find("note");
const EMPTY = note.textContent, UNITS = { rsum: "sum of the recalls, %", accuracy: "%" };
const finger = matchMedia("(pointer: coarse)").matches; // there a drag scrolls the page
const panels = [...frame.querySelectorAll(".panel")].map((box) => ({
  box, key: box.dataset.panel, plot: box.querySelector(".plot"), figure: box.querySelector(".figure"), seen: "",
}));
const REST = 10; // times as long as drawing took it waits before it draws what arrives: it is not alone
let runs = [], busy = false, again = false, timer = 0, ready = 0;

// The exponential moving average as TensorBoard draws it: the first values count in full.
const averaged = (values, weight) => {
  let sum = 0, left = 1;
  return values.map((value) => {
    sum = weight * sum + (1 - weight) * value;
    left *= weight;
    return sum / (1 - left);
  });
};

const plainText = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// The figure that a panel shows: the one chosen, where some run has it, else the first run's first.
const chosen = ({ key, box, figure }) => {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run[key])))];
  const [first = ""] = names;
  if (!figure) return first;
  if (figure.dataset.names !== names.join()) {
    const before = figure.value;
    figure.replaceChildren(...names.map((name) => new Option(name)));
    figure.value = names.includes(before) ? before : first;
    figure.dataset.names = names.join();
    figure.hidden = names.length < 2;
  }
  const now = figure.value, unit = UNITS[now] || (now.startsWith("R@") ? "%" : "");
  const told = figure.hidden ? [now, unit].filter(Boolean).join(", ") : unit;
  if (box.querySelector(".unit").textContent !== told) box.querySelector(".unit").textContent = told;
  return now;
};

const traces = ({ key, box }, figure) => runs.filter((run) => run[key][figure]).flatMap((run) => {
  const { x, y } = run[key][figure], weight = "smooth" in box.dataset ? Number(smooth.value) : 0;
  const dots = x.length === 1 || (key === "dev" && x.length <= 30);
  const line = {
    type: "scatter", x, y: weight ? averaged(y, weight) : y, mode: dots ? "lines+markers" : "lines",
    name: plainText(run.name), hovertemplate: "step %{x:,}<br>%{y:,.5~r}",
    line: { color: run.colour, width: 2, dash: run.dash }, marker: { color: run.colour, size: 5 },
  };
  if (!weight) return [line];
  const raw = { ...line, y, opacity: 0.45, hoverinfo: "skip", hovertemplate: "", line: { color: run.colour, width: 1 } };
  return [raw, line];
});

const layout = ({ box, plot }, figure, most) => {
  const logged = "log" in box.dataset && log.checked;
  const axis = { gridcolor: "var(--sunk)", linecolor: "var(--line)", zeroline: false, autorange: true };
  const across = { title: { text: "step", standoff: 4, font: { size: 12 } }, tickangle: 0, nticks: Math.ceil(plot.clientWidth / 90) };
  const range = { rangemode: "tozero", autorangeoptions: { include: Math.max(10, most) } };
  const digits = { exponentformat: logged ? "power" : "none", nticks: 6, type: logged ? "log" : "linear" };
  const zero = { rangemode: "zero" in box.dataset ? "tozero" : "normal" };
  return {
    width: plot.clientWidth, height: plot.clientHeight, margin: { l: 62, r: 14, t: 6, b: 40 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", separators: ".,",
    font: { color: "var(--quiet)", family: "system-ui, sans-serif", size: 12 },
    showlegend: false, hovermode: "closest", hoverdistance: 40, dragmode: finger ? false : "zoom",
    hoverlabel: { bgcolor: "var(--raised)", namelength: 40, font: { color: "var(--ink)", size: 12 } },
    xaxis: { ...axis, ...across, ...range, separatethousands: true, exponentformat: "none" },
    yaxis: { ...axis, ...digits, ...zero, separatethousands: true },
    uirevision: JSON.stringify([runs.map((run) => run.name), figure, logged]), // zoom stays until then
  };
};

const drawPanel = async (panel, style) => {
  const figure = chosen(panel), data = traces(panel, figure);
  const ends = runs.flatMap((run) => panels.flatMap(({ key }) => Object.values(run[key]).map((line) => line.x.at(-1))));
  const shown = coloured(layout(panel, figure, Math.max(...ends)), style), seen = JSON.stringify([data, shown]);
  if (seen === panel.seen) return;
  panel.seen = seen;
  panel.box.classList.toggle("none", !data.length);
  if (!data.length && !panel.plot.data) return;
  await Plotly.react(panel.plot, data, shown, { displayModeBar: false, showTips: false, plotlyServerURL: "" });
  panel.box.dataset.drawn = Number(panel.box.dataset.drawn || 0) + 1;
};

const drawAll = async () => {
  if (!frame.clientWidth || document.hidden) return; // nobody looks: drawn when it shows
  try {
    await load();
  } catch {
    note.textContent = "The curves cannot be drawn: their script did not load.";
    return;
  }
  if (!runs.length) return; // gone while the script came
  note.textContent = "";
  png.disabled = false;
  let spent = 0;
  for (const panel of panels) {
    const began = performance.now();
    await drawPanel(panel, getComputedStyle(frame));
    spent += performance.now() - began;
    await new Promise((done) => setTimeout(done)); // the page answers between panels
  }
  ready = performance.now() + REST * spent;
  frame.dataset.drawn = Number(frame.dataset.drawn || 0) + 1;
};

const draw = async () => {
  again = true;
  if (busy) return;
  busy = true;
  try {
    while (again && runs.length) {
      again = false;
      await drawAll();
    }
  } finally {
    busy = false;
  }
};

const after = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(draw, wait);
};

const entry = ({ name, colour, dash }) => {
  const item = document.createElement("li");
  item.innerHTML = '<svg width="34" height="4" aria-hidden="true"><line x2="34" y1="2" y2="2" stroke-width="2"/></svg>';
  const line = item.querySelector("line");
  line.setAttribute("stroke", colour);
  if (dash !== "solid") line.setAttribute("stroke-dasharray", dash);
  item.append(name);
  return item;
};

const take = () => {
  const told = props.value ? JSON.parse(props.value).runs : [];
  const begun = told.filter((run) => panels.some(({ key }) => Object.keys(run[key]).length));
  const names = (list) => JSON.stringify(list.map(({ name, colour }) => [name, colour]));
  const others = names(runs) !== names(begun);
  if (others) find("runs").replaceChildren(...begun.map(entry));
  runs = begun;
  if (!runs.length) {
    note.textContent = EMPTY;
    png.disabled = true;
  }
  after(others ? 0 : Math.max(0, ready - performance.now()));
};

// All panels on one canvas, as they are on the page, below the names of the runs.
const WIDE = 600, HIGH = 280, HEAD = 30, GAP = 16, SCALE = 2; // in pixels of the page, and how fine
const picture = async () => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), style = getComputedStyle(frame);
  const ink = (name) => style.getPropertyValue(`--${name}`).trim();
  const write = (text, x, y, name, weight = 400) => {
    pen.font = `${weight} 14px ${style.fontFamily}`;
    pen.fillStyle = ink(name);
    pen.fillText(text, x, y);
    return x + pen.measureText(text).width + GAP;
  };
  const { places, top } = placed((text) => write(text, 0, 0, "ink"));
  canvas.width = SCALE * (2 * WIDE + 3 * GAP);
  canvas.height = SCALE * (top + 2 * (HIGH + HEAD + GAP));
  pen.scale(SCALE, SCALE);
  pen.fillStyle = ink("paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  runs.forEach((run, i) => {
    stroke(pen, run, ...places[i]);
    write(run.name, places[i][0] + 44, places[i][1] + 5, "ink");
  });
  for (const [i, { box, plot, figure }] of panels.entries()) {
    const x = GAP + (i % 2) * (WIDE + GAP), y = top + Math.floor(i / 2) * (HIGH + HEAD + GAP);
    const title = [box.querySelector("h3").textContent, figure && !figure.hidden && figure.value];
    const after = write(title.filter(Boolean).join(" · "), x + 12, y + 20, "ink", 600);
    write(box.querySelector(".unit").textContent, after - 8, y + 20, "quiet");
    if (box.classList.contains("none")) continue;
    const image = new Image();
    image.src = await Plotly.toImage(plot, { format: "png", width: WIDE, height: HIGH, scale: SCALE });
    await image.decode();
    pen.drawImage(image, x, y + HEAD, WIDE, HIGH);
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
};

// Where the names of the runs stand, which go on in the next line where one is full.
const placed = (measure) => {
  const places = [];
  let x = GAP, y = GAP;
  for (const { name } of runs) {
    const long = 44 + measure(name);
    if (x > GAP && x + long > 2 * WIDE) [x, y] = [GAP, y + 22];
    places.push([x, y]);
    x += long;
  }
  return { places, top: y + HEAD };
};

const stroke = (pen, { colour, dash }, x, y) => {
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.setLineDash(dash === "solid" ? [] : dash.split(",").map(parseFloat));
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + 34, y);
  pen.stroke();
};

const save = async () => {
  png.disabled = true;
  try {
    const link = document.createElement("a"), name = runs.map((run) => run.name).join("-");
    link.href = URL.createObjectURL(await picture());
    link.download = `${name.replace(/[^\p{L}\p{N}._]+/gu, "-").slice(0, 80)}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } finally {
    png.disabled = !runs.length;
  }
};

png.addEventListener("click", save);
log.addEventListener("change", draw);
frame.addEventListener("change", ({ target }) => target.matches(".figure") && draw());
smooth.addEventListener("input", () => {
  find("weight").textContent = Number(smooth.value).toFixed(2);
  draw();
});
document.addEventListener("visibilitychange", draw);
new ResizeObserver(() => after(frame.dataset.drawn ? 150 : 0)).observe(frame);
new MutationObserver(() => frame.dataset.drawn && after(150)).observe(document.body, { attributeFilter: ["class"] });
watch("value", take);
take();
