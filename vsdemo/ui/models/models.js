// The list of models: a field in the header opens a panel, which floats above the page. Escape, a
// click outside of it, and leaving it by the keyboard close it.
vsdemo.models = {
  reachedName: null, // the model that has the focus, or had it before the list was filled again
  awaitsFocus: false, // whether the focus goes to the chosen model once the list is filled

  get menu() { return document.querySelector(".model-menu"); },
  get field() { return document.getElementById("model-field"); },
  get isOpen() { return Boolean(this.menu && this.menu.classList.contains("open")); },
  get rows() { return [...document.querySelectorAll("#models button[data-name]")]; },

  connectField(element, trigger, watch) {
    this.report = trigger;
    element.addEventListener("click", (event) => {
      if (!event.target.closest("#model-field")) return;
      if (this.isOpen) this.close();
      else this.open();
    });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" || this.isOpen) return;
      event.preventDefault();
      this.open();
    });
    watch("value", () => this.markExpanded());
  },

  connectPanel(element, trigger, watch) {
    const payload = {}; // one object, as in vsdemo.reportClicks
    element.addEventListener("click", (event) => {
      const row = event.target.closest("button[data-name]");
      if (!row) return;
      payload.name = row.dataset.name;
      this.close();
      trigger("select", payload);
    });
    element.addEventListener("keydown", (event) => {
      const { rows } = this;
      const current = rows.indexOf(document.activeElement);
      const next = {
        Home: rows[0],
        End: rows[rows.length - 1],
        ArrowDown: rows[Math.min(current + 1, rows.length - 1)],
        ArrowUp: rows[Math.max(current - 1, 0)],
      }[event.key];
      if (!next || current < 0) return;
      event.preventDefault();
      next.focus();
    });
    element.addEventListener("focusin", (event) => {
      const row = event.target.closest("button[data-name]");
      this.reachedName = row && row.dataset.name;
    });
    watch("value", () => {
      if (element.querySelector("[role=alert]")) this.show(); // why a click was refused
      this.restoreFocus();
    });
  },

  show() {
    this.menu.classList.add("open");
    this.markExpanded();
  },

  open() {
    this.show();
    this.reachedName = null;
    this.awaitsFocus = true;
    this.restoreFocus(); // in the list of last time; the fresh one follows
    this.report("expand");
  },

  close({ returnsFocus = true } = {}) {
    this.menu.classList.remove("open");
    this.markExpanded();
    this.awaitsFocus = false;
    if (returnsFocus && this.field) this.field.focus();
    this.report("collapse");
  },

  markExpanded() {
    if (this.field) this.field.setAttribute("aria-expanded", String(this.isOpen));
  },

  // A list that is filled again loses the focus: it goes back to the same model.
  restoreFocus() {
    if (!this.isOpen || !this.rows.length) return;
    const focusIsLost = document.activeElement === document.body;
    if (!this.awaitsFocus && !(focusIsLost && this.reachedName)) return;
    const reached = this.rows.find((row) => row.dataset.name === this.reachedName);
    const chosen = this.rows.find((row) => row.hasAttribute("aria-current"));
    (reached || chosen || this.rows[0]).focus({ preventScroll: !this.awaitsFocus });
    this.awaitsFocus = false;
  },
};

document.addEventListener("click", (event) => {
  const { models } = vsdemo;
  if (models.isOpen && !event.composedPath().includes(models.menu)) {
    models.close({ returnsFocus: false });
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && vsdemo.models.isOpen) vsdemo.models.close();
});

document.addEventListener("focusin", (event) => {
  const { models } = vsdemo;
  if (models.isOpen && !models.menu.contains(event.target)) models.close({ returnsFocus: false });
});
