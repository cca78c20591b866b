// An alignment: one phrase at a time is in colour, with its words and its region; all else is grey.
// The page holds all the data, so selecting another one needs no request.
vsdemo.alignment = {
  KINDS: ["fragment", "word", "region"],
  ARROW_OFFSETS: { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 },
  MAX_SHADE: 100, // alpha of the coldest cells of the heat map, 0 to 255
  MIN_AREA: 1e-4, // of a box, as a fraction of the photo; avoids a division by zero

  // Return the kind and number of the clicked element; an arc of the tree stands for its fragment.
  selectionAt(target, data) {
    const arc = target.closest("[data-arc]");
    if (arc) {
      const dependent = Number(arc.dataset.arc);
      const fragment = data.fragments.findIndex(
        ({ words }) => words[1] === dependent && words[0] !== dependent,
      );
      if (fragment >= 0) return { kind: "fragment", number: fragment };
    }
    const element = target.closest("[data-word], [data-fragment], [data-region]");
    const kind = element && this.KINDS.find((name) => name in element.dataset);
    return kind ? { kind, number: Number(element.dataset[kind]) } : null;
  },

  // Return the numbers of the fragments, words and regions related to a selection: one region at
  // most, which for a word is that of its best fragment.
  relatedTo(data, { kind, number }) {
    const isRelated = (fragment, m) => {
      if (fragment.isRest) return false;
      if (kind === "fragment") return m === number;
      if (kind === "region") return fragment.best === number;
      const best = data.wordFragments[number];
      if (best !== null) return m === best;
      return fragment.best === null && fragment.words.includes(number);
    };
    const fragments = data.fragments.flatMap((fragment, m) => isRelated(fragment, m) ? [m] : []);
    // In a phrase with a region, words that point at nothing are left out.
    const words = fragments.flatMap((m) => data.fragments[m].words.filter((word) => (
      data.fragments[m].best === null || data.wordFragments[word] !== null
    )));
    const regions = fragments.map((m) => data.fragments[m].best).filter((best) => best !== null);
    const region = kind === "region" ? [number] : regions;
    const isLinked = (link) => link.regions.includes(region[0])
      || (kind === "word" && link.words.includes(number));
    return {
      fragment: fragments,
      word: kind === "word" ? [number, ...words] : words,
      region,
      link: data.links.flatMap((link, n) => isLinked(link) ? [n] : []),
    };
  },

  describe(data, { kind, number }, related) {
    if (kind === "word" && data.unknown.includes(number)) {
      return vsdemo.translate("“{word}”: unknown word.", { word: data.words[number] });
    }
    const fragments = related.fragment.map((m) => {
      const { label, best, score, absence } = data.fragments[m];
      if (best === null) return `${label}: ${absence}`;
      return vsdemo.translate("{phrase}: region {region}, score {score}", {
        phrase: label, region: data.numbers[best], score: vsdemo.number(score, 2),
      });
    });
    const links = related.link.map((n) => this.quoted(data.links[n].text));
    const matches = [...fragments, ...links].join("; ") || vsdemo.translate("no region");
    if (kind === "word") {
      return vsdemo.translate("“{word}”: {matches}.", { word: data.words[number], matches });
    }
    if (kind === "region") {
      return vsdemo.translate("Region {region}: {matches}.", { region: data.numbers[number], matches });
    }
    return `${matches}.`;
  },

  quoted(word) {
    return vsdemo.translate("“{word}”", { word });
  },

  // Draw the heat map of `vsdemo.vision.regions.heat`: each region spreads over its area by how
  // much its score for the related fragments exceeds the mean. A selected region is bright itself.
  drawHeatMap(canvas, data, { kind, number }, related) {
    const side = canvas.width;
    const heat = new Float64Array(side * side);
    const grounded = related.fragment.filter((m) => data.fragments[m].best !== null);
    const scores = data.boxes.map((_, region) => kind === "region"
      ? Number(region === number)
      : grounded.reduce((sum, m) => sum + data.scores[m][region], 0));
    const total = scores.reduce((sum, score) => sum + score, 0);
    const mean = scores.length > 1 ? total / scores.length : 0;
    data.boxes.forEach(([x0, y0, x1, y1], region) => {
      const area = Math.max((x1 - x0) * (y1 - y0), this.MIN_AREA);
      const weight = Math.max(0, scores[region] - mean) / area;
      if (!weight) return;
      for (let row = 0; row < side; row++) {
        const y = (row + 0.5) / side;
        if (y < y0 || y >= y1) continue;
        for (let column = 0; column < side; column++) {
          const x = (column + 0.5) / side;
          if (x >= x0 && x < x1) heat[row * side + column] += weight;
        }
      }
    });
    const hottest = Math.max(...heat) || 1;
    const context = canvas.getContext("2d");
    const image = context.createImageData(side, side);
    heat.forEach((value, cell) => {
      image.data[4 * cell + 3] = this.MAX_SHADE * (1 - value / hottest); // alpha of black
    });
    context.putImageData(image, 0, 0);
  },

  // Select an element, or nothing if it is selected already.
  select(tab, selection) {
    const { dataset } = tab.querySelector("[data-alignment]");
    const isSelected = selection && dataset.kind === selection.kind
      && Number(dataset.number) === selection.number;
    dataset.kind = selection && !isSelected ? selection.kind : "";
    dataset.number = selection && !isSelected ? selection.number : "";
    this.show(tab);
  },

  // Show the selection that the section holds, also in a photo that has just been drawn.
  show(tab) {
    const section = tab.querySelector("[data-alignment]");
    const data = JSON.parse(section.dataset.alignment);
    const { kind, number } = section.dataset;
    const selection = kind ? { kind, number: Number(number) } : null;
    const related = selection
      ? this.relatedTo(data, selection)
      : { fragment: [], word: [], region: [], link: [] };
    for (const kindOf of [...this.KINDS, "link"]) {
      for (const element of tab.querySelectorAll(`[data-${kindOf}]`)) {
        const own = Number(element.dataset[kindOf]);
        element.classList.toggle("related", related[kindOf].includes(own));
        const pressed = selection && selection.kind === kindOf && selection.number === own;
        if (element.hasAttribute("aria-pressed")) {
          element.setAttribute("aria-pressed", Boolean(pressed));
        }
      }
    }
    for (const arc of section.querySelectorAll("[data-arc]")) {
      const dependent = Number(arc.dataset.arc);
      const isRelated = related.fragment.some((m) => data.fragments[m].words[1] === dependent);
      arc.classList.toggle("related", isRelated);
    }
    this.paint(tab, data, related);
    tab.classList.toggle("has-selection", Boolean(selection));
    const canvas = tab.querySelector("figure canvas");
    if (selection && canvas) this.drawHeatMap(canvas, data, selection, related);
    const status = section.querySelector(".status");
    status.dataset.hint ||= status.textContent;
    const text = selection ? this.describe(data, selection, related) : status.dataset.hint;
    if (status.textContent !== text) status.textContent = text;
    this.updateSearchButton(section, data, selection, related);
  },

  // Give the words of the selection the colour and the number of its region.
  paint(tab, data, { region: [region] }) {
    const [colour, ink] = data.colours[region] || ["", ""];
    tab.classList.toggle("has-region", region !== undefined);
    for (const element of tab.querySelectorAll("figure, [data-alignment]")) {
      element.style.setProperty("--mark", colour);
      element.style.setProperty("--on-mark", ink);
    }
    for (const label of tab.querySelectorAll("[data-number-of]")) {
      const isRelated = Boolean(label.closest(".related")) && region !== undefined;
      label.textContent = isRelated ? data.numbers[region] : label.dataset.numberOf;
    }
  },

  // Set what the button below searches the gallery for.
  updateSearchButton(section, data, selection, related) {
    const button = section.querySelector(".region-search button");
    const { number, text } = this.searchTarget(data, selection, related);
    button.dataset.number = number ?? button.dataset.sentence;
    section.querySelector(".search-text").textContent = text;
  },

  // Return the number and text to search for: fragments come first, then words. The number is null
  // for the whole sentence.
  searchTarget(data, selection, related) {
    const wholeSentence = { number: null, text: vsdemo.translate("the whole sentence") };
    if (!selection) return wholeSentence;
    if (selection.kind === "word") {
      const number = data.fragments.length + selection.number;
      return { number, text: this.quoted(data.words[selection.number]) };
    }
    let fragment = selection.number;
    if (selection.kind === "region") {
      const score = (m) => data.scores[m][selection.number];
      [fragment] = [...related.fragment].sort((a, b) => score(b) - score(a));
      if (fragment === undefined) return wholeSentence;
    }
    return { number: fragment, text: this.quoted(data.fragments[fragment].phrase) };
  },

  // Move the focus within a group of words, fragments or regions, and select what it reaches.
  moveFocus(target, tab, offset) {
    const group = target.closest("[data-arrow-keys], svg");
    const kind = group && this.KINDS.find((name) => name in target.dataset);
    if (!kind) return false;
    const elements = [...group.querySelectorAll(`:is(button, [tabindex])[data-${kind}]`)];
    const next = elements[elements.indexOf(target) + offset];
    if (next) {
      next.focus();
      if (next.getAttribute("aria-pressed") !== "true") {
        next.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      }
    }
    return true;
  },
};

for (const eventName of ["click", "keydown"]) {
  document.addEventListener(eventName, (event) => {
    const tab = event.target.closest("#align");
    const section = tab && tab.querySelector("[data-alignment]");
    if (!section) return;
    const { alignment } = vsdemo;
    if (eventName === "keydown") {
      const offset = alignment.ARROW_OFFSETS[event.key];
      if (offset && alignment.moveFocus(event.target, tab, offset)) {
        event.preventDefault();
        return;
      }
      if (event.key === "Escape" && section.dataset.kind) {
        alignment.select(tab, null);
        return;
      }
      // The browser turns these keys into clicks for HTML buttons, but not within an SVG.
      const isPress = event.key === "Enter" || event.key === " ";
      if (!isPress || !event.target.closest("svg [role=button]")) return;
      event.preventDefault();
    }
    const selection = alignment.selectionAt(event.target, JSON.parse(section.dataset.alignment));
    if (selection) alignment.select(tab, selection);
  });
}

document.addEventListener("vsdemo:update", (event) => {
  const tab = event.target.closest("#align");
  if (tab?.querySelector("[data-alignment]")) vsdemo.alignment.show(tab);
});
