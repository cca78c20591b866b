// The form of a preset: highlights settings that differ from their defaults and sends them to the
// app. Runs once per component.
const root = element.querySelector(".preset");
const queryAll = (selector) => [...root.querySelectorAll(selector)];
const allFields = () => queryAll("[data-default]");

// Return the value of a field in the format of `--set`. An invalid number is returned as typed, so
// that the app can reject it.
const getValue = (field) => {
  if (field.type === "checkbox") return String(field.checked);
  const isNumber = field.type === "number" && !Number.isNaN(field.valueAsNumber);
  return isNumber ? String(field.valueAsNumber) : field.value;
};

const setValue = (field, value) => {
  if (field.type === "checkbox") field.checked = value === "true";
  else field.value = value;
};

const isChanged = (field) => field.type === "number"
  ? field.valueAsNumber !== Number(field.dataset.default)
  : getValue(field) !== field.dataset.default;

const changedFields = () => allFields().filter(isChanged);

const highlightChanges = () => {
  for (const field of allFields()) {
    const row = field.closest("[data-field]");
    const changed = isChanged(field);
    row.classList.toggle("changed", changed);
    row.querySelector(".reset").hidden = !changed;
  }
  for (const group of queryAll("details")) {
    const count = group.querySelectorAll(".changed").length;
    group.querySelector(".count").textContent = count
      ? vsdemo.translate("{count} changed", { count })
      : "";
  }
  if (!root.firstElementChild) return; // no form yet
  const names = changedFields().map((field) => field.name);
  root.querySelector(".changes [role=status]").textContent = names.length
    ? vsdemo.translate("Changed: {names}", { names: names.join(", ") })
    : vsdemo.translate("No settings changed.");
  root.querySelector(".changes .reset").hidden = !names.length;
};

// One object for all events. With trigger_mode="always_last", Gradio sends changes made during a
// running callback after it, but with the object of the first of them.
const payload = { settings: {} };

const sendChanges = () => {
  highlightChanges();
  const settings = changedFields().map((field) => [field.name, getValue(field)]);
  payload.settings = Object.fromEntries(settings);
  trigger("input", payload);
};

// Show a new form. The same preset keeps what the visitor has typed; another one starts from its
// defaults.
let currentHtml = "";
const update = () => {
  const html = props.value || "";
  if (html === currentHtml) return;
  const presetKey = () => root.firstElementChild?.dataset.preset;
  const previousKey = presetKey();
  const typedValues = changedFields().map((field) => [field.id, getValue(field)]);
  const openGroups = new Set(queryAll("details[open]").map((group) => group.dataset.group));
  const focusedId = root.contains(document.activeElement) && document.activeElement.id;
  root.innerHTML = html;
  currentHtml = html;
  for (const group of queryAll("details")) group.open = openGroups.has(group.dataset.group);
  if (presetKey() === previousKey) {
    for (const [id, value] of typedValues) setValue(document.getElementById(id), value);
    if (focusedId) document.getElementById(focusedId).focus();
  } else {
    payload.settings = {}; // a pending event must not carry changes of the previous preset
  }
  highlightChanges();
};

root.addEventListener("change", sendChanges);
root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-reset]");
  if (!button) return;
  const name = button.dataset.reset; // empty for all fields
  const fields = name ? allFields().filter((field) => field.name === name) : changedFields();
  for (const field of fields) setValue(field, field.dataset.default);
  sendChanges();
  fields[0].focus(); // the button with the focus is hidden now
});
watch("value", update);
update();
