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
document.querySelector("[role=alert]") ?? questions[0]?.focus();

const ask = async (path, options) => (await fetch(path, options)).json();
const follow = async () => {
  const progress = document.getElementById("progress");
  const { running, told } = await ask("state").catch(() => ({}));
  if (!told) {
    progress.textContent = "This page has ended: start the same command again to go on.";
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
