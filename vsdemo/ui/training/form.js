// The form of a preset: marks what differs from its defaults, and tells the app. Runs once a widget.
const root = element.querySelector(".preset");
const all = (what) => [...root.querySelectorAll(what)];
const fields = () => all("[data-default]");

// As `--set` takes it; what is no number goes as it stands, for the app to refuse.
const text = (field) => {
  if (field.type === "checkbox") return String(field.checked);
  return Number.isNaN(field.valueAsNumber ?? NaN) ? field.value : String(field.valueAsNumber);
};
const differs = (field) => field.type === "number"
  ? field.valueAsNumber !== Number(field.dataset.default)
  : text(field) !== field.dataset.default;
const put = (field, value) => {
  if (field.type === "checkbox") field.checked = value === "true";
  else field.value = value;
};

const mark = () => {
  for (const field of fields()) {
    const box = field.closest("[data-field]"), changed = differs(field);
    box.classList.toggle("changed", changed);
    box.querySelector(".back").hidden = !changed;
  }
  for (const group of all("details")) {
    const count = group.querySelectorAll(".changed").length;
    group.querySelector(".count").textContent = count ? `${count} changed` : "";
  }
  const names = fields().filter(differs).map((field) => field.name);
  if (!root.firstElementChild) return;
  root.querySelector(".sum [role=status]").textContent = names.length
    ? `Changed: ${names.join(", ")}` : "Nothing is changed.";
  root.querySelector(".sum .back").hidden = !names.length;
};

// One object for all events: what changes during an answer is told after it, by Gradio's
// "always_last", with the first of those events' data.
const told = { settings: {} };
const tell = () => {
  mark();
  told.settings = Object.fromEntries(fields().filter(differs).map((field) => [field.name, text(field)]));
  trigger("input", told);
};

// Another preset begins anew. The same one, told again, keeps what the visitor has typed.
let shown = "";
const take = () => {
  if ((props.value || "") === shown) return;
  const own = () => root.firstElementChild?.dataset.own;
  const before = own(), typed = fields().filter(differs).map((field) => [field.id, field]);
  const open = new Set(all("details[open]").map((group) => group.dataset.group));
  const focus = root.contains(document.activeElement) && document.activeElement.id;
  root.innerHTML = shown = props.value || "";
  for (const group of all("details")) group.open = open.has(group.dataset.group);
  if (own() === before) {
    for (const [id, field] of typed) put(document.getElementById(id), text(field));
    if (focus) document.getElementById(focus).focus();
  } else told.settings = {}; // nor is it told of the other one's changes
  mark();
};

root.addEventListener("change", tell);
root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-back]");
  if (!button) return;
  const name = button.dataset.back;
  const back = fields().filter((field) => name ? field.name === name : differs(field));
  for (const field of back) put(field, field.dataset.default);
  tell();
  back[0].focus(); // the button is gone
});
watch("value", take);
take();
