// The page's first script: tells clicks on results to the app, and the address bar to the visitor.
window.vsdemo = {
  narrow: () => window.innerWidth < 900,

  // Without a reload: what is on the page can be sent to somebody or come back to.
  address(element) {
    const shown = element && element.querySelector("[data-address]");
    if (!shown || !element.offsetParent) return; // nothing there, or in the other tab
    const query = new URLSearchParams(shown.dataset.address);
    const theme = new URLSearchParams(location.search).get("__theme");
    if (theme) query.set("__theme", theme);
    history.replaceState(null, "", "?" + query);
  },

  report(element, trigger, watch) {
    const told = {}; // one object an event: of clicks during an answer Gradio sends the first's again
    element.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-event]");
      if (!button) return;
      const number = Number(button.dataset.number || 0);
      if (button.dataset.event === "select") vsdemo.chosen(button, number);
      else if (!("stay" in button.dataset)) window.scrollTo({ top: 0 }); // where the answer begins
      const data = (told[button.dataset.event] ||= {});
      trigger(button.dataset.event, Object.assign(data, { number, name: button.dataset.name }));
    });
    watch("value", () => vsdemo.address(element));
    vsdemo.address(element);
  },

  // The frame moves at once; the server's answer follows.
  chosen(button, number) {
    if (button.closest("#align, #found")) return window.scrollTo({ top: 0 });
    const list = button.closest(".gradio-container") || document;
    for (const other of list.querySelectorAll("#grid [data-number]")) {
      if (Number(other.dataset.number) === number) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    const detail = document.getElementById("detail");
    if (detail && vsdemo.narrow() && !button.closest("#picks")) {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      detail.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    }
  },
};

// "More" floats above the page; a click elsewhere, or Escape, closes it.
for (const kind of ["click", "keydown"]) {
  document.addEventListener(kind, (event) => {
    const open = document.querySelector(".rare > button.open");
    const leaves = kind === "click" ? !event.target.closest(".rare") : event.key === "Escape";
    if (open && leaves) open.click();
  });
}

// A command is copied; without a clipboard, as over plain http, it is marked to be copied by hand.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Marked";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

