// The first script of the page: reports clicks on results to the app, and keeps the address bar
// up to date.
window.vsdemo = {
  NARROW_WIDTH: 900, // pixels; a narrower page shows one column
  COPY_LABEL_MS: 1500, // how long a copy button shows its result

  isNarrow: () => window.innerWidth < vsdemo.NARROW_WIDTH,

  isRestoring: true, // the page shows what the address names, until its first results

  // Each page that a visitor has seen can be bookmarked, and Back and Forward lead to it. A
  // visitor's photo is not in the address: its token stays in the history of this browser.
  followAddress(element, trigger, watch) {
    const payload = {};
    let seen = null;
    watch("value", () => {
      const source = element.querySelector("[data-address]");
      if (!source || source.dataset.number === seen) return;
      seen = source.dataset.number;
      const query = new URLSearchParams(source.dataset.address);
      const theme = new URLSearchParams(location.search).get("__theme");
      if (theme) query.set("__theme", theme);
      const { upload } = source.dataset;
      const isSame = `?${query}` === location.search && upload === (history.state?.upload ?? "");
      const method = vsdemo.isRestoring || isSame ? "replaceState" : "pushState";
      history[method]({ upload }, "", `?${query}`);
      vsdemo.isRestoring = false;
    });
    window.addEventListener("popstate", () => {
      vsdemo.isRestoring = true;
      Object.assign(payload, {
        query: [...new URLSearchParams(location.search)],
        upload: history.state?.upload ?? "",
      });
      trigger("select", payload);
    });
  },

  reportClicks(element, trigger) {
    // One object per event name: Gradio resends the first object for clicks during a running
    // callback, so it must hold the latest click.
    const payloads = {};
    element.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-event]");
      if (!button) return;
      const name = button.dataset.event;
      const number = Number(button.dataset.number || 0);
      if (name === "select") vsdemo.markSelected(button, number);
      else if (!("keepScroll" in button.dataset)) window.scrollTo({ top: 0 }); // to the results
      payloads[name] ||= {};
      Object.assign(payloads[name], { number, name: button.dataset.name });
      trigger(name, payloads[name]);
    });
  },

  // The frame moves at once; the server's response follows.
  markSelected(button, number) {
    if (button.closest("#align, #region-results")) {
      window.scrollTo({ top: 0 });
      return;
    }
    const page = button.closest(".gradio-container") || document;
    for (const photo of page.querySelectorAll("#grid [data-number]")) {
      if (Number(photo.dataset.number) === number) photo.setAttribute("aria-current", "true");
      else photo.removeAttribute("aria-current");
    }
    const detail = document.getElementById("detail");
    if (detail && vsdemo.isNarrow() && !button.closest("#picks")) {
      const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
      detail.scrollIntoView({ behavior: reducedMotion ? "auto" : "smooth", block: "start" });
    }
  },
};

// The panel "More" floats above the page; a click outside of it or Escape closes it.
for (const eventName of ["click", "keydown"]) {
  document.addEventListener(eventName, (event) => {
    const openButton = document.querySelector(".more-settings > button.open");
    const closes = eventName === "click"
      ? !event.target.closest(".more-settings")
      : event.key === "Escape";
    if (openButton && closes) openButton.click();
  });
}

// Copy a command. Without a clipboard, as over plain http, select it for copying by hand.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, vsdemo.COPY_LABEL_MS);
});

// Show the role of a word below the tree, since touch screens have no tooltips. A word with a long
// arc is wider than the screen, so only its box is scrolled into view.
for (const eventName of ["focusin", "pointerover"]) {
  document.addEventListener(eventName, (event) => {
    const word = event.target.closest(".tree [role=listitem]");
    if (!word) return;
    word.closest(".tree").querySelector(".status").textContent = word.getAttribute("aria-label");
    if (eventName === "focusin") {
      word.querySelector(".box").scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  });
}

// An alignment: selecting a word, a relation or a region highlights everything related to it. The
// page holds all the data, so no request is needed.
vsdemo.alignment = {
  KINDS: ["fragment", "word", "region"],
  ARROW_OFFSETS: { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 },
  MAX_SHADE: 190, // alpha of the coldest cells of the heat map, 0 to 255
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

  // Return the numbers of the fragments, words and regions related to a selection.
  relatedTo(data, { kind, number }) {
    const isRelated = (fragment, m) => {
      if (kind === "fragment") return m === number;
      if (kind === "word") return fragment.words.includes(number);
      return fragment.best === number;
    };
    const fragments = data.fragments.flatMap((fragment, m) => isRelated(fragment, m) ? [m] : []);
    const words = fragments.flatMap((m) => data.fragments[m].words);
    const regions = fragments.map((m) => data.fragments[m].best).filter((best) => best !== null);
    return {
      fragment: fragments,
      word: kind === "word" ? [number] : words,
      region: kind === "region" ? [number] : regions,
    };
  },

  describe(data, { kind, number }, related) {
    const fragments = related.fragment.map((m) => {
      const { label, best } = data.fragments[m];
      if (best === null) return `${label}: not grounded`;
      return `${label}: region ${data.numbers[best]}, score ${data.scores[m][best].toFixed(2)}`;
    });
    let subject = "";
    if (kind === "word") subject = `“${data.words[number]}”: `;
    if (kind === "region") subject = `Region ${data.numbers[number]}: `;
    return `${subject}${fragments.join("; ") || "in no fragment"}.`;
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
    const section = tab.querySelector("[data-alignment]");
    const data = JSON.parse(section.dataset.alignment);
    const isSelected = selection && section.dataset.kind === selection.kind
      && Number(section.dataset.number) === selection.number;
    if (isSelected) selection = null;
    const related = selection
      ? this.relatedTo(data, selection)
      : { fragment: [], word: [], region: [] };
    for (const kind of this.KINDS) {
      for (const element of tab.querySelectorAll(`[data-${kind}]`)) {
        const number = Number(element.dataset[kind]);
        element.classList.toggle("related", related[kind].includes(number));
        const pressed = selection && selection.kind === kind && selection.number === number;
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
    section.dataset.kind = selection ? selection.kind : "";
    section.dataset.number = selection ? selection.number : "";
    tab.classList.toggle("has-selection", Boolean(selection));
    const canvas = tab.querySelector("figure canvas");
    if (selection && canvas) this.drawHeatMap(canvas, data, selection, related);
    const status = section.querySelector(".status");
    status.dataset.hint ||= status.textContent;
    status.textContent = selection
      ? this.describe(data, selection, related)
      : status.dataset.hint;
    this.updateSearchButton(section, data, selection, related);
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
    const wholeSentence = { number: null, text: "the whole sentence" };
    if (!selection) return wholeSentence;
    if (selection.kind === "word") {
      const number = data.fragments.length + selection.number;
      return { number, text: `“${data.words[selection.number]}”` };
    }
    let fragment = selection.number;
    if (selection.kind === "region") {
      const score = (m) => data.scores[m][selection.number];
      [fragment] = [...related.fragment].sort((a, b) => score(b) - score(a));
      if (fragment === undefined) return wholeSentence;
    }
    return { number: fragment, text: `“${data.fragments[fragment].phrase}”` };
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
