// An interactive order-embedding in the plane: the kinds of a concept lie in its cone. The quadrant
// is rotated so that the origin is at the top and cones open downwards.
vsdemo.cones = {
  KEY_STEP: 0.1, // how far an arrow key moves a concept, in each coordinate
  ORIGIN_Y: 38, // pixels from the upper edge to the origin
  MARGIN_X: 16, // pixels to the left and right of the outermost concepts
  MARGIN_BOTTOM: 24, // pixels
  MIN_DRAG: 4, // pixels; a shorter movement of the pointer is a click
  MIN_ARROW: 26, // pixels between two concepts, for a line to fit
  EDGE_SAMPLES: 24, // points of an edge that labels should not cover
  states: new WeakMap(), // section -> positions, selection and size of its drawing
  drag: null, // the concept that a pointer holds

  // E = |max(0, general - specific)|^2, Vendrov et al. 2016, equation 2; 0 inside the cone.
  violation: (general, specific) =>
    general.reduce((sum, x, k) => sum + Math.max(0, x - specific[k]) ** 2, 0),

  formatViolation(e) {
    if (e && e < 0.005) return `E\u00a0<\u00a0${vsdemo.number(0.01, 2)}`;
    return `E\u00a0=\u00a0${e && vsdemo.number(e, 2)}`;
  },

  joinWords(words) {
    if (words.length < 2) return words.join();
    const [others, last] = [words.slice(0, -1).join(", "), words.at(-1)];
    return vsdemo.translate("{others} and {last}", { others, last });
  },

  start(section) {
    const data = JSON.parse(section.dataset.cones);
    const svg = section.querySelector(".plane");
    svg.innerHTML = '<g class="background"></g><g class="arrows" aria-hidden="true"></g>'
      + '<g class="points"></g>';
    const nodes = data.names.map((name, i) => {
      const node = document.createElementNS(svg.namespaceURI, "g");
      node.innerHTML = '<circle class="hit-area" r="18"/><circle class="dot" r="5.5"/><text/>';
      node.lastChild.textContent = name;
      node.setAttribute("tabindex", 0);
      node.setAttribute("role", "button");
      node.dataset.point = i;
      return svg.lastChild.appendChild(node);
    });
    this.states.set(section, {
      data,
      nodes,
      points: data.points,
      labelSides: [],
      selected: [], // at most two, the last one selected last
      moved: null,
      result: null,
    });
    this.resize(section); // the observer calls later, and keys need the places of the concepts
    new ResizeObserver(() => this.resize(section)).observe(svg);
    // A finger on a concept drags it; elsewhere it scrolls the page. The CSS property touch-action
    // cannot be set for parts of an SVG.
    const preventScroll = (event) => {
      if (event.target.closest("[data-point]")) event.preventDefault();
    };
    svg.addEventListener("touchstart", preventScroll, { passive: false });
  },

  // One unit of the SVG is one pixel, so that names stay readable on a phone.
  resize(section) {
    const state = this.states.get(section);
    const svg = section.querySelector(".plane");
    const width = svg.clientWidth;
    const height = svg.clientHeight;
    if (!width) return; // in a hidden tab
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const { points } = state.data;
    const maxDepth = 1.08 * Math.max(...points.map(([a, b]) => a + b), 1);
    const maxOffset = 1.15 * Math.max(...points.map(([a, b]) => Math.abs(b - a)), maxDepth / 3);
    Object.assign(state, { width, height, maxDepth, maxOffset, labelSides: [] });
    state.scaleX = (width / 2 - this.MARGIN_X) / maxOffset;
    state.scaleY = (height - this.ORIGIN_Y - this.MARGIN_BOTTOM) / maxDepth;
    this.draw(section);
    this.placeLabels(section);
  },

  // Convert coordinates of the embedding to pixels, and back.
  toPixels({ width, scaleX, scaleY }, [a, b]) {
    return [width / 2 + scaleX * (b - a), this.ORIGIN_Y + scaleY * (a + b)];
  },
  fromPixels({ width, scaleX, scaleY }, x, y) {
    const offset = (x - width / 2) / scaleX;
    const depth = (y - this.ORIGIN_Y) / scaleY;
    return [(depth - offset) / 2, (depth + offset) / 2];
  },

  // Return the nearest point inside the quadrant and the drawing, rounded to two decimals.
  clamp({ maxDepth, maxOffset }, [a, b]) {
    const depth = Math.min(Math.max(a + b, 0), maxDepth);
    const limit = Math.min(maxOffset, depth);
    const offset = Math.min(Math.max(b - a, -limit), limit);
    return [(depth - offset) / 2, (depth + offset) / 2]
      .map((x) => Math.max(0, Math.round(x * 100) / 100));
  },

  // Place each name on the side where it covers least; prefer its current side, to avoid flicker.
  placeLabels(section) {
    const state = this.states.get(section);
    const positions = state.points.map((point) => this.toPixels(state, point));
    const edgePoints = state.data.edges.flatMap(([general, specific]) => {
      const [x0, y0] = positions[general];
      const [x1, y1] = positions[specific];
      return Array.from({ length: this.EDGE_SAMPLES }, (_, i) => {
        const t = (i + 0.5) / this.EDGE_SAMPLES;
        return [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
      });
    });
    const placed = []; // boxes of the names placed so far
    positions.forEach(([x, y], i) => {
      const label = state.nodes[i].lastChild;
      const { width, height } = label.getBBox();
      const sides = [
        { anchor: "start", dx: 11, dy: 5, before: 0 },
        { anchor: "end", dx: -11, dy: 5, before: width },
        { anchor: "middle", dx: 0, dy: -12, before: width / 2 },
        { anchor: "middle", dx: 0, dy: 23, before: width / 2 },
      ];
      const candidates = sides.map(({ anchor, dx, dy, before }, side) => {
        const left = x + dx - before - 3;
        const top = y + dy - 0.8 * height;
        const right = left + width + 6;
        const bottom = top + height;
        const covers = ([u, v], radius) => u > left - radius && u < right + radius
          && v > top - radius && v < bottom + radius;
        const isOutside = left < 0 || right > state.width || top < 0 || bottom > state.height;
        const names = placed.filter(([l, t, r, b]) => (
          left < r && right > l && top < b && bottom > t
        ));
        const dots = positions.filter((position, k) => k !== i && covers(position, 6));
        const cost = 1000 * isOutside
          + 100 * (names.length + dots.length)
          + 5 * (side > 1)
          - 40 * (state.labelSides[i] === side)
          + edgePoints.filter((position) => covers(position, 0)).length;
        const attributes = { "text-anchor": anchor, x: dx, y: dy };
        return { side, cost, box: [left, top, right, bottom], attributes };
      });
      const best = candidates.reduce((a, b) => (b.cost < a.cost ? b : a));
      for (const [name, value] of Object.entries(best.attributes)) label.setAttribute(name, value);
      state.labelSides[i] = best.side;
      placed.push(best.box);
    });
  },

  // Return the arrow from a specific concept up to a general one, with the violation beside it.
  arrow(state, kind, [general, specific], e) {
    const [x0, y0] = this.toPixels(state, state.points[specific]);
    const [x1, y1] = this.toPixels(state, state.points[general]);
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const u = (x1 - x0) / length;
    const v = (y1 - y0) / length;
    const position = (back, beside) => (
      `${x1 - back * u - beside * v} ${y1 - back * v + beside * u}`
    );
    let svg = "";
    if (length >= this.MIN_ARROW) {
      svg = `<path class="line ${kind}" d="M${position(length - 8, 0)}L${position(16, 0)}"/>`
        + `<path class="head ${kind}" d="M${position(8, 0)}L${position(18, 4.5)}`
        + `L${position(18, -4.5)}Z"/>`;
    }
    if (!e) return svg;
    const x = (x0 + x1) / 2 + 8 * Math.abs(v);
    const y = (y0 + y1) / 2 + (v > 0 ? -8 : 8) * u + 5;
    return `${svg}<text x="${x}" y="${y}">${this.formatViolation(e).replace("<", "&lt;")}</text>`;
  },

  cone(state, kind, point) {
    const [x, y] = this.toPixels(state, point);
    const dx = 9 * state.maxDepth * state.scaleX; // beyond the edges of the drawing
    const dy = 9 * state.maxDepth * state.scaleY;
    return `<path class="${kind}" d="M${x} ${y}L${x - dx} ${y + dy}H${x + dx}Z"/>`;
  },

  draw(section) {
    const state = this.states.get(section);
    const { data, points, selected, nodes } = state;
    const { names, edges } = data;
    const isInCone = (general, specific) => general !== specific
      && this.violation(points[general], points[specific]) === 0;
    const truePairs = new Set(data.pairs.map(String));
    const isTrue = (general, specific) => truePairs.has(`${general},${specific}`);
    const spurious = names.flatMap((_, g) => names.flatMap((_, s) => (
      isInCone(g, s) && !isTrue(g, s) ? [[g, s]] : []
    )));
    // Leave out arrows that a true pair and another spurious pair imply.
    const isImplied = ([g, s]) => spurious.some(([other, specific]) => (
      (specific === s && isTrue(g, other)) || (other === g && isTrue(specific, s))
    ));
    const violations = edges.map(([g, s]) => this.violation(points[g], points[s]));

    const cones = selected.map((i, k) => {
      const kind = k === selected.length - 1 ? "cone" : "cone previous";
      return this.cone(state, kind, points[i]);
    });
    const above = vsdemo.translate("↑ more general");
    const below = vsdemo.translate("↓ more specific");
    section.querySelector(".background").innerHTML = this.cone(state, "quadrant", [0, 0])
      + cones.join("")
      + `<text x="6" y="18">${above}</text>`
      + `<text x="6" y="${state.height - 8}">${below}</text>`;

    const arrows = [
      ...spurious.filter((pair) => !isImplied(pair)).map((pair) => (
        this.arrow(state, "spurious", pair)
      )),
      ...edges.map((pair, i) => (
        this.arrow(state, violations[i] ? "violated" : "holds", pair, violations[i])
      )),
    ];
    if (state.result) {
      const [x, y] = this.toPixels(state, state.result);
      arrows.push(`<rect class="result" x="${x - 5}" y="${y - 5}" width="10" height="10"/>`);
    }
    section.querySelector(".arrows").innerHTML = arrows.join("");

    nodes.forEach((node, i) => {
      const containing = names.filter((_, g) => isInCone(g, i));
      const [name, concepts] = [names[i], this.joinWords(containing)];
      const place = containing.length
        ? vsdemo.translate("{name}, in the cone of {concepts}", { name, concepts })
        : name;
      node.setAttribute("transform", `translate(${this.toPixels(state, points[i])})`);
      node.setAttribute("aria-pressed", selected.includes(i));
      node.setAttribute("aria-label", place);
      node.classList.toggle("kind", selected.length > 0 && isInCone(selected.at(-1), i));
    });
    this.updateTexts(section, state, violations, spurious);
  },

  updateTexts(section, state, violations, spurious) {
    const { names } = state.data;
    const setText = (selector, text) => {
      const element = section.querySelector(selector);
      // Screen readers announce each change, even to the same text.
      if (element.textContent !== text) element.textContent = text;
    };
    setText(".status", this.describe(section, state, violations));
    const holding = violations.filter((e) => e === 0).length;
    setText(".total", this.describePairs(holding, violations.length, spurious.length));
    const descriptions = names.flatMap((name, i) => {
      const cones = spurious.filter(([, specific]) => specific === i).map(([g]) => names[g]);
      if (!cones.length) return [];
      const values = { name, concepts: this.joinWords(cones) };
      return cones.length === 1
        ? [vsdemo.translate("{name} in the cone of {concepts}", values)]
        : [vsdemo.translate("{name} in the cones of {concepts}", values)];
    });
    const pairs = descriptions.join("; ");
    setText(".spurious-pairs", pairs && vsdemo.translate("Spurious: {pairs}.", { pairs }));
    for (const button of section.querySelectorAll("[data-action=max], [data-action=min]")) {
      button.disabled = state.selected.length < 2;
    }
  },

  describePairs(holding, total, count) {
    const values = { holding, total, count };
    if (!count) {
      return vsdemo.translate(
        "{holding} of {total} true pairs hold, no pairs are spurious.", values,
      );
    }
    return count === 1
      ? vsdemo.translate("{holding} of {total} true pairs hold, 1 pair is spurious.", values)
      : vsdemo.translate(
        "{holding} of {total} true pairs hold, {count} pairs are spurious.", values,
      );
  },

  describe(section, state, violations) {
    if (state.result) return this.describeResult(state);
    if (state.moved !== null) return this.describeMove(state, violations);
    if (state.selected.length) return this.describeSelection(state);
    return section.querySelector(".status").dataset.hint;
  },

  // Describe the violated edges of a moved concept or, if there are none, the edges above it.
  describeMove({ data: { names, edges, points }, moved }, violations) {
    const own = edges.map((_, i) => i).filter((i) => edges[i].includes(moved));
    const violated = own.filter((i) => violations[i]);
    const described = violated.length ? violated : own.filter((i) => edges[i][1] === moved);
    const sentences = described.map((i) => {
      const [general, specific] = edges[i].map((k) => names[k]);
      const values = { general, specific, violation: this.formatViolation(violations[i]) };
      if (!violations[i]) {
        return /^[aeiou]/i.test(general)
          ? vsdemo.translate(
            "{specific} lies in the cone of {general}: E = 0, so every {specific} is an {general}.",
            values,
          )
          : vsdemo.translate(
            "{specific} lies in the cone of {general}: E = 0, so every {specific} is a {general}.",
            values,
          );
      }
      const wasOutside = this.violation(...edges[i].map((k) => points[k]));
      return wasOutside
        ? vsdemo.translate("{specific} lies outside the cone of {general}: {violation}.", values)
        : vsdemo.translate("{specific} has left the cone of {general}: {violation}.", values);
    });
    return sentences.join(" ")
      || vsdemo.translate("All kinds of {name} lie in its cone.", { name: names[moved] });
  },

  describeSelection({ data: { names }, points, selected }) {
    const last = selected.at(-1);
    const kinds = names.filter((_, i) => (
      i !== last && this.violation(points[last], points[i]) === 0
    ));
    const values = { name: names[last], kinds: this.joinWords(kinds) };
    const content = kinds.length
      ? vsdemo.translate("In the cone of {name}: {kinds}.", values)
      : vsdemo.translate("Nothing is in the cone of {name}.", values);
    if (selected.length === 1) return content;
    const also = vsdemo.translate("Also selected: {name}.", { name: names[selected[0]] });
    return `${content} ${also}`;
  },

  describeResult({ data: { names }, points, selected, result: [a, b], action }) {
    const distances = points.map((point) => Math.hypot(point[0] - a, point[1] - b));
    const least = Math.min(...distances);
    const concepts = this.joinWords(selected.map((i) => names[i]));
    const nearest = names[distances.indexOf(least)];
    const values = { concepts, nearest, distance: vsdemo.number(least, 2) };
    return action === "max"
      ? vsdemo.translate("The square composes {concepts}: its cone is the intersection of their cones. The nearest concept is {nearest}, {distance} away.", values)
      : vsdemo.translate("The square abstracts {concepts}: it is the lowest point above both. The nearest concept is {nearest}, {distance} away.", values);
  },

  update(section, changes) {
    Object.assign(this.states.get(section), { moved: null, result: null }, changes);
    this.draw(section);
  },

  select(section, i) {
    const { selected } = this.states.get(section);
    this.update(section, { selected: [...selected.filter((k) => k !== i), i].slice(-2) });
  },

  move(section, i, point) {
    const state = this.states.get(section);
    this.update(section, { moved: i, points: state.points.with(i, this.clamp(state, point)) });
  },

  runAction(section, action) {
    const { selected, points, data } = this.states.get(section);
    if (action === "reset") {
      this.update(section, { points: data.points, selected: [], labelSides: [] });
      this.placeLabels(section);
      return;
    }
    const [p, q] = selected.map((i) => points[i]);
    this.update(section, { result: p.map((x, k) => Math[action](x, q[k])), action });
  },

  // Up is more general.
  KEY_DIRECTIONS: {
    ArrowUp: [-1, -1],
    ArrowDown: [1, 1],
    ArrowLeft: [1, -1],
    ArrowRight: [-1, 1],
  },

  onKeyDown(section, i, event) {
    const direction = this.KEY_DIRECTIONS[event.key];
    if (direction) {
      this.select(section, i);
      const point = this.states.get(section).points[i];
      this.move(section, i, point.map((x, k) => x + this.KEY_STEP * direction[k]));
      this.placeLabels(section);
    } else if (event.key === "Enter" || event.key === " ") {
      this.select(section, i);
    } else if (event.key === "Escape") {
      this.update(section, { selected: [] });
    } else {
      return;
    }
    event.preventDefault();
  },

  onPointerDown(section, i, event) {
    if (event.button !== 0) return;
    const state = this.states.get(section);
    const [x, y] = this.toPixels(state, state.points[i]);
    const { clientX, clientY, pointerId } = event;
    const [dx, dy] = [x - clientX, y - clientY]; // so that the concept keeps its distance
    this.drag = { section, i, pointerId, clientX, clientY, dx, dy, hasMoved: false };
    this.select(section, i);
  },

  onPointerMove(drag, event) {
    const distance = Math.hypot(event.clientX - drag.clientX, event.clientY - drag.clientY);
    if (!drag.hasMoved && distance < this.MIN_DRAG) return;
    drag.hasMoved = true;
    const state = this.states.get(drag.section);
    const point = this.fromPixels(state, event.clientX + drag.dx, event.clientY + drag.dy);
    this.move(drag.section, drag.i, point);
  },

  onPointerUp({ section, hasMoved }) {
    this.drag = null;
    if (hasMoved) this.placeLabels(section);
  },
};

for (const [eventName, method] of [["pointerdown", "onPointerDown"], ["keydown", "onKeyDown"]]) {
  document.addEventListener(eventName, (event) => {
    const node = event.target.closest(".cones [data-point]");
    if (node) vsdemo.cones[method](node.closest(".cones"), Number(node.dataset.point), event);
  });
}
for (const [eventName, method] of [
  ["pointermove", "onPointerMove"],
  ["pointerup", "onPointerUp"],
  ["pointercancel", "onPointerUp"],
]) {
  document.addEventListener(eventName, (event) => {
    const { drag } = vsdemo.cones;
    if (drag && drag.pointerId === event.pointerId) vsdemo.cones[method](drag, event);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest(".cones [data-action]");
  if (button) vsdemo.cones.runAction(button.closest(".cones"), button.dataset.action);
});
// Gradio inserts the section after this script has run, and may replace it later.
vsdemo.cones.startAll = () => {
  if (document.readyState === "loading") return; // a section may still lack its last elements
  for (const section of document.querySelectorAll(".cones")) {
    if (!vsdemo.cones.states.has(section)) vsdemo.cones.start(section);
  }
};
document.addEventListener("DOMContentLoaded", vsdemo.cones.startAll);
new MutationObserver(vsdemo.cones.startAll).observe(document, { childList: true, subtree: true });
