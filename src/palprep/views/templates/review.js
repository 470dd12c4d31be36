"use strict";
const questions = [...document.querySelectorAll(".question")];
for (const [at, question] of questions.entries()) {
  question.addEventListener("keydown", (event) => {
    // Letters are letters where somebody writes.
    if (event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = question.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (event.key !== "n" && !button) return;
    event.preventDefault();
    if (button) button.click(); else questions[(at + 1) % questions.length].focus();
  });
}
// Where an answer was given, the next question stands now.
const next = questions[Math.min(sessionStorage.getItem("at") ?? 0, questions.length - 1)];
document.querySelector("[role=alert]") ?? next?.focus();
sessionStorage.removeItem("at");

// What is written stays until it is sent: another answer loads the page anew.
for (const field of document.querySelectorAll("textarea")) {
  const key = `because ${field.form.elements.person.value}`;
  field.value ||= sessionStorage.getItem(key) ?? "";
  field.addEventListener("input", () => sessionStorage.setItem(key, field.value));
}

// Of hundreds of files those are opened that come into view: browsers ask for six at a time.
const near = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    if (target.dataset.poster) target.poster = target.dataset.poster; else target.preload = "metadata";
  }
}, { rootMargin: "50% 0px" });
for (const each of document.querySelectorAll("video, audio")) near.observe(each);

const ask = async (path, options) => (await fetch(path, options)).json();
const ENDED = "This page has ended: start the same command again to go on.";
let sure = false;
document.addEventListener("submit", async (event) => {
  if (sure) return;
  event.preventDefault();
  const { target: form, submitter } = event;
  sure = await ask("state").then(() => true, () => false);
  if (sure) {
    sessionStorage.setItem("at", questions.indexOf(form.closest(".question")));
    if (form.elements.because) sessionStorage.removeItem(`because ${form.elements.person.value}`);
    form.requestSubmit(submitter);
  } else if (!form.querySelector(".error")) {
    form.insertAdjacentHTML("beforeend", `<p class="error" role="alert">${ENDED}</p>`);
  }
});
const follow = async () => {
  const progress = document.getElementById("progress");
  const { running, told } = await ask("state").catch(() => ({}));
  if (!told) {
    progress.textContent = ENDED;
    progress.classList.remove("busy");
    return;
  }
  const log = document.getElementById("told");
  log.hidden = !told.length;
  if (log.textContent !== told.join("\n")) {
    log.textContent = told.join("\n");
    log.scrollTop = log.scrollHeight;
  }
  if (running) {
    const last = told.at(-1);
    progress.textContent = last ? `The run goes on. ${last}` : "The run goes on.";
    setTimeout(follow, 700);
  } else if (document.body.dataset.running) {
    location.reload();
  } else if (told.length) {
    progress.textContent = "The run has ended.";
  }
};
follow();
document.getElementById("done").addEventListener("click", async () => {
  await ask("done", { method: "POST" });
  document.querySelector("main").innerHTML = '<p class="card" role="status">Closed. You can close this window.</p>';
});
