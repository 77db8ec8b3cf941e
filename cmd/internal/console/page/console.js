// The page is whole without this file, which only keeps it new. The server sends parts as HTML, and what is different in them is changed in place, so
// that the focus, a selection and the place that one has scrolled to stay.
"use strict";

const live = document.getElementById("live");

function say(text, lost) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("lost", lost);
}

function update(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) {
    old.replaceWith(now);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  for (const a of [...old.attributes]) if (!now.hasAttribute(a.name)) old.removeAttribute(a.name);
  for (const a of now.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
  updateChildren(old, now);
}

function updateChildren(old, now) {
  const was = [...old.childNodes], is = [...now.childNodes];
  is.forEach((child, i) => {
    if (i < was.length) update(was[i], child);
    else old.append(child);
  });
  was.slice(is.length).forEach((child) => child.remove());
}

let source, searching = false;

// The medic that serves this page, "" if a person has started the console, and the other medics that serve one.
const medic = live.dataset.medic || "";
const peers = (live.dataset.peers || "").split(" ").filter(Boolean).map((peer) => {
  const [name, port] = peer.split(":");
  return { name, origin: location.protocol + "//" + location.hostname + ":" + port };
});

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Consoles share no cookie: whatever program has taken a port meanwhile would get it. This page has a key that its browser does not give away, and from its
// console a pass with that key in it. With both it shows another console, or its own one after a restart, who it is. It signs the address that it asks, so
// nobody else can use what it sends.
let key, pass = "";

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

async function prepare() {
  if (!medic || !window.crypto || !crypto.subtle) return;
  try {
    key = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
    const answer = await fetch("/handover", { method: "POST", body: base64(await crypto.subtle.exportKey("raw", key.publicKey)) });
    if (answer.ok) pass = (await answer.text()).trim();
  } catch { /* then it does not go on */ }
}

// Returns where to go on at a console, "" if that console refuses, and null if none answers.
async function wayTo(origin) {
  const ask = async (path, more) => {
    const answer = await fetch(origin + path, { ...more, credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(3000) });
    return answer.ok ? (await answer.text()).trim() : "";
  };
  try {
    const challenge = await ask("/login/challenge");
    if (!challenge) return "";
    const text = new URL(origin).host + "\n" + challenge;
    const signature = base64(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, new TextEncoder().encode(text)));
    const token = await ask("/login/continue", { method: "POST", body: JSON.stringify({ pass, text, signature }) });
    return token && origin + "/login?token=" + encodeURIComponent(token) + "&page=" + encodeURIComponent(live.dataset.page) + location.hash;
  } catch { return null; }
}

// When its own console is gone, and does not come back soon, the page goes on there after a restart, or with another medic. If its own console is there and
// refuses, as after a logout, the page stays.
async function goOn() {
  if (searching) return;
  searching = true;
  await pause(3000);
  while (pass && source.readyState !== EventSource.OPEN) {
    const back = await wayTo(location.origin);
    if (back === "") break;
    for (const [where, name] of [[location.origin, medic], ...peers.map((peer) => [peer.origin, peer.name])]) {
      const to = where === location.origin ? back : await wayTo(where);
      if (!to || source.readyState === EventSource.OPEN) continue;
      say("The console of " + medic + " is gone: going on with that of " + name, true);
      source.close();
      location.replace(to);
      return;
    }
    await pause(2000);
  }
  searching = false;
}

function connect() {
  source = new EventSource("/events?page=" + encodeURIComponent(live.dataset.page));
  source.addEventListener("parts", (event) => {
    say(medic ? "Live, from " + medic : "Live", false);
    for (const part of JSON.parse(event.data)) {
      const old = document.getElementById("part-" + part.name);
      const now = document.createElement("template");
      now.innerHTML = part.html;
      if (old) updateChildren(old, now.content);
    }
  });
  source.addEventListener("error", () => {
    say("Not live: no connection to the console, trying again", true);
    if (source.readyState === EventSource.CLOSED && !leaving) setTimeout(connect, 5000);
    if (medic && !leaving) goOn();
  });
}

let leaving = false;
window.addEventListener("pagehide", () => { leaving = true; source.close(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
prepare();
connect();

// The box for statements works without what follows. This adds Ctrl+Enter, completions, and what was asked before, which this browser alone keeps.
const box = document.getElementById("q");

function remembered() {
  try { return JSON.parse(localStorage.getItem("posta-asked")) || []; } catch { return []; }
}

function remember(all) {
  try { localStorage.setItem("posta-asked", JSON.stringify(all)); } catch { /* there is no room, or the browser keeps nothing */ }
}

function showHistory() {
  const history = document.getElementById("history"), all = remembered();
  history.hidden = all.length === 0;
  history.querySelector("ol").replaceChildren(...all.map((text) => {
    const item = document.createElement("li"), link = document.createElement("a"), code = document.createElement("code");
    code.textContent = text.length > 200 ? text.slice(0, 200) + "…" : text;
    link.href = "/ask?q=" + encodeURIComponent(text);
    link.append(code);
    item.append(link);
    return item;
  }));
}

if (box) {
  const form = document.getElementById("ask"), words = document.getElementById("words");
  let asked = 0;

  form.addEventListener("submit", () => {
    const text = box.value.trim();
    if (text && text.length <= 4000) remember([text, ...remembered().filter((t) => t !== text)].slice(0, 50));
  });
  document.querySelector("#history button").addEventListener("click", () => { remember([]); showHistory(); });
  showHistory();

  function complete(word) {
    const end = box.selectionStart, start = end - /[\p{L}\p{N}_]*$/u.exec(box.value.slice(0, end))[0].length;
    box.setRangeText(word, start, end, "end");
    words.replaceChildren();
    box.focus();
  }

  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.main"));
    } else if (event.key === "Escape") words.replaceChildren();
  });
  box.addEventListener("input", async () => {
    const mine = ++asked, before = box.value.slice(0, box.selectionStart);
    if (!/[\p{L}_][\p{L}\p{N}_]+$/u.test(before)) return words.replaceChildren();
    try {
      const answer = await fetch("/complete", { method: "POST", body: new URLSearchParams({ q: before }) });
      if (mine !== asked || !answer.ok) return;
      words.replaceChildren(...(await answer.json()).words.map((word) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = word;
        button.addEventListener("click", () => complete(word));
        return button;
      }));
    } catch { words.replaceChildren(); }
  });
}
