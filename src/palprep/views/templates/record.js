"use strict";
// The page asks palprep for everything: what is kept, what is found. It keeps nothing itself.
const texts = JSON.parse(document.getElementById("texts").textContent);
const el = (name, props = {}, ...children) => {
  const made = Object.assign(document.createElement(name), props);
  made.append(...children.filter((each) => each != null));
  return made;
};
const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
const show = (node, text) => { if (node.textContent !== text) node.textContent = text; node.hidden = !text; };

const ask = async (path, body) => {
  let reply;
  try {
    reply = await fetch(path, body === undefined ? {} : { method: "POST", body });
  } catch {
    throw new Error(texts.too_large);
  }
  const told = reply.headers.get("content-type")?.includes("json") ? await reply.json() : {};
  if (!reply.ok) throw Object.assign(new Error(told.error ?? texts.too_large), { answered: "error" in told });
  return told;
};

const SOUND = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
const VIDEO = { width: { ideal: 1920 }, height: { ideal: 1080 }, frameRate: { ideal: 30 } };
// The best first: what can be kept without a second encode.
const KINDS = {
  video: ["video/mp4;codecs=avc1.640028,mp4a.40.2", "video/mp4;codecs=avc1,mp4a.40.2", "video/mp4;codecs=avc1,opus",
    "video/webm;codecs=h264,opus", "video/webm;codecs=vp9,opus", "video/webm;codecs=vp8,opus"],
  audio: ["audio/webm;codecs=pcm", "audio/webm;codecs=opus", "audio/mp4"],
};
const LONGEST_S = { "consent-video": 60, "voice-audio": 240 };
const decibels = (samples) => 10 * Math.log10(samples.reduce((sum, each) => sum + each * each, 1e-12) / samples.length);

