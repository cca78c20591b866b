// A photo or sentence under the pointer or in focus is marked in every column, with its lines.
for (const eventName of ["pointerover", "focusin"]) {
  document.addEventListener(eventName, (event) => {
    const marked = event.target.closest("#compare-results .rankings [data-item]");
    if (!marked) return;
    const columns = marked.closest(".rankings");
    for (const item of columns.querySelectorAll("[data-item]")) {
      item.classList.toggle("same", item.dataset.item === marked.dataset.item);
    }
  });
}
