// What the page still waits for: short timers, requests, images, fonts.

const short = new Map(); // timers that are due soon: id to nothing in particular
const intervals = new Set();
let chained = 0; // frames that were asked for by a frame that was asked for by a frame
let links = 0;

window.setTimeout = (what, ms, ...given) => {
  if (typeof what !== "function") return real.setTimeout(what, ms, ...given);
  const id = real.setTimeout(() => {
    short.delete(id);
    what.apply(window, given);
  }, ms);
  if (!(ms > settings.short_timer_ms)) short.set(id, true);
  return id;
};
window.clearTimeout = (id) => {
  short.delete(id);
  real.clearTimeout(id);
};
const setInterval = window.setInterval.bind(window);
const clearInterval = window.clearInterval.bind(window);
window.setInterval = (what, ms, ...given) => {
  const id = setInterval(what, ms, ...given);
  intervals.add(id);
  return id;
};
window.clearInterval = (id) => {
  intervals.delete(id);
  short.delete(id);
  clearInterval(id);
};
window.requestAnimationFrame = (what) => {
  const mine = links + 1;
  if (mine > 2) chained++;
  return real.requestAnimationFrame((at) => {
    links = mine;
    try {
      what(at);
    } finally {
      links = 0;
    }
  });
};

let flying = 0;
let flight = 0; // raised for each story: what an earlier one left open is not waited for
const counted = (promise) => {
  const mine = flight;
  const land = () => {
    if (mine === flight) flying--;
  };
  flying++;
  promise.then(land, land);
  return promise;
};
if (real.fetch) window.fetch = (...given) => counted(real.fetch(...given));
for (const name of ["arrayBuffer", "blob", "formData", "json", "text"]) {
  const read = Response.prototype[name];
  Response.prototype[name] = function (...given) {
    return counted(read.apply(this, given));
  };
}
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (...given) {
  counted(new Promise((done) => this.addEventListener("loadend", done, { once: true })));
  return send.apply(this, given);
};

const forget = () => {
  flight++;
  flying = 0;
  short.clear();
  intervals.clear();
};

// Something is going on by itself: the next picture is taken a little later, not at once.
const restless = () => {
  if (intervals.size || document.querySelector("marquee")) return true;
  for (const animation of document.getAnimations()) {
    if (animation.playState === "running") return true;
  }
  for (const inner of innerPages()) if (inner.restless()) return true;
  return false;
};

// The frames of other origins say nothing, and are told by the network alone.
function innerPages() {
  const found = [];
  for (let i = 0; i < window.frames.length; i++) {
    try {
      const inner = window.frames[i].__capture__;
      if (inner) found.push(inner);
    } catch {
      // Of another origin.
    }
  }
  return found;
}

const eager = () => {
  for (const one of document.querySelectorAll("img[loading=lazy],iframe[loading=lazy]")) {
    one.loading = "eager";
  }
};
const loading = () => {
  eager();
  let left = 0;
  for (const image of document.images) if (!image.complete) left++;
  for (const inner of innerPages()) left += inner.loading();
  return left;
};
const busy = () => {
  let left = flying + short.size;
  for (const inner of innerPages()) left += inner.busy();
  return left;
};
