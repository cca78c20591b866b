// The map of a gallery: draws up to 100,000 photos as points by WebGL, or on a plain canvas where
// there is none, and reports what a visitor selects. Runs once per component.
const container = element.querySelector(".gallery-map");
const find = (selector) => container.querySelector(selector);
const plane = find(".plane");
const [pointCanvas, markCanvas] = [find(".points"), find(".marks")];
const pen = markCanvas.getContext("2d");
const names = find(".names");
const tooltip = find(".tooltip");
const preview = tooltip.querySelector("img");
const hint = find(".hint");
const tools = Object.fromEntries(
  [...container.querySelectorAll("[data-action]")].map((button) => [button.dataset.action, button]),
);

const GRID = 32767; // what 1 is in the positions, as in vsdemo.search.gallery_map
const MARGIN = 24; // pixels around the outermost points
const STRETCH = 1.6;
const MAX_ZOOM = 60;
const PAN = 60; // pixels of an arrow key
const REACH = { mouse: 10, touch: 24 }; // pixels from a pointer to the point that it hits
const SPACING = 6; // pixels between two corners of an area
const HINT_TIME = 1500; // milliseconds
const GAP = 4; // pixels between two names
const RADII = { plain: 1.6, raised: 3.2 }; // pixels

let record = null; // the newest value
let points = null; // Int16Array with x and y of each photo
let marks = null; // Uint8Array: 0 plain, 1 highlighted or selected
let view = { zoom: 1, x: 0, y: 0 }; // the point of the map at the centre
let size = { width: 0, height: 0 }; // of the plane, in pixels
let palette = null; // colours of the page's theme
let hovered = null; // number of a photo
let area = []; // corners of the selected area, on the map
let isDrawingArea = false;
let isSelecting = false; // whether the next drag draws an area
let isRequested = false; // whether a drawing will follow
let hintTimer = 0;
const labels = []; // {region, button} of each name, the largest region first

const { clamp, followPointers, ZOOM_STEP } = vsdemo;
const spreadOf = ([x0, y0], [x1, y1]) => Math.hypot(x1 - x0, y1 - y0);

// Positions. The map is stretched to the plane, but not by more than STRETCH.
const scale = () => {
  const [x, y] = [size.width, size.height].map((side) => Math.max(1, side / 2 - MARGIN));
  return [Math.min(x, STRETCH * y) * view.zoom, Math.min(y, STRETCH * x) * view.zoom];
};
const toPixels = (x, y) => {
  const [sx, sy] = scale();
  return [size.width / 2 + (x - view.x) * sx, size.height / 2 - (y - view.y) * sy];
};
const toMap = ([px, py]) => {
  const [sx, sy] = scale();
  return [view.x + (px - size.width / 2) / sx, view.y - (py - size.height / 2) / sy];
};
const positionOf = (number) => [points[2 * number] / GRID, points[2 * number + 1] / GRID];

// Drawing of the points: by WebGL, or slower on a plain canvas.
const VERTEX = `#version 300 es
in vec2 place; uniform vec2 centre, scale; uniform float diameter;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = diameter;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
uniform vec4 colour; out vec4 result;
void main() {
  vec2 d = 2.0 * gl_PointCoord - 1.0;
  if (dot(d, d) > 1.0) discard;
  result = vec4(colour.rgb * colour.a, colour.a);
}`;

const createGlPainter = (gl) => {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const [centre, factor, diameter, colour] = ["centre", "scale", "diameter", "colour"].map(
    (name) => gl.getUniformLocation(program, name),
  );
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  const place = gl.getAttribLocation(program, "place");
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, 2, gl.SHORT, true, 0, 0);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  let marked = []; // numbers of photos, drawn above all others
  return {
    load: () => gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW),
    mark: () => {
      marked = Uint32Array.from([...marks.keys()].filter((number) => marks[number]));
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, marked, gl.STATIC_DRAW);
    },
    draw: ({ plain, raised }, radii, ratio) => {
      gl.viewport(0, 0, pointCanvas.width, pointCanvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const [sx, sy] = scale();
      gl.uniform2f(centre, view.x, view.y);
      gl.uniform2f(factor, (2 * sx) / size.width, (2 * sy) / size.height);
      gl.uniform4fv(colour, plain);
      gl.uniform1f(diameter, 2 * ratio * radii.plain);
      gl.drawArrays(gl.POINTS, 0, record.count);
      gl.uniform4fv(colour, raised);
      gl.uniform1f(diameter, 2 * ratio * radii.raised);
      gl.drawElements(gl.POINTS, marked.length, gl.UNSIGNED_INT, 0);
    },
  };
};

