"use strict";
const causes = [...document.querySelectorAll("details.cause")];
const filter = document.getElementById("filter");

// A link to a cause opens it and the folds around it.
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

function copied(button, pre) {
  const before = button.textContent;
  const say = (text) => { button.textContent = text; setTimeout(() => { button.textContent = before; }, 2000); };
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  // Where the clipboard is out of reach, the older way; where that fails too, the text is left selected.
  const fallback = () => { select(); say(document.execCommand("copy") ? "Copied" : "Press Ctrl+C"); };
  if (!navigator.clipboard) return fallback();
  navigator.clipboard.writeText(pre.textContent).then(() => say("Copied"), fallback);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copied(button, document.getElementById(button.dataset.copy));
});

if (filter) {
  const tools = filter.parentElement;
  const matches = document.getElementById("matches");
  const openAll = document.getElementById("open-all");
  const text = new Map();
  tools.hidden = false;
  const textOf = (one) => {
    if (!text.has(one)) text.set(one, `${one.closest(".pass").firstElementChild.textContent} ${one.textContent}`.toLowerCase());
    return text.get(one);
  };
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const one of causes) {
      one.hidden = !words.every((word) => textOf(one).includes(word));
      left += !one.hidden;
    }
    for (const block of document.querySelectorAll(".pass, .section"))
      block.hidden = !block.querySelector("details.cause:not([hidden])");
    if (words.length)
      for (const fold of document.querySelectorAll("details.section:not([hidden])")) fold.open = true;
    matches.textContent = words.length ? `${left} of ${causes.length} causes` : "";
  });
  openAll.addEventListener("click", () => {
    const open = openAll.textContent === "Open all";
    for (const one of causes) if (!one.hidden) one.open = open;
    openAll.textContent = open ? "Close all" : "Open all";
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === filter) return;
    event.preventDefault();
    filter.focus();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    filter.value = "";
    filter.dispatchEvent(new Event("input"));
    filter.blur();
  });
}
