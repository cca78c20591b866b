// The guide beside the page: opens its pages, leads through the app, and frames what a step is about.
{
  const SEEN = "vsdemo-tour"; // in the browser: whether the tour was offered before
  const PARAMETER = "learn"; // in the address: the open page of the guide
  const FRAME_MS = 10000; // how long something is looked for on the page
  const PAGE = /^(home|here|glossary|explain-[a-z]+|tour-\d{1,3}|lesson-\d{1,3}-\d{1,3})$/;
  let page = ""; // name of the page that is in the guide, open or closed
  let opened = 0; // how many pages were opened; only the newest one counts

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

  // Frame what a step is about, as soon as it is on the page.
  const frame = (selector, number = opened, until = performance.now() + FRAME_MS) => {
    if (number !== opened) return; // another page of the guide was opened, or it was closed
    unframe();
    const element = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility());
    if (element) {
      element.classList.add("framed");
      element.scrollIntoView({ block: "start" });
    } else if (performance.now() < until) {
      setTimeout(() => frame(selector, number, until), 200);
    }
  };

  const unfold = () => {
    guide().hidden = false;
    opener().setAttribute("aria-expanded", "true");
    setParameter(page);
  };

  const open = async (name, { term = "", takesFocus = true } = {}) => {
    if (!PAGE.test(name)) return; // from an address that somebody else may have written
    const wanted = name === "here" ? `explain-${tab()}` : name;
    const number = ++opened;
    const answer = await fetch(`guide/${wanted}`);
    const html = await answer.text();
    if (!answer.ok || number !== opened) return;
    const place = guide().querySelector(".guide-page");
    place.innerHTML = html;
    place.scrollTop = 0;
    page = wanted;
    unfold();
    for (const button of guide().querySelectorAll(".guide-head [data-guide]")) {
      const isCurrent = button.dataset.guide === name
        || (button.dataset.guide === "here" && page.startsWith("explain-"));
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    unframe();
    const shown = place.querySelector("[data-show]");
    if (shown) {
      if (new URLSearchParams(shown.dataset.show).get("tab") !== tab()) go(shown.dataset.show);
      frame(shown.dataset.look);
    }
    if (takesFocus) place.focus({ preventScroll: true });
    if (term) place.querySelector(`#term-${CSS.escape(term.replaceAll(" ", "-"))}`)?.focus();
  };

  const close = () => {
    opened += 1;
    guide().hidden = true;
    opener().setAttribute("aria-expanded", "false");
    unframe();
    setParameter("");
    opener().focus();
  };

  // Open the guide at the step of a lesson or of the tour where it was left, else about the open tab.
  const reopen = () => {
    if (!/^(lesson|tour)-/.test(page)) return open("here");
    unfold();
    guide().querySelector(".guide-page").focus({ preventScroll: true });
  };

  // Say whether the prediction was right, and what there is to see.
  const reveal = () => {
    const step = guide().querySelector(".guide-page");
    const prediction = step.querySelector(".prediction");
    const chosen = prediction?.querySelector("input:checked");
    if (prediction) {
      const answer = prediction.querySelectorAll("label")[Number(prediction.dataset.answer)];
      const isRight = chosen?.value === prediction.dataset.answer;
      const text = answer.textContent.trim().replace(/\.$/, "");
      step.querySelector(".verdict").textContent = !chosen
        ? vsdemo.translate("The answer is: {answer}.", { answer: text })
        : isRight
          ? vsdemo.translate("You were right: {answer}.", { answer: text })
          : vsdemo.translate("Not quite; the answer is: {answer}.", { answer: text });
    }
    const revealed = step.querySelector(".revealed");
    revealed.hidden = false;
    revealed.focus({ preventScroll: true }); // so that screen readers read it
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#learn, [data-guide], [data-guide-close], [data-go]");
    if (!button) return;
    if (button.id === "learn") {
      if (guide().hidden) reopen();
      else close();
    } else if ("guideClose" in button.dataset) {
      if (button.closest(".guide-page")) page = ""; // the tour is over
      close();
    }
    else if (button.dataset.go) {
      go(button.dataset.go);
      if ("reveals" in button.dataset) reveal();
      if (button.dataset.look) frame(button.dataset.look);
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
  // Back and Forward lead through the app and leave the guide as it is.
  const follow = () => {
    if (!guide()) return;
    if (guide().hidden) {
      if (named() && page) setParameter("");
    } else if (page.startsWith("explain-") && page !== `explain-${tab()}`) {
      open("here", { takesFocus: false });
    } else if (named() !== page) setParameter(page);
  };
  document.addEventListener("vsdemo:address", follow);
  window.addEventListener("popstate", follow);
}
