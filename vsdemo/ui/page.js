// The only script of the page: tells clicks on results to the app, and the address bar to the visitor.
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
    element.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-event]");
      if (!button) return;
      const number = Number(button.dataset.number || 0);
      if (button.dataset.event === "select") vsdemo.chosen(button, number);
      else window.scrollTo({ top: 0 }); // the answer begins at the top, perhaps in the other tab
      trigger(button.dataset.event, { number });
    });
    watch("value", () => vsdemo.address(element));
    vsdemo.address(element);
  },

  // The frame moves at once; the server's answer follows.
  chosen(button, number) {
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
