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

  const tools = document.getElementById("tools");
  if (tools) {
    const rows = [...document.querySelectorAll(".overview tbody tr")];
    const people = [...document.querySelectorAll("article.person")];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const find = document.getElementById("find");
    const shown = document.getElementById("shown");
    const only = new Set();
    const filter = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, index) => {
        const fits = (!only.size || only.has(row.dataset.status))
          && words.every((word) => texts[index].includes(word));
        row.hidden = !fits;
        if (people[index]) people[index].hidden = !fits;
        count += fits;
      });
      shown.value = count === rows.length ? "" : `${count} of ${rows.length} shown`;
    };
    find.addEventListener("input", filter);
    tools.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      if ("fold" in button.dataset) {
        for (const person of people) person.firstElementChild.open = Boolean(button.dataset.fold);
        return;
      }
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", pressed);
      only[pressed ? "add" : "delete"](button.dataset.only);
      filter();
    });
    tools.hidden = rows.length < 2;
  }
}