const createPlainPainter = (brush) => ({
  load: () => {},
  mark: () => {},
  draw: ({ plain, raised }, radii, ratio) => {
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, size.width, size.height);
    for (const [shown, colour, r] of [[0, plain, radii.plain], [1, raised, radii.raised]]) {
      const [red, green, blue] = colour.map((part) => Math.round(255 * part));
      brush.fillStyle = `rgb(${red} ${green} ${blue} / ${colour[3]})`;
      for (let i = 0; i < marks.length; i += 1) {
        if (marks[i] !== shown) continue;
        const [x, y] = toPixels(points[2 * i] / GRID, points[2 * i + 1] / GRID);
        if (x > -r && y > -r && x < size.width + r && y < size.height + r) {
          brush.fillRect(x - r, y - r, 2 * r, 2 * r);
        }
      }
    }
  },
});

const createPainter = () => {
  const gl = pointCanvas.getContext("webgl2", { antialias: false, alpha: true });
  const painter = gl && createGlPainter(gl);
  container.dataset.painter = painter ? "webgl" : "canvas";
  return painter || createPlainPainter(pointCanvas.getContext("2d"));
};
let painter = createPainter();

const readPalette = () => {
  const style = getComputedStyle(container);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const parts = (name, alpha) => [
    ...colour(name).match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16) / 255), alpha,
  ];
  return { parts, accent: colour("accent"), raised: colour("raised") };
};

const ring = ([x, y], radius, colour, width) => {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
};

const drawMarks = (ratio) => {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  if (area.length) {
    pen.beginPath();
    for (const corner of area) pen.lineTo(...toPixels(...corner));
    if (!isDrawingArea) pen.closePath();
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
  for (const [number, radius] of [[record.chosen, 8], [hovered, 6]]) {
    if (number === null || number >= record.count) continue;
    const pixel = toPixels(...positionOf(number));
    ring(pixel, radius, palette.raised, 5);
    ring(pixel, radius, palette.accent, 2.5);
  }
};

// Show names that do not overlap, those of the largest regions first.
const placeNames = () => {
  const placed = []; // boxes as left, top, right, bottom
  for (const { region, button, width, height } of labels) {
    const [x, y] = toPixels(region.x, region.y);
    const [left, top] = [x - width / 2, y - height / 2];
    const box = [left - GAP, top - GAP, left + width + GAP, top + height + GAP];
    const isOutside = box[0] < 0 || box[1] < 0 || box[2] > size.width || box[3] > size.height;
    const overlaps = placed.some((other) => (
      box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]
    ));
    const isCovered = isOutside || overlaps;
    button.classList.toggle("covered", isCovered);
    if (isCovered) continue;
    placed.push(box);
    button.style.transform = `translate(${left}px, ${top}px)`;
  }
};

const draw = () => {
  isRequested = false;
  size = { width: plane.clientWidth, height: plane.clientHeight };
  if (!points || !size.width) return; // in a closed panel; drawn when it opens
  palette ??= readPalette();
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  for (const canvas of [pointCanvas, markCanvas]) {
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  }
  if (!labels[0]?.width) {
    for (const label of labels) {
      Object.assign(label, { width: label.button.offsetWidth, height: label.button.offsetHeight });
    }
  }
  const growth = clamp(view.zoom ** 0.4, 1, 3) * clamp((2000 / record.count) ** 0.25, 0.6, 1.6);
  const isDimmed = (record.selected ?? record.highlighted) !== null;
  const colours = {
    plain: palette.parts("quiet", isDimmed ? 0.35 : 0.6),
    raised: palette.parts("accent", 0.95),
  };
  const radii = { plain: RADII.plain * growth, raised: RADII.raised * Math.min(growth, 1.5) };
  painter.draw(colours, radii, ratio);
  drawMarks(ratio);
  placeNames();
  placeTooltip();
  container.dataset.drawn = Number(container.dataset.drawn || 0) + 1;
};

