// The list of folders: the arrow keys, Home and End move in it, and the focus stays in it when
// another folder is shown. Escape and a click outside of the panel close the panel.
vsdemo.folders = {
  connect(element, trigger, watch) {
    let hadFocus = false;
    const buttons = () => [...element.querySelectorAll(".folders button")];
    // The second click of a double click would be handled as one in the list that the first brings.
    let clicked = null;
    element.addEventListener("click", (event) => {
      const list = element.querySelector(".folders");
      if (event.detail > 1 && list === clicked) event.stopImmediatePropagation();
      clicked = list;
    }, { capture: true });
    vsdemo.reportClicks(element, trigger);
    element.addEventListener("click", (event) => {
      hadFocus = Boolean(event.target.closest("button[data-event]"));
    });
    element.addEventListener("keydown", (event) => {
      const all = buttons();
      const current = all.indexOf(document.activeElement);
      const next = {
        Home: all[0],
        End: all[all.length - 1],
        ArrowDown: all[Math.min(current + 1, all.length - 1)],
        ArrowUp: all[Math.max(current - 1, 0)],
      }[event.key];
      if (!next || current < 0) return;
      event.preventDefault();
      next.focus();
    });
    element.addEventListener("focusin", (event) => {
      if (!buttons().includes(event.target)) return;
      for (const button of buttons()) button.tabIndex = button === event.target ? 0 : -1;
    });
    watch("value", () => {
      const all = buttons();
      all.forEach((button, number) => { button.tabIndex = number ? -1 : 0; });
      if (hadFocus && all.length) (all.find((b) => b.matches(".below")) || all[0]).focus();
      hadFocus = false;
    });
  },
};

for (const eventName of ["click", "keydown"]) {
  document.addEventListener(eventName, (event) => {
    const openButton = document.querySelector(".add-photos > button.open");
    const closes = eventName === "click"
      ? !event.composedPath().some((node) => node.matches?.(".add-photos"))
      : event.key === "Escape";
    if (openButton && closes) openButton.click();
  });
}
