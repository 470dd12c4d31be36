"use strict";
{
  // The browser opens what an address points into; older ones want to be told.
  const reveal = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = place && place.closest("details");
    if (folded && !folded.open) { folded.open = true; place.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Who was listed when somebody's page was opened: the neighbours to step to.
  const LISTED = "palprep-listed";
  const steps = document.getElementById("steps");
  const step = () => {
    const listed = JSON.parse(sessionStorage.getItem(LISTED) ?? "[]");
    const here = listed.findIndex(([address]) => address === location.href.split("#")[0]);
    [["before", -1], ["after", 1]].forEach(([name, way]) => {
      const [address, who] = (here >= 0 && listed[here + way]) || [];
      const link = steps.querySelector(`[data-is=${name}]`);
      link.hidden = !address;
      if (address) { link.href = address; link.textContent = way < 0 ? `← ${who}` : `${who} →`; }
    });
    steps.hidden = here < 0;
  };
  if (steps) {
    try {
      step();
      // A browser that is busy may open a page before it has what the last one stored.
      if (steps.hidden) setTimeout(step, 1000);
    } catch { /* A browser that keeps nothing. */ }
  }

  const tools = document.getElementById("tools");
  if (tools) {
    const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const people = [...document.querySelectorAll("article.person")];
    const texts = people.map((person) => fold(person.querySelector(".who").textContent));
    const find = document.getElementById("find");
    const because = document.getElementById("because");
    const shown = document.getElementById("shown");
    const only = new Set();
    const filter = () => {
      const words = fold(find.value).split(/\s+/).filter(Boolean);
      let count = 0;
      people.forEach((person, index) => {
        const fits = (!only.size || only.has(person.dataset.status))
          && (!because?.value || person.dataset.because === because.value)
          && words.every((word) => texts[index].includes(word));
        person.hidden = !fits;
        count += fits;
      });
      shown.value = count === people.length ? "" : `${count} of ${people.length} shown`;
    };
    // The address of what is shown can be handed on.
    const note = () => {
      const asked = new URLSearchParams();
      if (find.value) asked.set("find", find.value);
      if (because?.value) asked.set("because", because.value);
      for (const status of only) asked.append("only", status);
      try {
        history.replaceState(null, "", `${asked.size ? `?${asked}` : location.pathname}${location.hash}`);
      } catch { /* A page that was not opened from an address of its own. */ }
    };
    const press = (button, pressed) => {
      button.setAttribute("aria-pressed", pressed);
      only[pressed ? "add" : "delete"](button.dataset.only);
    };
    const change = () => { filter(); note(); };
    addEventListener("click", ({ target }) => {
      if (!target.closest("a.row")) return;
      const listed = people.filter((person) => !person.hidden).map((person) =>
        [person.querySelector("a.row").href, person.querySelector("h3").textContent]);
      try { sessionStorage.setItem(LISTED, JSON.stringify(listed)); } catch { /* As above. */ }
    }, true);
    find.addEventListener("input", change);
    because?.addEventListener("change", change);
    tools.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      if ("fold" in button.dataset) {
        for (const person of people) person.firstElementChild.open = Boolean(button.dataset.fold);
        return;
      }
      press(button, button.getAttribute("aria-pressed") !== "true");
      change();
    });
    const asked = new URLSearchParams(location.search);
    find.value = asked.get("find") ?? "";
    if (because) because.value = asked.get("because") ?? "";
    for (const button of tools.querySelectorAll("[data-only]")) {
      if (asked.getAll("only").includes(button.dataset.only)) press(button, true);
    }
    filter();
    tools.hidden = people.length < 2;
  }
}
