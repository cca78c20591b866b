// The guide beside the page: opens its pages, leads through the app, and frames what a step is about.
{
  const SEEN = "vsdemo-tour"; // in the browser: whether the tour was offered before
  const PARAMETER = "learn"; // in the address: the open page of the guide
  const FRAME_MS = 4000; // how long something is looked for on the page

  const guide = () => document.getElementById("guide");
  const opener = () => document.getElementById("learn");
  const named = () => new URLSearchParams(location.search).get(PARAMETER);
  const tab = () => new URLSearchParams(location.search).get("tab") ?? "search";

  const setParameter = (name) => {
    const query = new URLSearchParams(location.search);
    if (name) query.set(PARAMETER, name);
    else query.delete(PARAMETER);
    history.replaceState(history.state, "", `?${query}`);
  };

  // Show another page of the app, without loading it again.
  const go = (address) => {
    const query = new URLSearchParams(address);
    const current = new URLSearchParams(location.search);
    for (const name of [PARAMETER, "__theme"]) {
      if (current.has(name)) query.set(name, current.get(name));
    }
    history.pushState({ upload: "" }, "", `?${query}`);
    window.dispatchEvent(new PopStateEvent("popstate"));
  };

  const unframe = () => document.querySelector(".framed")?.classList.remove("framed");

  // Frame what a step of the tour is about, as soon as it is on the page.
  const frame = (selector, until = performance.now() + FRAME_MS) => {
    unframe();
    const element = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility());
    if (element) {
      element.classList.add("framed");
      element.scrollIntoView({ block: "center" });
    } else if (performance.now() < until && guide() && !guide().hidden) {
      setTimeout(() => frame(selector, until), 200);
    }
  };

  const open = async (name, { term = "", takesFocus = true } = {}) => {
    const page = name === "here" ? `explain-${tab()}` : name;
    const answer = await fetch(`guide/${page}`);
    if (!answer.ok) return;
    const place = guide().querySelector(".guide-page");
    place.innerHTML = await answer.text();
    place.scrollTop = 0;
    guide().hidden = false;
    opener().setAttribute("aria-expanded", "true");
    for (const button of guide().querySelectorAll(".guide-head [data-guide]")) {
      const isCurrent = button.dataset.guide === name
        || (button.dataset.guide === "here" && page.startsWith("explain-"));
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    setParameter(page);
    unframe();
    const shown = place.querySelector("[data-show]");
    if (shown) {
      const wanted = new URLSearchParams(shown.dataset.show).get("tab");
      if (wanted !== tab()) go(shown.dataset.show);
      frame(shown.dataset.look);
    }
    if (takesFocus) place.focus({ preventScroll: true });
    if (term) place.querySelector(`#term-${CSS.escape(term.replaceAll(" ", "-"))}`)?.focus();
  };

  const close = () => {
    guide().hidden = true;
    opener().setAttribute("aria-expanded", "false");
    unframe();
    setParameter("");
    opener().focus();
  };

  // Say whether the prediction was right, and what there is to see.
  const reveal = () => {
    const page = guide().querySelector(".guide-page");
    const prediction = page.querySelector(".prediction");
    const chosen = prediction?.querySelector("input:checked");
    if (prediction) {
      const answer = prediction.querySelectorAll("label")[Number(prediction.dataset.answer)];
      const isRight = chosen?.value === prediction.dataset.answer;
      const text = answer.textContent.trim().replace(/\.$/, "");
      page.querySelector(".verdict").textContent = !chosen
        ? vsdemo.translate("The answer is: {answer}.", { answer: text })
        : isRight
          ? vsdemo.translate("You were right: {answer}.", { answer: text })
          : vsdemo.translate("Not quite; the answer is: {answer}.", { answer: text });
    }
    page.querySelector(".revealed").hidden = false;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#learn, [data-guide], [data-guide-close], [data-go]");
    if (!button) return;
    if (button.id === "learn") {
      if (guide().hidden) open("here");
      else close();
    } else if ("guideClose" in button.dataset) close();
    else if (button.dataset.go) {
      go(button.dataset.go);
      if ("reveals" in button.dataset) reveal();
    } else open(button.dataset.guide, { term: button.dataset.term ?? "" });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && guide() && !guide().hidden && guide().contains(document.activeElement)) close();
  });

  // The explanation follows the tab.
  vsdemo.showGuide = (element, watch) => {
    const start = () => {
      if (!guide()) return;
      if (named()) open(named(), { takesFocus: false });
      else if (!localStorage.getItem(SEEN) && location.search === "") {
        opener().classList.add("is-new");
      }
      localStorage.setItem(SEEN, "offered");
    };
    watch("value", start);
    start();
  };
  document.addEventListener("vsdemo:address", () => {
    const isExplained = guide() && !guide().hidden && named()?.startsWith("explain-");
    if (isExplained && named() !== `explain-${tab()}`) open("here", { takesFocus: false });
  });
}