class Step {
  constructor(section) {
    this.section = section;
    this.role = section.dataset.role;
    this.drawn = "";
    section.addEventListener("click", (event) => {
      const what = event.target.closest("[data-do]")?.dataset.do;
      if (what) this.guarded(() => this[what]());
    });
    const field = section.querySelector("input[type=file]");
    field.addEventListener("change", () => {
      if (field.files.length) this.guarded(() => this.send(field.files[0], "file"));
      field.value = "";
    });
    const drop = section.querySelector(".drop");
    for (const name of ["dragover", "dragleave", "drop"]) {
      drop.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.toggle("over", name === "dragover");
        const [file] = name === "drop" ? event.dataTransfer.files : [];
        if (file) this.guarded(() => this.send(file, "file"));
      });
    }
    for (const name of ["cameras", "microphones"]) {
      this.is(name)?.addEventListener("change", () => this.guarded(() => this.open()));
    }
  }

  is(name) { return this.section.querySelector(`[data-is="${name}"]`); }
  button(what) { return this.section.querySelector(`[data-do="${what}"]`); }
  get films() { return this.role !== "voice-audio"; }
  get listens() { return this.role !== "face-image"; }

  async guarded(act) {
    show(this.is("problem"), "");
    try {
      await act();
    } catch (error) {
      const words = { NotAllowedError: "refused", NotFoundError: "missing", OverconstrainedError: "missing", NotReadableError: "taken" };
      show(this.is("problem"), words[error.name] ? texts[words[error.name]] : error.message);
      this.tell("", false);
      this.is("unsent").hidden = !this.unsent;
    }
  }

  async open() {
    if (!navigator.mediaDevices || !window.MediaRecorder) throw new DOMException("", "NotAllowedError");
    for (const each of steps) each.close();
    // Not "exact": the device that was chosen may have been unplugged since.
    const chosen = (name) => (this.is(name)?.value ? { deviceId: this.is(name).value } : {});
    const opening = (opened += 1);
    const stream = await navigator.mediaDevices.getUserMedia({
      video: this.films && { ...VIDEO, ...chosen("cameras") },
      audio: this.listens && { ...SOUND, ...chosen("microphones") },
    });
    if (opening !== opened) { // While the browser asked, another step was opened, or the page was closed.
      for (const track of stream.getTracks()) track.stop();
      return;
    }
    this.stream = stream;
    // The device was unplugged, or the computer slept. A take that was under way is sent as it is.
    for (const track of stream.getTracks()) track.onended = () => this.guarded(() => { this.close(); throw new DOMException("", "NotFoundError"); });
    this.is("stage").hidden = false;
    this.is("sound").hidden = this.is("sound-choice").hidden = !this.listens;
    await this.list();
    if (this.films) {
      this.is("preview").srcObject = this.stream;
      await this.is("preview").play();
    }
    this.button("open").hidden = true;
    const next = this.button(this.listens ? "start" : "shoot");
    next.hidden = false;
    next.focus();
    if (this.listens) this.listen(); else this.look();
  }

  async list() {
    const devices = await navigator.mediaDevices.enumerateDevices();
    for (const [name, kind] of [["cameras", "videoinput"], ["microphones", "audioinput"]]) {
      const used = this.stream?.getTracks().find((track) => kind.startsWith(track.kind))?.getSettings().deviceId;
      this.is(name)?.replaceChildren(...devices.filter((each) => each.kind === kind).map((each, at) =>
        new Option(each.label || `${at + 1}`, each.deviceId, false, each.deviceId === used)));
    }
  }

  close() {
    clearInterval(this.watch);
    if (this.recorder?.state === "recording") this.recorder.stop();
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.sound?.close();
    this.stream = this.sound = undefined;
    if (!this.is("stage")) return;
    this.is("stage").hidden = true;
    this.button("open").hidden = false;
    for (const what of ["shoot", "start", "stop"]) if (this.button(what)) this.button(what).hidden = true;
  }

  listen() {
    this.sound = new AudioContext();
    const analyser = this.sound.createAnalyser();
    this.sound.createMediaStreamSource(this.stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const heard = [];
    this.watch = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const level = decibels(samples);
      this.is("level").value = level;
      heard.push(level);
      if (heard.length > 30) heard.shift();
      const loudest = Math.max(...heard);
      const word = loudest < -65 ? "none" : loudest < -40 ? "low" : loudest > -5 ? "high" : "good";
      if (heard.length >= 20) show(this.is("told"), texts[`level_${word}`]);
    }, 100);
  }

  // The light is measured here; framing and gaze by palprep's own checks, on a small frame.
  look() {
    let asked = false;
    this.watch = setInterval(async () => {
      const picture = this.frame(640);
      const light = this.light(picture);
      if (asked || !this.stream) return;
      asked = true;
      const blob = await new Promise((done) => picture.toBlob(done, "image/jpeg", 0.85));
      const { told } = await ask("glance", blob).catch(() => ({}));
      asked = false;
      if (told) show(this.is("told"), [light, ...(told.length ? told : [texts.framing_good])].join(" "));
    }, 1200);
  }

  frame(width) {
    const preview = this.is("preview");
    const scale = Math.min(1, width / preview.videoWidth);
    const canvas = el("canvas", { width: preview.videoWidth * scale, height: preview.videoHeight * scale });
    canvas.getContext("2d", { willReadFrequently: true }).drawImage(preview, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  light(canvas) {
    const { width, height } = canvas;
    const mean = (left) => {
      const { data } = canvas.getContext("2d").getImageData(left, height * 0.15, width * 0.15, height * 0.5);
      let sum = 0;
      for (let at = 0; at < data.length; at += 4) sum += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
      return (4 * sum) / data.length;
    };
    const [left, right] = [mean(width * 0.35), mean(width * 0.5)];
    const both = (left + right) / 2;
    if (both < 60) return texts.light_dark;
    if (both > 225) return texts.light_bright;
    return Math.abs(left - right) > both * 0.5 ? texts.light_uneven : texts.light_good;
  }

  async shoot() {
    this.button("shoot").hidden = true; // A second click would take a second picture.
    for (const count of [3, 2, 1]) {
      this.is("count").textContent = count;
      await new Promise((done) => setTimeout(done, 600));
    }
    this.is("count").textContent = "";
    if (!this.stream) return; // The camera has stopped, and that was told.
    const picture = await new Promise((done) => this.frame(Infinity).toBlob(done, "image/png"));
    this.close();
    await this.send(picture, "browser");
  }

  async start() {
    this.button("start").hidden = true; // A second click would record twice.
    await this.record(this.stream).catch((error) => { this.close(); throw error; });
  }

  async record(stream) {
    if (this.role === "consent-video") {
      const { words } = await ask("code", "");
      if (stream !== this.stream) return; // It was closed meanwhile.
      this.code(words.length ? texts.code_lead : "", words);
    }
    const kinds = KINDS[this.films ? "video" : "audio"];
    const mimeType = kinds.find((each) => MediaRecorder.isTypeSupported(each));
    const pieces = [];
    const recorder = (this.recorder = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 8e6, audioBitsPerSecond: 256e3 }));
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.start(1000);
    this.sent = new Promise((done) => {
      recorder.onstop = async () => {
        clearInterval(this.clock);
        if (stream === this.stream) this.close();
        if (this.role === "consent-video") this.code(texts.code_waits, []);
        await this.guarded(() => this.send(new Blob(pieces, { type: recorder.mimeType }), "browser"));
        done();
      };
    });
    const began = performance.now();
    this.clock = setInterval(() => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      this.is("clock").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (seconds >= LONGEST_S[this.role]) this.stop();
    }, 250);
    this.button("stop").hidden = false;
    this.button("stop").focus({ preventScroll: true });
    // Words to read stand at the top, next to the lens.
    this.is("prompter").scrollIntoView();
  }

  code(lead, words) {
    show(document.getElementById("code-lead"), lead);
    show(document.getElementById("code"), words.join(" · "));
  }

  stop() { if (this.recorder?.state === "recording") this.recorder.stop(); }

  send(blob, by) {
    // What was recorded here is nowhere else until it has arrived.
    if (by === "browser") this.unsent = blob;
    this.is("unsent").hidden = true;
    this.tell(texts.sending, true);
    const arrives = async () => {
      // To send what cannot be read, or a folder, fails as what is too large does.
      await blob.slice(0, 1).arrayBuffer().catch(() => { throw new Error(texts.unreadable); });
      await ask(`takes/${this.role}/${by}`, blob);
      if (by === "browser") this.unsent = undefined;
      await refresh();
    };
    return (this.sent = arrives().finally(() => { this.sent = undefined; }));
  }

  resend() { return this.send(this.unsent, "browser"); }

  save() {
    const link = el("a", { href: URL.createObjectURL(this.unsent), download: `${this.role}.${/\/(\w+)/.exec(this.unsent.type)[1]}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  tell(text, busy) {
    show(this.is("verdict"), text);
    this.is("verdict").hidden = false;
    this.is("verdict").classList.toggle("busy", busy);
  }

  draw({ files, takes }) {
    const state = JSON.stringify([files, takes]);
    if (state === this.drawn) return;
    this.drawn = state;
    const last = takes.at(-1);
    const there = files.length > 0;
    const badge = this.is("badge");
    badge.className = `badge o-${there ? "pass" : "unknown"}`;
    badge.textContent = there ? `✓ ${texts.there}` : texts.todo;
    show(this.is("files"), there ? say("in_folder", { files: files.join(", ") }) : "");
    if (last) this.tell(texts[last.verdict === "good" && !last.kept_as ? "good_before" : last.verdict ?? "checking"], !last.verdict);
    this.is("takes").replaceChildren(...takes.toReversed().map((take) => this.take(take)));
  }

  take(take) {
    const list = (outcome) => take.findings.filter((each) => (each.outcome === "fail") === outcome).map((each) =>
      el("li", { className: each.outcome }, each.sentence, each.advice ? el("span", {}, ` ${each.advice}`) : null));
    const notes = list(false);
    const use = take.verdict && take.name && !take.kept_as
      ? el("button", { type: "button", className: "button", textContent: texts[take.verdict === "again" ? "use_anyway" : "use"],
        onclick: () => this.guarded(async () => { await ask(`take/${take.number}/use`, ""); await refresh(); }) })
      : null;
    const title = say("take", { number: take.number });
    // What a camera writes, no browser may show: then there is a drawing of it.
    const portrait = this.role === "face-image";
    const seen = portrait && take.by === "browser" ? "" : "/picture";
    const media = !take.name || (portrait && seen && !take.picture) ? null : portrait || take.picture
      ? el("img", { src: `take/${take.number}${seen}`, alt: `${texts[portrait ? "portrait" : "video"]}, ${title}` })
      : el(this.films ? "video" : "audio", { src: `take/${take.number}`, controls: true, preload: "metadata", ariaLabel: title });
    return el("li", { className: "take" },
      el("h3", {}, title, el("span", { className: "quiet" }, texts[`from_${take.by}`]),
        take.kept_as ? el("span", { className: "badge o-pass" }, `✓ ${texts.kept}`) : null),
      el("ul", {}, ...list(true), ...(take.verdict === "decide" ? notes : [])),
      notes.length && take.verdict !== "decide" ? el("details", {}, el("summary", {}, el("span", { className: "sum" }, texts.notes)), el("ul", {}, ...notes)) : null,
      media, use && el("p", { className: "acts" }, use));
  }
}

const steps = [...document.querySelectorAll("[data-role]")].map((section) => new Step(section));
let opened = 0; // How often a camera or a microphone was asked for.
let later;
const refresh = async () => {
  clearTimeout(later);
  let open = true;
  try {
    const state = await ask("state");
    document.getElementById("offline").hidden = true;
    document.getElementById("agreed").hidden = !state.agreed;
    document.getElementById("agree").hidden = state.agreed;
    document.getElementById("finish").hidden = !state.agreed;
    show(document.getElementById("statement"), state.statement);
    for (const step of steps) {
      step.section.hidden = !state.agreed;
      step.draw(state.roles[step.role]);
    }
    open = Object.values(state.roles).some(({ takes }) => takes.some((take) => !take.verdict));
  } catch (error) {
    show(document.getElementById("offline"), error.answered ? error.message : texts.offline);
  }
  later = setTimeout(refresh, open ? 500 : 5000);
};

navigator.mediaDevices?.addEventListener("devicechange", () => { for (const each of steps) if (each.stream) each.list(); });
document.getElementById("agree").addEventListener("submit", async (event) => {
  event.preventDefault();
  const problem = event.target.querySelector("[data-is=problem]");
  show(problem, "");
  try {
    const name = event.target.elements.full_name.value;
    await ask("agree", name);
    document.querySelector("h1").textContent = say("title", { name });
    await refresh();
    steps[0].section.querySelector("button").focus();
  } catch (error) {
    show(problem, error.message);
  }
});
document.getElementById("done").addEventListener("click", async () => {
  opened += 1;
  for (const step of steps) step.close();
  // What is being recorded or sent arrives first; what cannot be sent keeps the page open.
  const sent = await Promise.allSettled(steps.map((each) => each.sent));
  if (steps.some((each) => each.unsent) || sent.some(({ status }) => status === "rejected")) return;
  await ask("done", "");
  clearTimeout(later);
  document.querySelector("main").replaceChildren(el("p", { className: "card", textContent: texts.done_after, role: "status" }));
});
addEventListener("beforeunload", (event) => { if (steps.some((each) => each.unsent || each.sent)) event.preventDefault(); });
refresh();