// A word of a tree says what it does below the tree, also where nothing hovers; with a long arc it
// is wider than the screen, so what comes into view is the word itself.
for (const kind of ["focusin", "pointerover"]) {
  document.addEventListener(kind, (event) => {
    const word = event.target.closest(".tree [role=listitem]");
    if (!word) return;
    word.closest(".tree").querySelector(".said").textContent = word.getAttribute("aria-label");
    if (kind === "focusin") {
      word.querySelector(".box").scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  });
}

// An alignment: a word, a relation or a region that is selected lights what belongs to it. All that
// is needed stands in the page; nothing is asked of the app.
vsdemo.alignment = {
  kinds: ["fragment", "word", "region"],

  // The element that was chosen, its kind and its number; on an arc of the tree its relation.
  of(target, data) {
    const arc = target.closest("[data-arc]");
    if (arc) {
      const word = Number(arc.dataset.arc);
      const fragment = data.fragments.findIndex((f) => f.words[1] === word && f.words[0] !== word);
      if (fragment >= 0) return { kind: "fragment", number: fragment };
    }
    const found = target.closest("[data-word], [data-fragment], [data-region]");
    const kind = found && this.kinds.find((k) => k in found.dataset);
    return kind ? { kind, number: Number(found.dataset[kind]) } : null;
  },

  // Numbers of the fragments, words and regions that belong to a choice, and what it says.
  related(data, { kind, number }) {
    const all = data.fragments.map((f, m) => m);
    const fragments = all.filter((m) => kind === "fragment" ? m === number
      : kind === "word" ? data.fragments[m].words.includes(number)
      : data.fragments[m].best === number);
    const words = kind === "word" ? [number] : fragments.flatMap((m) => data.fragments[m].words);
    const best = fragments.map((m) => data.fragments[m].best).filter((r) => r !== null);
    return { fragment: fragments, word: words, region: kind === "region" ? [number] : best };
  },

  says(data, { kind, number }, lit) {
    const told = lit.fragment.map((m) => {
      const f = data.fragments[m];
      if (f.best === null) return `${f.says}: not grounded`;
      const score = data.scores[m][f.best].toFixed(2);
      return `${f.says}: region ${data.numbers[f.best]}, score ${score}`;
    });
    const name = kind === "word" ? `“${data.words[number]}”: `
      : kind === "region" ? `Region ${data.numbers[number]}: ` : "";
    return name + (told.join("; ") || "in no fragment") + ".";
  },

  // Bright where the chosen fragments look: each region spreads what its score lies above the mean
  // over its places, as vsdemo.tasks.alignment does. A chosen region is bright itself.
  heat(canvas, data, { kind, number }, lit) {
    const side = canvas.width, heat = new Float64Array(side * side);
    const seen = lit.fragment.filter((m) => data.fragments[m].best !== null);
    const sums = data.boxes.map((_, k) => kind === "region" ? Number(k === number)
      : seen.reduce((sum, m) => sum + data.scores[m][k], 0));
    const mean = sums.length > 1 ? sums.reduce((a, b) => a + b) / sums.length : 0;
    data.boxes.forEach(([x0, y0, x1, y1], k) => {
      const weight = Math.max(0, sums[k] - mean) / Math.max((x1 - x0) * (y1 - y0), 1e-4);
      for (let j = 0; weight && j < side; j++) {
        const y = (j + 0.5) / side;
        if (y < y0 || y >= y1) continue;
        for (let i = 0; i < side; i++) {
          const x = (i + 0.5) / side;
          if (x >= x0 && x < x1) heat[j * side + i] += weight;
        }
      }
    });
    const most = Math.max(...heat) || 1, pen = canvas.getContext("2d");
    const image = pen.createImageData(side, side);
    heat.forEach((h, i) => (image.data[4 * i + 3] = 190 * (1 - h / most)));
    pen.putImageData(image, 0, 0);
  },

  select(tab, choice) {
    const section = tab.querySelector("[data-alignment]");
    const data = JSON.parse(section.dataset.alignment);
    const same = choice && section.dataset.kind === choice.kind
      && Number(section.dataset.number) === choice.number;
    if (same) choice = null;
    const lit = choice ? this.related(data, choice) : { fragment: [], word: [], region: [] };
    for (const kind of this.kinds) {
      for (const element of tab.querySelectorAll(`[data-${kind}]`)) {
        const number = Number(element.dataset[kind]);
        element.classList.toggle("lit", lit[kind].includes(number));
        const pressed = choice && choice.kind === kind && choice.number === number;
        if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", Boolean(pressed));
      }
    }
    for (const arc of section.querySelectorAll("[data-arc]")) {
      const ends = (m) => data.fragments[m].words[1] === Number(arc.dataset.arc);
      arc.classList.toggle("lit", lit.fragment.some(ends));
    }
    section.dataset.kind = choice ? choice.kind : "";
    section.dataset.number = choice ? choice.number : "";
    tab.classList.toggle("lighting", Boolean(choice));
    const canvas = tab.querySelector("figure canvas");
    if (choice && canvas) this.heat(canvas, data, choice, lit);
    const said = section.querySelector(".said");
    said.dataset.ask ||= said.textContent;
    said.textContent = choice ? this.says(data, choice, lit) : said.dataset.ask;
    this.look(section, data, choice, lit);
  },

  // What the button below looks for in the gallery.
  look(section, data, choice, lit) {
    const button = section.querySelector(".finder button");
    const best = (a, b) => data.scores[b][choice.number] - data.scores[a][choice.number];
    const fragment = choice && (choice.kind === "region" ? [...lit.fragment].sort(best)[0]
      : choice.kind === "fragment" ? choice.number : undefined);
    const [number, what] = fragment !== undefined && fragment !== null
      ? [fragment, `“${data.fragments[fragment].phrase}”`]
      : choice && choice.kind === "word"
        ? [data.fragments.length + choice.number, `“${data.words[choice.number]}”`]
        : [button.dataset.all, "the whole sentence"];
    button.dataset.number = number;
    section.querySelector(".what").textContent = what;
  },

  // Arrow keys go on within words, fragments, regions or the tree, and select.
  step(target, tab, by) {
    const group = target.closest("[data-keys], svg");
    const kind = group && this.kinds.find((k) => k in target.dataset);
    if (!kind) return false;
    const all = [...group.querySelectorAll(`:is(button, [tabindex])[data-${kind}]`)];
    const next = all[all.indexOf(target) + by];
    if (next) {
      next.focus();
      if (next.getAttribute("aria-pressed") !== "true") next.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
    return true;
  },
};

for (const kind of ["click", "keydown"]) {
  document.addEventListener(kind, (event) => {
    const tab = event.target.closest("#align");
    const section = tab && tab.querySelector("[data-alignment]");
    if (!section) return;
    const alignment = vsdemo.alignment;
    if (kind === "keydown") {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by && alignment.step(event.target, tab, by)) return event.preventDefault();
      if (event.key === "Escape" && section.dataset.kind) return alignment.select(tab, null);
      const pressed = event.key === "Enter" || event.key === " ";
      if (!pressed || !event.target.closest("svg [role=button]")) return; // a button clicks itself
      event.preventDefault();
    }
    const choice = alignment.of(event.target, JSON.parse(section.dataset.alignment));
    if (choice) alignment.select(tab, choice);
  });
}
