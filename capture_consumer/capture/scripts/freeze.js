// Time and chance stand still: date, random numbers, animations, caret.

// Each script has a stream of its own, restarted for each story: what a framework draws while
// it loads must not shift what the story draws. mulberry32: small, the same on every host.
const streams = new Map();
let draws = 0;
const ADDRESS = /https?:[^\s)]+(?=:\d+:\d+)/;
const drawer = () => {
  // Asking who draws takes time; whoever draws that often is a simulation.
  if (++draws > 5000) return "";
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 8;
  const stack = new Error().stack;
  Error.stackTraceLimit = limit;
  const found = typeof stack === "string" ? stack.match(ADDRESS) : null;
  return found ? found[0] : "";
};
const next = (script) => {
  const seed = ((streams.has(script) ? streams.get(script) : settings.seed) + 0x6d2b79f5) | 0;
  streams.set(script, seed);
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const draw = () => next(drawer());
const reseed = () => {
  streams.clear();
  draws = 0;
};

Math.random = draw;
if (window.crypto) {
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const script = drawer();
    for (let i = 0; i < bytes.length; i++) bytes[i] = next(script) * 256;
    return array;
  };
  crypto.randomUUID = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
  };
}

function FrozenDate(...given) {
  if (!new.target) return new real.Date(settings.date_ms).toString();
  return Reflect.construct(real.Date, given.length ? given : [settings.date_ms], new.target);
}
FrozenDate.prototype = real.Date.prototype;
FrozenDate.prototype.constructor = FrozenDate;
FrozenDate.parse = real.Date.parse;
FrozenDate.UTC = real.Date.UTC;
FrozenDate.now = () => settings.date_ms;
Object.defineProperty(FrozenDate, "name", { value: "Date" });
Object.defineProperty(FrozenDate, "length", { value: 7 });
window.Date = FrozenDate;

const style = () => {
  const sheet = document.createElement("style");
  sheet.dataset.capture = "";
  sheet.textContent =
    "*,*::before,*::after{caret-color:transparent!important;scroll-behavior:auto!important}";
  document.head.append(sheet);
};
new MutationObserver((_, watch) => {
  if (!document.head) return;
  watch.disconnect();
  style();
}).observe(document, { childList: true, subtree: true });

window.open = () => null;

// What is animated is a layer that the compositor moves by itself, and it goes on showing, now
// and then, where that was when it is paused. So the start becomes a style, and the layer goes.
const unlayer = (animation) => {
  try {
    animation.commitStyles();
    animation.cancel();
  } catch {
    // A pseudo-element has no style of its own: it stays paused.
  }
};
// Finite ones to their end, infinite ones to their start; returns how many were moving.
const restOne = (animation) => {
  if (animation.playState === "finished" || animation.playState === "paused") return 0;
  try {
    if (animation.effect.getComputedTiming().endTime === Infinity) {
      animation.pause();
      animation.currentTime = 0;
      unlayer(animation);
    } else {
      animation.finish();
    }
    return 1;
  } catch {
    return 0;
  }
};
const restSvg = (svg) => {
  if (!svg.querySelector("animate,animateTransform,animateMotion,set")) return 0;
  const endless = svg.querySelector("[repeatCount=indefinite],[repeatDur=indefinite]");
  const paused = svg.animationsPaused();
  svg.pauseAnimations();
  svg.setCurrentTime(endless ? 0 : 3600);
  return paused ? 0 : 1;
};
const restMedia = (media) => {
  if (media.paused) return 0;
  media.pause();
  return 1;
};
const each = (root, selector, act) => {
  let moved = 0;
  for (const one of root.querySelectorAll(selector)) moved += act(one);
  return moved;
};
const rest = () => {
  let moved = 0;
  for (const animation of document.getAnimations()) moved += restOne(animation);
  moved += each(document, "svg", restSvg);
  moved += each(document, "video,audio", restMedia);
  for (const inner of innerPages()) moved += inner.rest();
  return moved;
};
