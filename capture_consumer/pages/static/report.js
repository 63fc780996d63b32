"use strict";
// Only comfort: the page says everything without it.
{
  const cards = [...document.querySelectorAll(".card")];
  const views = [["", "Side by side"], ["close", "Close-up"], ["swipe", "Swipe"], ["fade", "Fade"]];
  const make = (name, attributes, ...inside) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...inside);
    return made;
  };

  // The picture's own width: `image.width` is that of the frame it is drawn in.
  const whole = (image) => Number(image.getAttribute("width"));
  const boxOf = (card) => (card.dataset.box ?? "0 0 0 0").split(" ").map(Number);

  // A change this small cannot be seen in a picture made to fit.
  const isSmall = (card) => {
    const [, , width, height] = boxOf(card);
    const image = card.querySelector(".p-new img");
    if (!image || !width) return false;
    const scale = image.closest(".frame").clientWidth / whole(image);
    return scale < 0.75 && Math.max(width, height) * scale < 120;
  };

  // Show the change first: scroll the frames of a card to where it is, and keep them together.
  const seek = (card) => {
    const [x, y, width, height] = boxOf(card);
    for (const frame of card.querySelectorAll(".panels .frame")) {
      const image = frame.querySelector("img");
      if (!image || !image.clientWidth) continue;
      const scale = image.clientWidth / whole(image);
      const room = (size, frame) => Math.max(24, (frame - size * scale) / 2);
      frame.scrollLeft = x * scale - room(width, frame.clientWidth);
      frame.scrollTop = y * scale - room(height, frame.clientHeight);
    }
  };

  const gather = (card) => {
    const frames = [...card.querySelectorAll(".panels .frame")];
    let leader = null;
    for (const frame of frames) {
      frame.addEventListener("pointerenter", () => { leader = frame; });
      frame.addEventListener("focus", () => { leader = frame; });
      frame.addEventListener("scroll", () => {
        if (leader !== frame) return;
        for (const other of frames) {
          if (other !== frame) other.scrollTo(frame.scrollLeft, frame.scrollTop);
        }
      }, { passive: true });
      const image = frame.querySelector("img");
      if (image && !image.complete) {
        image.addEventListener("load", () => seek(card), { once: true });
      }
    }
    seek(card);
  };

  const stage = (before, after) => {
    const both = make("div", { className: "both" });
    for (const [image, place] of [[before, "before"], [after, "after"]]) {
      const copy = make("img", { src: image.src, alt: image.alt, className: place });
      copy.width = whole(image); copy.height = Number(image.getAttribute("height"));
      both.append(copy);
    }
    both.append(make("i", { className: "rule" }));
    const slider = make("input", { type: "range", min: 0, max: 100, value: 50 });
    slider.setAttribute("aria-label", "From baseline to new");
    const set = () => both.style.setProperty("--at", slider.value);
    slider.addEventListener("input", set);
    set();
    const ends = make("div", { className: "ends" });
    ends.append(make("span", {}, "Baseline"), make("span", {}, "New"));
    return make("div", { className: "stage" }, make("div", { className: "frame" }, both), slider, ends);
  };

  const show = (card, view) => {
    const panels = card.querySelector(".panels");
    if (["swipe", "fade"].includes(view) && !card.querySelector(".stage")) {
      const pick = (role) => panels.querySelector(`.p-${role} img`);
      panels.after(stage(pick("baseline"), pick("new")));
    }
    if (view) card.dataset.view = view; else delete card.dataset.view;
    for (const button of card.querySelectorAll(".views button")) {
      button.setAttribute("aria-pressed", String(button.value === view));
    }
    seek(card);
  };

  for (const card of cards) {
    gather(card);
    const panels = card.querySelector(".panels");
    if (!panels || !panels.querySelector(".p-baseline img") || !panels.querySelector(".p-new img")) continue;
    const bar = make("div", { className: "views" });
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "View");
    for (const [view, label] of views) {
      const button = make("button", { type: "button", value: view }, label);
      button.addEventListener("click", () => show(card, view));
      bar.append(button);
    }
    panels.before(bar);
    show(card, isSmall(card) ? "close" : "");
  }

  let at = -1;
  const keys = document.querySelector(".keys");
  if (keys && cards.length) keys.hidden = false;
  document.addEventListener("focusin", (event) => {
    const inside = cards.indexOf(event.target.closest(".card"));
    if (inside >= 0) at = inside;
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (step && cards.length) {
      at = Math.min(cards.length - 1, Math.max(0, at + step));
      cards[at].focus({ preventScroll: true });
      cards[at].scrollIntoView({ block: "start" });
    } else if (event.key === "v" && cards[at]?.querySelector(".views")) {
      const now = views.findIndex(([view]) => view === (cards[at].dataset.view ?? ""));
      show(cards[at], views[(now + 1) % views.length][0]);
    }
  });
}
