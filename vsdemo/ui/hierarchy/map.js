// The map: draws items on a canvas, and reports clicked and selected ones. Runs once per component.
const container = element.querySelector(".map");
const find = (selector) => container.querySelector(selector);
const plane = find(".plane");
const canvas = find("canvas");
const pen = canvas.getContext("2d");
const tooltip = find(".tooltip");
const preview = find(".photo-preview");
const area = find(".area");
const hint = find(".hint");
const tools = Object.fromEntries(
  [...container.querySelectorAll("[data-action]")].map((button) => [button.dataset.action, button]),
);

const KINDS = ["photo", "caption", "concept", "root"]; // as in vsdemo.plots.embedding_map
const RADII = [2.8, 2.8, 5.5, 9]; // pixels, by kind
const RING_RADIUS = 11; // pixels
const MARGIN = 36; // pixels around the outermost items
const MAX_ZOOM = 40;
const REACH = { mouse: 12, touch: 28 }; // pixels from a pointer to the item that it hits
const ARROW_REACH = 6; // pixels to the middle of an arrow
const CAPTION_ZOOM = 4; // from which on captions have labels
const MAX_LABELS = 60;
const LABEL_LENGTH = 24; // letters
const LABEL_HEIGHT = 16; // pixels
const COLOURS = 64; // from general to specific
const HINT_TIME = 1500; // milliseconds

let record = null;
let photoAddress = ""; // with {number} in place of the photo's number
let items = []; // positions in the unit square, symbols and colours
let view = { zoom: 1, x: 0.5, y: 0.5 }; // the point of the unit square at the centre
let size = { width: 0, height: 0 }; // of the plane, in pixels
let palette = null; // colours of the page's theme
let hovered = null; // number of an item
let isRequested = false; // whether a drawing will follow
let isSelecting = false; // whether the next drag selects an area
let hintTimer = 0;

const { clamp, followPointers, ZOOM_STEP } = vsdemo;

// Positions.

const scale = () => ({
  x: (size.width - 2 * MARGIN) * view.zoom,
  y: (size.height - 2 * MARGIN) * view.zoom,
});
const toPixels = (item) => {
  const { x, y } = scale();
  return [size.width / 2 + (item.x - view.x) * x, size.height / 2 + (item.y - view.y) * y];
};

// Show another part of the map, but nothing beyond its edges.
const look = (zoom, x, y) => {
  const half = 0.5 / zoom;
  view = { zoom, x: clamp(x, half, 1 - half), y: clamp(y, half, 1 - half) };
  container.classList.toggle("zoomed", zoom > 1);
  tools.out.disabled = tools.whole.disabled = zoom <= 1;
  tools.in.disabled = zoom >= MAX_ZOOM;
  requestDrawing();
};

// Zoom by a factor so that a pixel keeps its place.
const zoomAt = (factor, [px, py] = [size.width / 2, size.height / 2]) => {
  const zoom = clamp(view.zoom * factor, 1, MAX_ZOOM);
  const { x, y } = scale();
  const [dx, dy] = [(px - size.width / 2) / x, (py - size.height / 2) / y];
  const rest = 1 - view.zoom / zoom;
  look(zoom, view.x + dx * rest, view.y + dy * rest);
};

const pan = (dx, dy) => {
  const { x, y } = scale();
  look(view.zoom, view.x - dx / x, view.y - dy / y);
};

// Return the number of the nearest item within reach; null if there is none.
const itemAt = ([px, py], reach) => {
  let best = null;
  let least = reach;
  items.forEach((item, number) => {
    const [x, y] = toPixels(item);
    const distance = Math.hypot(x - px, y - py) - item.radius / 2; // larger ones are in front
    if (distance < least) [best, least] = [number, distance];
  });
  return best;
};

const arrowAt = ([px, py]) => record.arrows.find(({ general, specific }) => {
  const [[x0, y0], [x1, y1]] = [toPixels(items[general]), toPixels(items[specific])];
  return Math.hypot((x0 + x1) / 2 - px, (y0 + y1) / 2 - py) < ARROW_REACH;
});

// Drawing.

