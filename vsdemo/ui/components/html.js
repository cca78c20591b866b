// The first script of the page: reports clicks on results to the app, and keeps the address bar
// up to date.
window.vsdemo = {
  NARROW_WIDTH: 900, // pixels; a narrower page shows one column
  COPY_LABEL_MS: 1500, // how long a copy button shows its result
  RETRY_DELAY: 2000, // milliseconds until a missing picture is tried again
  MAX_ATTEMPTS: 60,

  isNarrow: () => window.innerWidth < vsdemo.NARROW_WIDTH,

  isRestoring: true, // until the first results of what the address names
  restores: 0, // how often Back or Forward were used
  isNew: true, // until Gradio has selected the first tab
  hasClickedTab: false, // until it is opened

  // Each page that a visitor has seen can be bookmarked, and Back and Forward lead to it. A
  // visitor's photo is not in the address: its token stays in the history of this browser.
  followAddress(element, trigger, watch) {
    const payload = {};
    let seen = null;
    const follow = () => {
      const source = element.querySelector("[data-address]");
      if (!source || source.dataset.number === seen) return;
      if (Number(source.dataset.restored) < vsdemo.restores) return; // of an earlier answer
      seen = source.dataset.number;
      const query = new URLSearchParams(source.dataset.address);
      const current = new URLSearchParams(location.search);
      for (const name of ["__theme", "learn"]) {
        if (current.has(name)) query.set(name, current.get(name));
      }
      const { upload } = source.dataset;
      const isSame = `?${query}` === location.search && upload === (history.state?.upload ?? "");
      const method = vsdemo.isRestoring || isSame ? "replaceState" : "pushState";
      history[method]({ upload }, "", `?${query}`);
      vsdemo.isRestoring = false;
      document.dispatchEvent(new CustomEvent("vsdemo:address"));
    };
    watch("value", follow);
    window.addEventListener("popstate", () => {
      vsdemo.isRestoring = true;
      Object.assign(payload, {
        number: ++vsdemo.restores,
        query: [...new URLSearchParams(location.search)],
        upload: history.state?.upload ?? "",
      });
      trigger("select", payload);
    });
  },

  // Return how often Back or Forward were used before a tab was selected; -1 if not by a visitor:
  // the first tab of a new page, or the tab of a step back that another step has followed.
  restoresBeforeTab([tab, first]) {
    const named = new URLSearchParams(location.search).get("tab") ?? first;
    const isPassed = vsdemo.restores > 0 && vsdemo.isRestoring && tab !== named;
    const restores = vsdemo.isNew || (isPassed && !vsdemo.hasClickedTab) ? -1 : vsdemo.restores;
    vsdemo.isNew = false;
    vsdemo.hasClickedTab = false;
    return restores;
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

  // Keep the programs open when they change, and name this server in them.
  showPrograms(element, watch) {
    let isOpen = false;
    const show = () => {
      const details = element.querySelector("details");
      if (!details) return;
      details.open = isOpen;
      details.addEventListener("toggle", () => (isOpen = details.open));
      const code = details.querySelector("code");
      const here = new URL(".", location.href).href.replace(/\/$/, "");
      code.textContent = code.textContent.replace(/http:\/\/127\.0\.0\.1:7860/, here);
    };
    watch("value", show);
    show();
  },

  // Report new content to other scripts, and bring an error into view where it is shown.
  announceUpdates(element, watch) {
    const announce = () => {
      element.querySelector(".problem")?.scrollIntoView({ block: "nearest" });
      element.dispatchEvent(new CustomEvent("vsdemo:update", { bubbles: true }));
    };
    watch("value", announce);
    announce();
  },

  // Give an image its alternative text, also one that was drawn after the text came.
  nameImage(id, element, watch) {
    const name = () => {
      const image = document.querySelector(`#${id} img`);
      const source = element.querySelector("[data-photo-text]");
      if (image && source) image.alt = source.dataset.photoText;
    };
    watch("value", name);
    const changes = { childList: true, subtree: true };
    const follow = () => {
      const frame = document.getElementById(id);
      if (!frame) return false;
      name();
      new MutationObserver(name).observe(frame, changes);
      return true;
    };
    if (follow()) return;
    // Gradio loads the scripts of images by themselves, so the frame may come later.
    const waiting = new MutationObserver(() => follow() && waiting.disconnect());
    waiting.observe(document.body, changes);
  },

  // The frame moves at once; the server's response follows.
  markSelected(button, number) {
    if (button.dataset.scrollTo) {
      document.getElementById(button.dataset.scrollTo).scrollIntoView({ block: "start" });
      return;
    }
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

// A picture of Storybook may be drawn only after the page shows its place, so it is tried again.
document.addEventListener("error", ({ target: image }) => {
  if (!image.matches?.(".frame img, .large img")) return;
  const attempts = Number(image.dataset.attempts || 0);
  if (attempts >= vsdemo.MAX_ATTEMPTS) return;
  image.dataset.attempts = attempts + 1;
  image.classList.add("awaited");
  setTimeout(() => {
    image.src = image.src; // loads it again
  }, vsdemo.RETRY_DELAY);
}, { capture: true });
document.addEventListener("load", ({ target: image }) => {
  if (image.matches?.("img.awaited")) image.classList.remove("awaited");
}, { capture: true });

document.addEventListener("click", (event) => {
  if (event.target.closest("[role=tab]")) vsdemo.hasClickedTab = true;
}, { capture: true });

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
  const label = (button.dataset.label ||= button.textContent);
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = vsdemo.translate("Copied");
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = vsdemo.translate("Selected");
  }
  setTimeout(() => { button.textContent = label; }, vsdemo.COPY_LABEL_MS);
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
