// Scrolls through all results of a search, and keeps which photos are selected.
{
  const PAGE = 60; // cards in a request
  const MARGIN_ROWS = 2; // rows above and below those in view that are on the page too
  const BAR = 24; // pixels of a score below a photo
  const KEYS = {
    ArrowLeft: () => -1,
    ArrowRight: () => 1,
    ArrowUp: (columns) => -columns,
    ArrowDown: (columns) => columns,
    Home: () => -Infinity,
    End: () => Infinity,
  };

  const cardsOf = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return [...template.content.querySelectorAll("li.card")];
  };

  // A box with a scroll bar of its own, in which only the cards in view exist.
  class AllPhotos {
    constructor(box) {
      this.name = box.dataset.results;
      this.total = Number(box.dataset.total);
      this.list = box.querySelector("ul");
      this.pages = new Map(); // number of a page -> its cards, or the request for them
      this.focused = 0;
      this.scroller = document.createElement("div");
      this.scroller.className = "all-photos";
      this.scroller.tabIndex = -1;
      this.scroller.setAttribute("role", "region");
      this.scroller.setAttribute("aria-label", vsdemo.translate("All {count} photos", { count: vsdemo.number(this.total) }));
      this.barHeight = this.list.querySelector(".score-bar") ? BAR : 0;
      box.replaceChildren(this.scroller);
      this.scroller.append(this.list);
      this.measure();
      this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
      this.scroller.addEventListener("keydown", (event) => this.move(event));
      new ResizeObserver(() => {
        this.measure();
        this.schedule();
      }).observe(this.scroller);
      this.draw();
    }

    // Columns and gaps are those of the style sheet.
    measure() {
      const style = getComputedStyle(this.list);
      this.columns = Number(style.getPropertyValue("--columns"));
      this.gap = Number(style.getPropertyValue("--gap"));
      this.width = (this.list.clientWidth - this.gap * (this.columns - 1)) / this.columns;
      this.rowHeight = (this.width * 3) / 4 + this.barHeight + this.gap;
      this.rows = Math.ceil(this.total / this.columns);
    }

    schedule() {
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }

    draw() {
      const { scrollTop, clientHeight } = this.scroller;
      const firstRow = Math.max(0, Math.floor(scrollTop / this.rowHeight) - MARGIN_ROWS);
      const lastRow = Math.ceil((scrollTop + clientHeight) / this.rowHeight) + MARGIN_ROWS;
      const first = firstRow * this.columns;
      const last = Math.min(this.total, lastRow * this.columns);
      const cards = [];
      for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) {
        const known = this.pages.get(page);
        if (!known) this.load(page);
        if (!Array.isArray(known)) continue;
        known.forEach((card, i) => {
          const place = page * PAGE + i;
          if (place >= first && place < last) cards.push(this.put(card, place));
        });
      }
      this.list.classList.add("virtual");
      this.list.style.height = `${this.rows * this.rowHeight}px`;
      const shown = new Set(cards);
      for (const card of [...this.list.children]) if (!shown.has(card)) card.remove();
      for (const card of cards) if (!card.isConnected) this.list.append(card);
      this.list.dispatchEvent(new CustomEvent("vsdemo:cards", { bubbles: true }));
    }

    put(card, place) {
      const column = place % this.columns;
      const row = Math.floor(place / this.columns);
      card.style.width = `${this.width}px`;
      card.style.transform =
        `translate(${column * (this.width + this.gap)}px, ${row * this.rowHeight}px)`;
      card.dataset.place = place;
      card.setAttribute("aria-posinset", place + 1);
      card.setAttribute("aria-setsize", this.total);
      return card;
    }

    // Pages that were scrolled past before their turn are not requested.
    async load(page) {
      this.pages.set(page, "loading");
      await new Promise((resolve) => setTimeout(resolve, 60));
      if (!this.isNear(page)) {
        this.pages.delete(page);
        return;
      }
      try {
        const answer = await fetch(
          `results/${this.name}/cards?start=${page * PAGE}&count=${PAGE}`);
        if (!answer.ok) throw new Error(answer.status);
        this.pages.set(page, cardsOf(await answer.text()));
        this.schedule();
      } catch {
        this.pages.delete(page); // it is requested again by the next scrolling
      }
    }

    isNear(page) {
      const { scrollTop, clientHeight } = this.scroller;
      const rows = [page * PAGE, (page + 1) * PAGE].map((place) => place / this.columns);
      const [top, bottom] = rows.map((row) => row * this.rowHeight);
      return bottom > scrollTop - clientHeight && top < scrollTop + 2 * clientHeight;
    }

    move(event) {
      const step = KEYS[event.key];
      const card = event.target.closest(".card");
      if (!step || !card || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const wanted = Number(card.dataset.place) + step(this.columns);
      this.focusPlace(Math.min(Math.max(wanted, 0), this.total - 1));
    }

    focusPlace(place) {
      const top = Math.floor(place / this.columns) * this.rowHeight;
      const { scrollTop, clientHeight } = this.scroller;
      if (top < scrollTop) this.scroller.scrollTop = top;
      else if (top + this.rowHeight > scrollTop + clientHeight) {
        this.scroller.scrollTop = top + this.rowHeight - clientHeight;
      }
      this.draw();
      const find = () => this.list.querySelector(`[data-place="${place}"] button.frame`);
      const focus = (attempts) => {
        const button = find();
        if (button) button.focus({ preventScroll: true });
        else if (attempts) setTimeout(() => focus(attempts - 1), 50);
      };
      focus(40);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".show-all");
    if (!button) return;
    const all = new AllPhotos(button.closest(".results-box"));
    all.scroller.focus({ preventScroll: true });
    all.scroller.scrollIntoView({ block: "nearest" });
  });

  // Selected photos, by number, of one gallery; they stay while other searches follow.
  const picked = { gallery: "", numbers: new Set(), anchor: null };

  const boxOf = (element) => element.closest(".results-box");

  const mark = (root = document) => {
    const box = document.querySelector("#grid .results-box");
    if (box && box.dataset.gallery !== picked.gallery) {
      picked.gallery = box.dataset.gallery;
      picked.numbers.clear();
    }
    for (const button of root.querySelectorAll("[data-pick]")) {
      button.setAttribute("aria-pressed", picked.numbers.has(Number(button.dataset.pick)));
    }
    const bar = document.querySelector(".picked-bar");
    if (!bar) return;
    bar.hidden = !picked.numbers.size;
    const count = vsdemo.number(picked.numbers.size);
    bar.querySelector(".picked-count").textContent = vsdemo.translate("{count} selected", { count });
  };

  const numbersOf = async (box) => {
    const answer = await fetch(`results/${box.dataset.results}/numbers`);
    return answer.ok ? new Int32Array(await answer.arrayBuffer()) : new Int32Array();
  };

  const toggle = async (button, isRange) => {
    const number = Number(button.dataset.pick);
    const box = boxOf(button);
    if (isRange && picked.anchor !== null && box) {
      const numbers = await numbersOf(box);
      const ends = [numbers.indexOf(picked.anchor), numbers.indexOf(number)].sort((a, b) => a - b);
      if (ends[0] >= 0) {
        for (const one of numbers.slice(ends[0], ends[1] + 1)) picked.numbers.add(one);
      }
    } else if (picked.numbers.has(number)) picked.numbers.delete(number);
    else picked.numbers.add(number);
    picked.anchor = number;
    mark();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-pick]");
    const frame = event.target.closest("#grid .card button.frame");
    const own = frame?.parentElement.querySelector("[data-pick]");
    if (button) toggle(button, event.shiftKey);
    else if (own && (event.shiftKey || event.ctrlKey || event.metaKey)) {
      event.stopPropagation(); // the photo is not opened
      event.preventDefault();
      toggle(own, event.shiftKey);
    }
  }, { capture: true });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && picked.numbers.size && event.target.closest("#grid, .picked-bar")) {
      picked.numbers.clear();
      mark();
    }
    if (event.key !== "x") return;
    const button = event.target.closest("#grid .card")?.querySelector("[data-pick]");
    if (button) toggle(button, false);
  });

  document.addEventListener("vsdemo:cards", () => mark());
  document.addEventListener("vsdemo:update", () => mark());

  const post = (box, path, body) =>
    fetch(`results/${box.dataset.results}/${path}`, { method: "POST", body });

  const showMessage = (bar, text) => {
    bar.querySelector(".picked-message").textContent = text;
  };

  const ACTIONS = {
    async paths(bar, box) {
      const answer = await post(box, "paths", Int32Array.from(picked.numbers));
      const text = await answer.text();
      const area = bar.querySelector("textarea");
      try {
        await navigator.clipboard.writeText(text);
        area.hidden = true;
        showMessage(bar, vsdemo.translate("Paths copied."));
      } catch { // such as over plain http
        area.hidden = false;
        area.value = text;
        area.select();
        showMessage(bar, vsdemo.translate("Copy the paths from here."));
      }
    },
    async all(bar, box) {
      for (const number of await numbersOf(box)) picked.numbers.add(number);
      mark();
    },
    clear() {
      picked.numbers.clear();
      mark();
    },
  };

  // The bar below the summary: what can be done with the selected photos.
  vsdemo.followPicks = (element, trigger) => {
    const payload = {};
    element.addEventListener("click", async (event) => {
      const button = event.target.closest("button[data-action]");
      const box = document.querySelector("#grid .results-box");
      if (!button || !box) return;
      const bar = button.closest(".picked-bar");
      showMessage(bar, "");
      const { action } = button.dataset;
      if (ACTIONS[action]) {
        await ACTIONS[action](bar, box);
        return;
      }
      const name = bar.querySelector("input")?.value ?? "";
      Object.assign(payload, { action, name, numbers: [...picked.numbers] });
      trigger("input", payload);
    });
    mark();
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-show-file]");
    const box = document.querySelector("#grid .results-box");
    if (!button || !box) return;
    const answer = await post(box, `show?number=${button.dataset.showFile}`);
    if (!answer.ok) button.nextElementSibling.textContent = await answer.text();
  });

  // A photo that is pasted or dropped on the tab Search becomes its query.
  const useFile = (files) => {
    const photo = [...files].find((file) => file.type.startsWith("image/"));
    const input = document.querySelector("#query-upload")?.parentElement
      .querySelector("input[type=file]");
    if (!photo || !input || !document.querySelector("#query")?.offsetParent) return false;
    const transfer = new DataTransfer();
    transfer.items.add(photo);
    input.files = transfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  };
  document.addEventListener("paste", ({ clipboardData }) => {
    if (clipboardData) useFile(clipboardData.files);
  });
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")
      && document.querySelector("#query")?.offsetParent) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (event.dataTransfer && useFile(event.dataTransfer.files)) event.preventDefault();
  });
}