const readPalette = () => {
  const style = getComputedStyle(container);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const stops = ["map-general", "map-middle", "map-specific"].map((name) => (
    colour(name).match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16))
  ));
  const scaleColours = Array.from({ length: COLOURS }, (_, i) => {
    const position = (2 * i) / (COLOURS - 1);
    const k = Math.min(1, Math.floor(position));
    const parts = stops[k].map((value, c) => (
      Math.round(value + (position - k) * (stops[k + 1][c] - value))
    ));
    return `rgb(${parts})`;
  });
  return {
    scale: scaleColours,
    font: `13px ${style.getPropertyValue("font-family")}`,
    ...Object.fromEntries(["ink", "quiet", "accent", "raised", "line"].map((n) => [n, colour(n)])),
  };
};

const SHAPES = {
  photo: (x, y, r) => pen.arc(x, y, r, 0, 2 * Math.PI),
  caption: (x, y, r) => pen.rect(x - r, y - r, 2 * r, 2 * r),
  concept: (x, y, r) => {
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.closePath();
  },
  root: (x, y, r) => {
    for (let i = 0; i < 10; i += 1) {
      const distance = i % 2 ? 0.45 * r : r;
      const angle = (Math.PI * i) / 5;
      pen.lineTo(x + distance * Math.sin(angle), y - distance * Math.cos(angle));
    }
    pen.closePath();
  },
};

const drawItems = (growth) => {
  for (const number of record.order) {
    const item = items[number];
    const [x, y] = toPixels(item);
    if (x < -20 || y < -20 || x > size.width + 20 || y > size.height + 20) continue;
    const isNumerous = item.kind < 2;
    pen.globalAlpha = isNumerous ? 0.75 : 1;
    pen.fillStyle = palette.scale[item.colour];
    pen.beginPath();
    SHAPES[KINDS[item.kind]](x, y, item.radius * growth);
    pen.fill();
    if (isNumerous) continue;
    pen.strokeStyle = palette.raised;
    pen.lineWidth = 1;
    pen.stroke();
  }
  pen.globalAlpha = 1;
};

const drawArrows = () => {
  pen.strokeStyle = pen.fillStyle = palette.quiet;
  pen.lineWidth = 1;
  pen.globalAlpha = 0.6;
  for (const { general, specific } of record.arrows) {
    const [x0, y0] = toPixels(items[specific]);
    const [x1, y1] = toPixels(items[general]);
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 24) continue;
    const [u, v] = [(x1 - x0) / length, (y1 - y0) / length];
    const at = (back, beside) => [x1 - back * u - beside * v, y1 - back * v + beside * u];
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(...at(14, 0));
    pen.stroke();
    pen.beginPath();
    pen.moveTo(...at(8, 0));
    pen.lineTo(...at(16, 3.5));
    pen.lineTo(...at(16, -3.5));
    pen.fill();
  }
  pen.globalAlpha = 1;
};

const drawPath = () => {
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.beginPath();
  for (const number of record.path) pen.lineTo(...toPixels(items[number]));
  pen.stroke();
};

const drawRing = () => {
  if (record.chosen === null) return;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 3;
  pen.beginPath();
  pen.arc(...toPixels(items[record.chosen]), RING_RADIUS, 0, 2 * Math.PI);
  pen.stroke();
};

const label = (text) => {
  if (text.length <= LABEL_LENGTH) return text;
  return `${text.slice(0, LABEL_LENGTH).replace(/\s+\S*$/, "")} …`;
};

