// Order-embeddings in the plane, to be moved by hand: the kinds of a concept lie in its cone. The
// quadrant stands on its corner, so that the origin is at the top and cones open downwards.
vsdemo.cones = {
  STEP: 0.1, // that an arrow key moves a point, in each coordinate
  TOP: 38, // pixels above the origin
  states: new WeakMap(), // section -> its points as they are now, and what is selected

  // E = |max(0, general - specific)|^2, Vendrov et al. 2016, equation 2; 0 inside the cone.
  violation: (general, specific) =>
    general.reduce((sum, x, k) => sum + Math.max(0, x - specific[k]) ** 2, 0),

  number: (e) => `E\u00a0${e && e < 0.005 ? "<\u00a00.01" : `=\u00a0${e && e.toFixed(2)}`}`,
  list: (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1"),

  start(section) {
    const data = JSON.parse(section.dataset.cones), svg = section.querySelector(".plane");
    svg.innerHTML = '<g class="ground"></g><g class="arrows" aria-hidden="true"></g><g class="points"></g>';
    const nodes = data.names.map((name, i) => {
      const node = document.createElementNS(svg.namespaceURI, "g");
      node.innerHTML = '<circle class="hit" r="18"/><circle class="dot" r="5.5"/><text/>';
      node.lastChild.textContent = name;
      node.setAttribute("tabindex", 0);
      node.setAttribute("role", "button");
      node.dataset.point = i;
      return svg.lastChild.appendChild(node);
    });
    const state = { data, nodes, points: data.points, sides: [], chosen: [], moved: null, result: null };
    this.states.set(section, state);
    new ResizeObserver(() => this.fit(section)).observe(svg);
    // A finger on a point moves it, elsewhere it scrolls the page; touch-action knows no parts of an svg.
    const stay = (event) => event.target.closest("[data-point]") && event.preventDefault();
    svg.addEventListener("touchstart", stay, { passive: false });
  },

  // One unit of the drawing is one pixel, so that names stay readable on a phone.
  fit(section) {
    const state = this.states.get(section), svg = section.querySelector(".plane");
    const width = svg.clientWidth, height = svg.clientHeight;
    if (!width) return; // in a tab that nobody looks at
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const down = 1.08 * Math.max(...state.data.points.map(([a, b]) => a + b), 1);
    const aside = 1.15 * Math.max(...state.data.points.map(([a, b]) => Math.abs(b - a)), down / 3);
    Object.assign(state, { width, height, down, aside, sides: [] });
    state.across = (width / 2 - 16) / aside;
    state.along = (height - this.TOP - 24) / down;
    this.draw(section);
    this.place(section);
  },

  // Where a point stands in the drawing, and back.
  at({ width, across, along }, [a, b]) {
    return [width / 2 + across * (b - a), this.TOP + along * (a + b)];
  },
  from({ width, across, along }, x, y) {
    const aside = (x - width / 2) / across, down = (y - this.TOP) / along;
    return [(down - aside) / 2, (down + aside) / 2];
  },
  // The nearest point that is in the quadrant and in the drawing.
  within({ down, aside }, [a, b]) {
    const y = Math.min(Math.max(a + b, 0), down), most = Math.min(aside, y);
    const x = Math.min(Math.max(b - a, -most), most);
    return [(y - x) / 2, (y + x) / 2].map((c) => Math.max(0, Math.round(c * 100) / 100));
  },

  // Each name goes where it covers least; it changes sides only for a reason.
  place(section) {
    const state = this.states.get(section), spots = state.points.map((p) => this.at(state, p));
    const roads = state.data.edges.flatMap(([g, s]) => Array.from({ length: 24 }, (_, t) =>
      [0, 1].map((k) => spots[g][k] + (t + 0.5) / 24 * (spots[s][k] - spots[g][k]))));
    const taken = [];
    spots.forEach(([x, y], i) => {
      const text = state.nodes[i].lastChild, { width, height } = text.getBBox();
      const sides = [["start", 11, 5, 0], ["end", -11, 5, width], ["middle", 0, -12, width / 2], ["middle", 0, 23, width / 2]];
      const tried = sides.map(([anchor, dx, dy, before], side) => {
        const left = x + dx - before - 3, top = y + dy - 0.8 * height;
        const [right, bottom] = [left + width + 6, top + height];
        const covers = ([u, v], r) => u > left - r && u < right + r && v > top - r && v < bottom + r;
        const outside = left < 0 || right > state.width || top < 0 || bottom > state.height;
        const over = taken.filter(([l, t, r, b]) => left < r && right > l && top < b && bottom > t).length
          + spots.filter((spot, k) => k !== i && covers(spot, 6)).length;
        const cost = 1000 * outside + 100 * over + 5 * (side > 1) - 40 * (state.sides[i] === side)
          + roads.filter((spot) => covers(spot, 0)).length;
        return { side, cost, box: [left, top, right, bottom], spot: { "text-anchor": anchor, x: dx, y: dy } };
      });
      const best = tried.reduce((one, two) => (two.cost < one.cost ? two : one));
      for (const [name, value] of Object.entries(best.spot)) text.setAttribute(name, value);
      state.sides[i] = best.side;
      taken.push(best.box);
    });
  },

  // From the specific point up to the general one; a violation stands beside it.
  arrow(state, kind, [general, specific], e) {
    const [x0, y0] = this.at(state, state.points[specific]), [x1, y1] = this.at(state, state.points[general]);
    const far = Math.hypot(x1 - x0, y1 - y0) || 1, [u, v] = [(x1 - x0) / far, (y1 - y0) / far];
    const on = (along, beside) => `${x1 - along * u - beside * v} ${y1 - along * v + beside * u}`;
    const drawn = far < 26 ? "" : `<path class="line ${kind}" d="M${on(far - 8, 0)}L${on(16, 0)}"/>`
      + `<path class="head ${kind}" d="M${on(8, 0)}L${on(18, 4.5)}L${on(18, -4.5)}Z"/>`;
    if (!e) return drawn;
    const [x, y] = [(x0 + x1) / 2 + 8 * Math.abs(v), (y0 + y1) / 2 + (v > 0 ? -8 : 8) * u + 5];
    return `${drawn}<text x="${x}" y="${y}">${this.number(e).replace("<", "&lt;")}</text>`;
  },

  draw(section) {
    const state = this.states.get(section), { data, points, chosen, nodes } = state, { names } = data;
    const inside = (g, s) => g !== s && this.violation(points[g], points[s]) === 0;
    const truth = new Set(data.pairs.map(String)), is = (g, s) => truth.has(`${g},${s}`);
    const strays = names.flatMap((_, g) => names.flatMap((_, s) => inside(g, s) && !is(g, s) ? [[g, s]] : []));
    const direct = strays.filter(([g, s]) => // those that no other one and a true pair imply
      !strays.some(([h, t]) => (t === s && is(g, h)) || (h === g && is(t, s))));
    const es = data.edges.map(([g, s]) => this.violation(points[g], points[s]));
    const cone = (kind, point) => {
      const [x, y] = this.at(state, point), [u, v] = [state.across, state.along].map((c) => 9 * state.down * c);
      return `<path class="${kind}" d="M${x} ${y}L${x - u} ${y + v}H${x + u}Z"/>`;
    };
    const [x, y] = this.at(state, state.result || [0, 0]);
    section.querySelector(".ground").innerHTML = cone("quadrant", [0, 0])
      + chosen.map((i, k) => cone(k === chosen.length - 1 ? "cone" : "cone before", points[i])).join("")
      + `<text x="6" y="18">↑ more general</text><text x="6" y="${state.height - 8}">↓ more specific</text>`;
    section.querySelector(".arrows").innerHTML = direct.map((pair) => this.arrow(state, "spurious", pair)).join("")
      + data.edges.map((pair, i) => this.arrow(state, es[i] ? "violated" : "holds", pair, es[i])).join("")
      + (state.result ? `<rect class="result" x="${x - 5}" y="${y - 5}" width="10" height="10"/>` : "");
    nodes.forEach((node, i) => {
      const above = names.filter((_, g) => inside(g, i));
      node.setAttribute("transform", `translate(${this.at(state, points[i])})`);
      node.setAttribute("aria-pressed", chosen.includes(i));
      node.setAttribute("aria-label", names[i] + (above.length ? `, in the cone of ${this.list(above)}` : ""));
      node.classList.toggle("kind", chosen.length > 0 && inside(chosen.at(-1), i));
    });
    this.tell(section, state, es, strays);
  },

  tell(section, state, es, strays) {
    const { names } = state.data, say = (what, text) => {
      const place = section.querySelector(what);
      if (place.textContent !== text) place.textContent = text; // or it is read out once more
    };
    say(".said", state.result ? this.combined(state) : state.moved !== null ? this.moved(state, es)
      : state.chosen.length ? this.selected(state) : section.querySelector(".said").dataset.ask);
    const count = strays.length === 1 ? "1 pair is" : `${strays.length || "no"} pairs are`;
    say(".total", `${es.filter((e) => e === 0).length} of ${es.length} true pairs hold, ${count} spurious.`);
    const each = names.flatMap((name, s) => {
      const cones = strays.filter((pair) => pair[1] === s).map(([g]) => names[g]);
      return cones.length ? [`${name} in the cone${cones.length > 1 ? "s" : ""} of ${this.list(cones)}`] : [];
    });
    say(".strays", each.length ? `Spurious: ${each.join("; ")}.` : "");
    for (const button of section.querySelectorAll("[data-cone=max], [data-cone=min]")) {
      button.disabled = state.chosen.length < 2;
    }
  },

  // The true pairs of a point that was moved: those that are violated, or that with what is above.
  moved({ data: { names, edges, points }, moved }, es) {
    const own = edges.map((_, i) => i).filter((i) => edges[i].includes(moved));
    const broken = own.filter((i) => es[i]);
    return (broken.length ? broken : own.filter((i) => edges[i][1] === moved)).map((i) => {
      const [general, specific] = edges[i].map((k) => names[k]), a = /^[aeiou]/i.test(general) ? "an" : "a";
      const left = this.violation(...edges[i].map((k) => points[k])) ? "lies outside" : "has left";
      return es[i] ? `${specific} ${left} the cone of ${general}: ${this.number(es[i])}.`
        : `${specific} lies in the cone of ${general}: E = 0, so every ${specific} is ${a} ${general}.`;
    }).join(" ") || `All kinds of ${names[moved]} lie in its cone.`;
  },

  selected({ data: { names }, points, chosen: [one, two = one] }) {
    const kinds = names.filter((_, s) => s !== two && this.violation(points[two], points[s]) === 0);
    return (kinds.length ? `In the cone of ${names[two]}: ${this.list(kinds)}.` : `Nothing is in the cone of ${names[two]}.`)
      + (one === two ? "" : ` Selected before it: ${names[one]}.`);
  },

  combined({ data: { names }, points, chosen, result: [a, b], by }) {
    const gaps = points.map((p) => Math.hypot(p[0] - a, p[1] - b)), least = Math.min(...gaps);
    const both = this.list(chosen.map((i) => names[i])), nearest = names[gaps.indexOf(least)];
    return `The square ${by === "max" ? `composes ${both}: its cone is all that both share`
      : `abstracts ${both}: the lowest point above both`}. Nearest is ${nearest}, ${least.toFixed(2)} away.`;
  },

  change(section, changes) {
    Object.assign(this.states.get(section), { moved: null, result: null }, changes);
    this.draw(section);
  },
  select(section, i) {
    const { chosen } = this.states.get(section);
    this.change(section, { chosen: [...chosen.filter((k) => k !== i), i].slice(-2) });
  },
  move(section, i, point) {
    const state = this.states.get(section);
    this.change(section, { moved: i, points: state.points.with(i, this.within(state, point)) });
  },
  press(section, does) {
    const { chosen, points, data } = this.states.get(section);
    if (does === "reset") {
      this.change(section, { points: data.points, chosen: [], sides: [] });
      return this.place(section);
    }
    const [p, q] = chosen.map((i) => points[i]);
    this.change(section, { result: p.map((x, k) => Math[does](x, q[k])), by: does });
  },

  // A key on a point; up is more general.
  key(section, i, event) {
    const by = { ArrowUp: [-1, -1], ArrowDown: [1, 1], ArrowLeft: [1, -1], ArrowRight: [-1, 1] }[event.key];
    if (by) {
      this.select(section, i);
      this.move(section, i, this.states.get(section).points[i].map((x, k) => x + this.STEP * by[k]));
      this.place(section);
    } else if (event.key === "Enter" || event.key === " ") this.select(section, i);
    else if (event.key === "Escape") this.change(section, { chosen: [] });
    else return;
    event.preventDefault();
  },

  // A pointer on a point; it is moved by as much as the pointer, once that is more than a tremble.
  down(section, i, event) {
    if (event.button !== 0) return;
    const [x, y] = this.at(this.states.get(section), this.states.get(section).points[i]);
    const { clientX, clientY, pointerId } = event;
    this.held = { section, i, pointerId, clientX, clientY, dx: x - clientX, dy: y - clientY, far: false };
    this.select(section, i);
  },
  drag({ section, i, clientX, clientY, dx, dy, far }, event) {
    if (!far && Math.hypot(event.clientX - clientX, event.clientY - clientY) < 4) return;
    this.held.far = true;
    this.move(section, i, this.from(this.states.get(section), event.clientX + dx, event.clientY + dy));
  },
  drop({ section, far }) {
    this.held = null;
    if (far) this.place(section);
  },
};

for (const [kind, does] of Object.entries({ pointerdown: "down", keydown: "key" })) {
  document.addEventListener(kind, (event) => {
    const node = event.target.closest(".cones [data-point]");
    if (node) vsdemo.cones[does](node.closest(".cones"), Number(node.dataset.point), event);
  });
}
for (const [kind, does] of Object.entries({ pointermove: "drag", pointerup: "drop", pointercancel: "drop" })) {
  document.addEventListener(kind, (event) => {
    const { held } = vsdemo.cones;
    if (held && held.pointerId === event.pointerId) vsdemo.cones[does](held, event);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest(".cones [data-cone]");
  if (button) vsdemo.cones.press(button.closest(".cones"), button.dataset.cone);
});
new MutationObserver(() => {
  for (const section of document.querySelectorAll(".cones")) {
    if (!vsdemo.cones.states.has(section)) vsdemo.cones.start(section);
  }
}).observe(document, { childList: true, subtree: true });