const requestDrawing = () => {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(draw);
};

// Show another part of the map, but nothing beyond its edges.
const look = (zoom, x, y) => {
  const most = 1 - 1 / zoom;
  view = { zoom, x: clamp(x, -most, most), y: clamp(y, -most, most) };
  container.classList.toggle("zoomed", zoom > 1);
  tools.out.disabled = tools.whole.disabled = zoom <= 1;
  tools.in.disabled = zoom >= MAX_ZOOM;
  requestDrawing();
};
const zoomAt = (factor, pixel = [size.width / 2, size.height / 2]) => {
  const zoom = clamp(view.zoom * factor, 1, MAX_ZOOM);
  const [x, y] = toMap(pixel);
  const kept = view.zoom / zoom;
  look(zoom, x + (view.x - x) * kept, y + (view.y - y) * kept);
};
const pan = (dx, dy) => {
  const [sx, sy] = scale();
  look(view.zoom, view.x - dx / sx, view.y + dy / sy);
};

// What the pointer is on.
const photoAt = (pixel, reach) => {
  const [x, y] = toMap(pixel).map((value) => value * GRID);
  const [sx, sy] = scale().map((factor) => factor / GRID); // pixels of a step of the grid
  let least = reach ** 2;
  let best = null;
  for (let i = 0; i < record.count; i += 1) {
    const dx = (points[2 * i] - x) * sx;
    const dy = (points[2 * i + 1] - y) * sy;
    const distance = (dx * dx + dy * dy) * (marks[i] ? 0.5 : 1); // marked ones are in front
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
};
const placeTooltip = () => {
  if (hovered === null || tooltip.hidden) return;
  const [x, y] = toPixels(...positionOf(hovered));
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const left = clamp(x - width / 2, 4, Math.max(4, size.width - width - 4));
  const top = y - height - 14 < 4 ? y + 14 : y - height - 14;
  tooltip.style.transform = `translate(${left}px, ${top}px)`;
};
const hover = (number) => {
  if (number === hovered) return;
  hovered = number;
  plane.classList.toggle("on-photo", number !== null);
  tooltip.hidden = number === null;
  if (number !== null) preview.src = record.source.replace("{number}", number);
  requestDrawing();
};
const showHint = (text) => {
  hint.textContent = text;
  clearTimeout(hintTimer);
  hintTimer = setTimeout(() => { hint.textContent = ""; }, HINT_TIME);
};

// What a visitor does. One object per event: Gradio resends the first one for events during a
// running callback, so it must hold the latest.
const payloads = { select: {}, area: {}, region: {}, points: {} };
const report = (name, values) => trigger(name, Object.assign(payloads[name], values));

const startSelecting = (isOn) => {
  isSelecting = isOn;
  container.classList.toggle("selecting", isOn);
  tools.area.setAttribute("aria-pressed", isOn);
  if (isOn) showHint(vsdemo.translate("Draw around photos"));
};
const cancelArea = () => {
  area = [];
  isDrawingArea = false;
  startSelecting(false);
  requestDrawing();
};
const endArea = () => {
  isDrawingArea = false;
  startSelecting(false);
  if (area.length < 3) area = [];
  else report("area", { polygon: area });
  requestDrawing();
};
const click = (pixel, isTouch) => {
  if (isSelecting) {
    cancelArea();
    return;
  }
  const number = photoAt(pixel, isTouch ? REACH.touch : REACH.mouse);
  hover(isTouch ? number : null);
  if (number === null) return;
  record.chosen = number; // at once; the response of the app follows
  requestDrawing();
  window.vsdemo?.markSelected(plane, number); // in the grid
  report("select", { number });
};

followPointers(plane, {
  takes: (event) => Boolean(points) && !event.target.closest("button"),
  hover: (position) => hover(photoAt(position, REACH.mouse)),
  leave: () => hover(null),
  click,
  pan,
  zoomAt,
  drag: (start, position) => {
    if (!isSelecting) return false;
    if (!isDrawingArea || !area.length) area = [toMap(start)];
    isDrawingArea = true;
    if (spreadOf(toPixels(...area.at(-1)), position) > SPACING) area.push(toMap(position));
    requestDrawing();
    return true;
  },
  drop: (start, position) => {
    if (position) endArea();
    else cancelArea();
  },
  wheelZooms: () => plane.contains(document.activeElement),
  explainWheel: () => showHint(vsdemo.translate("Click the map or hold Ctrl to zoom")),
});

const KEYS = {
  "+": () => zoomAt(ZOOM_STEP),
  "=": () => zoomAt(ZOOM_STEP),
  "-": () => zoomAt(1 / ZOOM_STEP),
  0: () => look(1, 0, 0),
  ArrowLeft: () => pan(PAN, 0),
  ArrowRight: () => pan(-PAN, 0),
  ArrowUp: () => pan(0, PAN),
  ArrowDown: () => pan(0, -PAN),
  Escape: cancelArea,
};
plane.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
const ACTIONS = {
  in: KEYS["+"],
  out: KEYS["-"],
  whole: KEYS[0],
  area: () => (isSelecting ? cancelArea() : startSelecting(true)),
};
for (const [action, button] of Object.entries(tools)) {
  button.addEventListener("click", ACTIONS[action]);
}

// What the app sends.
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const createNames = () => {
  names.replaceChildren();
  labels.length = 0;
  for (const region of record.regions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = region.name;
    button.setAttribute("aria-label", vsdemo.translate("Select {photos} photos near “{name}”", region));
    button.addEventListener("click", () => {
      area = [];
      report("region", { number: region.number });
    });
    names.append(button);
    labels.push({ region, button });
  }
};

const mark = () => {
  marks = new Uint8Array(record.count);
  const marked = record.selected ?? record.highlighted;
  if (marked !== null) {
    const bits = bytesOf(marked);
    for (let i = 0; i < marks.length; i += 1) marks[i] = (bits[i >> 3] >> (i & 7)) & 1;
  }
  if (record.selected === null) area = [];
  painter.mark();
};

const update = () => {
  container.hidden = !props.value;
  if (!props.value) return;
  const value = JSON.parse(props.value);
  const isSame = record?.key === value.key && points;
  if (!isSame && !value.points) {
    report("points", { key: value.key });
    return;
  }
  record = value;
  if (!isSame) {
    points = new Int16Array(bytesOf(value.points).buffer);
    painter.load();
    hover(null);
    area = [];
    createNames();
    look(1, 0, 0);
  }
  mark();
  requestDrawing();
};

// Where a photo is on the screen, for scripts outside.
container.locate = (number) => {
  const box = plane.getBoundingClientRect();
  const [x, y] = toPixels(...positionOf(number));
  return [box.left + x, box.top + y];
};
container.drawNow = () => { // draws a frame, and waits until it is there
  draw();
  const gl = pointCanvas.getContext("webgl2");
  gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
};

pointCanvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
pointCanvas.addEventListener("webglcontextrestored", () => {
  painter = createPainter();
  if (!points) return;
  painter.load();
  painter.mark();
  requestDrawing();
});
preview.addEventListener("load", placeTooltip);
preview.addEventListener("error", () => { tooltip.hidden = true; });
new ResizeObserver(requestDrawing).observe(plane);
// The theme is a class of the body.
new MutationObserver(() => {
  palette = null;
  requestDrawing();
}).observe(document.body, { attributeFilter: ["class"] });
watch("value", update);
look(1, 0, 0);
update();