// Draw labels that do not overlap: first those of the path, then those of the most general items.
const drawLabels = () => {
  const placed = []; // boxes as left, right, top
  const onPath = new Set(record.path);
  const candidates = [
    ...[...record.path].reverse(),
    ...record.labelled.filter((number) => (
      !onPath.has(number) && (items[number].kind > 1 || view.zoom >= CAPTION_ZOOM)
    )),
  ];
  pen.font = palette.font;
  pen.textAlign = "center";
  pen.lineJoin = "round";
  for (const number of candidates) {
    if (placed.length >= MAX_LABELS) break;
    const item = items[number];
    if (KINDS[item.kind] === "photo") continue;
    const [x, y] = toPixels(item);
    const text = label(record.texts[number]);
    const half = pen.measureText(text).width / 2 + 2;
    const top = y - item.radius - LABEL_HEIGHT - (number === record.chosen ? 6 : 2);
    const isOutside = x < 0 || x > size.width || top < -LABEL_HEIGHT || y > size.height;
    const centre = clamp(x, half + 2, size.width - half - 2);
    const box = [centre - half, centre + half, Math.max(top, 2)];
    const overlaps = placed.some(([left, right, other]) => (
      left < box[1] && box[0] < right && Math.abs(other - box[2]) < LABEL_HEIGHT
    ));
    if (isOutside || overlaps) continue;
    placed.push(box);
    pen.strokeStyle = palette.raised;
    pen.lineWidth = 4;
    pen.strokeText(text, centre, box[2] + 12);
    pen.fillStyle = onPath.has(number) ? palette.accent : palette.ink;
    pen.fillText(text, centre, box[2] + 12);
  }
};

const draw = () => {
  isRequested = false;
  size = { width: plane.clientWidth, height: plane.clientHeight };
  if (!record || !size.width) return; // in a hidden tab; drawn when it opens
  palette ??= readPalette();
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  drawArrows();
  drawPath();
  drawItems(Math.min(2, view.zoom ** 0.3));
  drawRing();
  drawLabels();
  placeTooltip();
  container.dataset.drawn = Number(container.dataset.drawn || 0) + 1;
};

const requestDrawing = () => {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(draw);
};

// What the pointer is on.

const showTooltip = (text, photo = null) => {
  tooltip.lastElementChild.textContent = text;
  preview.hidden = photo === null || !photoAddress;
  if (!preview.hidden) preview.src = photoAddress.replace("{number}", photo);
  tooltip.hidden = false;
};

const placeTooltip = () => {
  if (hovered === null || tooltip.hidden) return;
  const [x, y] = toPixels(items[hovered]);
  tooltip.style.left = `${clamp(x - tooltip.offsetWidth / 2, 4, size.width - tooltip.offsetWidth - 4)}px`;
  const above = y - tooltip.offsetHeight - 16;
  tooltip.style.top = `${above < 4 ? y + 16 : above}px`;
};

const hideTooltip = () => {
  hovered = null;
  tooltip.hidden = true;
  canvas.classList.remove("on-item");
};

const hover = (number) => {
  hovered = number;
  canvas.classList.add("on-item");
  const text = record.texts[number];
  const norm = vsdemo.number(record.norms[number], 2);
  showTooltip(`${text}\n${record.normTitle} ${norm}`, record.photos[number]);
  placeTooltip();
};

const hoverArrow = ({ general, specific, violation }) => {
  const [upper, lower] = [record.texts[general], record.texts[specific]];
  showTooltip(vsdemo.translate("{upper}\nis above {lower}\norder violation {violation}", {
    upper, lower, violation: vsdemo.number(violation, 3),
  }));
  hovered = specific;
  placeTooltip();
};

const showHint = (text) => {
  hint.textContent = text;
  clearTimeout(hintTimer);
  hintTimer = setTimeout(() => { hint.textContent = ""; }, HINT_TIME);
};

// What a visitor does.

// One object for all events: Gradio resends the first one for events during a running callback, so
// it must hold the latest.
const payload = { numbers: [] };
const select = (numbers) => {
  payload.numbers = numbers;
  trigger("select", payload);
};

const click = (position, isTouch) => {
  const number = itemAt(position, isTouch ? REACH.touch : REACH.mouse);
  hideTooltip();
  if (number === null) return;
  record.chosen = number; // at once; the response of the app follows
  if (isTouch) hover(number);
  requestDrawing();
  select([number]);
};

const startSelecting = (isOn) => {
  isSelecting = isOn;
  container.classList.toggle("selecting", isOn);
  tools.area.setAttribute("aria-pressed", isOn);
  if (isOn) showHint(vsdemo.translate("Draw a box around items"));
};

const showArea = ([x0, y0], [x1, y1]) => {
  area.hidden = false;
  Object.assign(area.style, {
    left: `${Math.min(x0, x1)}px`,
    top: `${Math.min(y0, y1)}px`,
    width: `${Math.abs(x1 - x0)}px`,
    height: `${Math.abs(y1 - y0)}px`,
  });
};

const selectArea = ([x0, y0], [x1, y1]) => {
  area.hidden = true;
  startSelecting(false);
  const isBetween = (value, a, b) => value >= Math.min(a, b) && value <= Math.max(a, b);
  const numbers = [...items.keys()].filter((number) => {
    const [x, y] = toPixels(items[number]);
    return isBetween(x, x0, x1) && isBetween(y, y0, y1);
  });
  if (numbers.length) select(numbers);
};

followPointers(canvas, {
  takes: () => Boolean(record),
  hover: (position) => {
    const number = itemAt(position, REACH.mouse);
    const arrow = number === null && arrowAt(position);
    if (number !== null) hover(number);
    else if (arrow) hoverArrow(arrow);
    else hideTooltip();
  },
  leave: hideTooltip,
  click,
  pan,
  zoomAt,
  drag: (start, position) => {
    if (isSelecting) showArea(start, position);
    return isSelecting;
  },
  drop: (start, position) => {
    if (position) selectArea(start, position);
    else area.hidden = true;
  },
  wheelZooms: () => false,
  explainWheel: () => showHint(vsdemo.translate("Hold Ctrl and scroll to zoom")),
});

const ACTIONS = {
  in: () => zoomAt(ZOOM_STEP),
  out: () => zoomAt(1 / ZOOM_STEP),
  whole: () => look(1, 0.5, 0.5),
  area: () => startSelecting(!isSelecting),
};
for (const [action, button] of Object.entries(tools)) {
  button.addEventListener("click", ACTIONS[action]);
}

// What the app sends: a whole record, or only the overlay of the one that is drawn.

const prepare = () => {
  const { points, kinds, norms } = record;
  const range = (values) => {
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    return [low, values.reduce((a, b) => Math.max(a, b), -Infinity) - low || 1];
  };
  const [[left, width], [bottom, height]] = [0, 1].map((k) => range(points.map((p) => p[k])));
  // The root, far above all others, would leave them nearly the same colour.
  const [least, spread] = range(norms.filter((_, number) => KINDS[kinds[number]] !== "root"));
  items = points.map(([x, y], number) => ({
    x: (x - left) / width,
    y: 1 - (y - bottom) / height,
    kind: kinds[number],
    radius: RADII[kinds[number]],
    colour: Math.round(clamp((norms[number] - least) / spread, 0, 1) * (COLOURS - 1)),
  }));
  const byNorm = [...items.keys()].sort((a, b) => norms[a] - norms[b]);
  record.labelled = byNorm;
  // General items are drawn above those of their kind.
  record.order = [...byNorm].reverse().sort((a, b) => kinds[a] - kinds[b]);
  for (const entry of container.querySelectorAll("[data-kind]")) {
    entry.hidden = !kinds.includes(KINDS.indexOf(entry.dataset.kind));
  }
};

const showChosen = () => {
  if (record.chosen === null) return;
  const [x, y] = toPixels(items[record.chosen]);
  const isVisible = x > 0 && y > 0 && x < size.width && y < size.height;
  if (size.width && !isVisible) look(view.zoom, items[record.chosen].x, items[record.chosen].y);
};

const update = () => {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  photoAddress = value.source || photoAddress;
  if (value.points) {
    const isSame = record && record.key === value.key;
    record = value;
    prepare();
    hideTooltip();
    if (!isSame) look(1, 0.5, 0.5);
  } else if (record) {
    Object.assign(record, { path: value.path, chosen: value.chosen });
  }
  if (!record) return;
  showChosen();
  requestDrawing();
};

// Where an item is on the screen, for scripts outside.
container.locate = (number) => {
  const box = canvas.getBoundingClientRect();
  const [x, y] = toPixels(items[number]);
  return [box.left + x, box.top + y];
};

preview.addEventListener("error", () => { preview.hidden = true; });
preview.addEventListener("load", placeTooltip);
new ResizeObserver(requestDrawing).observe(plane);
// The theme is a class of the body.
new MutationObserver(() => {
  palette = null;
  requestDrawing();
}).observe(document.body, { attributeFilter: ["class"] });
watch("value", update);
look(1, 0.5, 0.5);
update();
