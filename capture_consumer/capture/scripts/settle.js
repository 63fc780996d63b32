// Wait until a story is in and at rest, and say how it stands.

const until = async (quiet, cap_ms) => {
  const end = real.now() + cap_ms;
  while (!quiet()) {
    if (real.now() > end) return false;
    await sleep(8);
  }
  return true;
};
const fontsIn = (cap_ms) => {
  const late = sleep(cap_ms).then(() => false);
  return Promise.race([document.fonts.ready.then(() => true), late]);
};

const settled = async (limits, notes) => {
  if (!(await fontsIn(limits.fonts_ms))) notes.add("fonts_not_loaded");
  if (!(await until(() => loading() === 0, limits.images_ms))) notes.add("images_not_loaded");
  if (!(await until(() => short.size === 0, limits.timers_ms))) notes.add("timers_not_idle");
  if (!(await until(() => flying === 0, limits.settle_ms))) notes.add("network_not_idle");
};
// Passive effects run after the story's own events: two frames and a task. Each may begin
// something new; a page that always does so is judged as it is.
const toRest = async (limits, notes) => {
  const end = real.now() + limits.settle_ms;
  do {
    await settled(limits, notes);
    await frame();
    const before = chained;
    await frame();
    await sleep(0);
    story.looping = chained > before; // it draws by itself, frame by frame
    const moved = rest();
    if (faults().length || notes.size) return;
    if (!moved && !loading() && !busy()) return;
  } while (real.now() < end);
  notes.add("not_at_rest");
};

// What a person would see: text, pictures, controls, or a box that is painted.
const PAINTED = "img,svg,canvas,video,audio,iframe,object,embed,input,textarea,select,hr,dialog";
const isPainted = (one) => {
  const box = one.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) return false;
  const look = getComputedStyle(one);
  if (look.visibility !== "visible" || look.opacity === "0") return false;
  if (one.matches(PAINTED) || one.shadowRoot) return true;
  for (const part of one.childNodes) {
    if (part.nodeType === Node.TEXT_NODE && part.data.trim()) return true;
  }
  return (
    look.backgroundImage !== "none" ||
    !/^(transparent|rgba\(.*, 0\))$/.test(look.backgroundColor) ||
    look.boxShadow !== "none" ||
    ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(look[`border${side}Width`]) > 0)
  );
};
const isEmpty = () => {
  const own = "script,style,link,template,.sb-wrapper,.sb-wrapper *";
  for (const one of document.body.querySelectorAll("*")) {
    // A theme's own wrapper fills the root; it is nothing that the story drew.
    if (!one.matches(own) && isPainted(one)) return false;
  }
  return true;
};

const heightOf = () =>
  Math.ceil(
    Math.max(
      document.documentElement.scrollHeight,
      document.body ? document.body.scrollHeight : 0,
      window.innerHeight,
    ),
  );

const state = () => ({
  id: story.id,
  showing: story.showing,
  generation: story.generation,
  step: story.step,
  errors: faults(),
  height: heightOf(),
  restless: Boolean(story.looping) || restless(),
});
// A document focuses the first such element once; so a story would depend on its neighbours.
const focus = () => {
  const wants = document.querySelector("[autofocus]");
  if (wants && document.activeElement === document.body) wants.focus({ preventScroll: true });
};
const settle = async (limits) => {
  const notes = new Set();
  const over = await eventsIn(limits);
  enter("settle");
  focus();
  if (!over && !faults().length) await toRest(limits, notes);
  const report = state();
  enter("shot");
  return {
    ...report,
    over,
    notes: [...notes],
    empty: report.errors.length === 0 && !over && isEmpty(),
    steps: story.steps,
  };
};

// Nothing of the story before may be seen in the next one.
const tidy = () => {
  window.scrollTo(0, 0);
  if (document.activeElement && document.activeElement !== document.body) {
    document.activeElement.blur();
  }
  const chosen = window.getSelection();
  if (chosen) chosen.removeAllRanges();
};
// What a tab keeps when it is navigated; the rest is cleared from outside.
const wipe = () => {
  window.name = "";
  try {
    sessionStorage.clear();
  } catch {
    // A page without storage has nothing to clear.
  }
};
const begin = (id) => {
  story = blank(id);
  reseed();
  forget();
};

const capture = {
  // The first story of a page is in its address; scripts run before it begins.
  settle,
  go: (id, limits) => {
    tidy();
    begin(id);
    channel.emit("setCurrentStory", { storyId: id, viewMode: "story" });
    return settle(limits);
  },
  state,
  wipe,
  rest,
  restless,
  loading,
  busy,
};
Object.defineProperty(window, "__capture__", { value: capture });

const address = new URL(location.href);
if (window === window.top && address.searchParams.get("id")) begin(address.searchParams.get("id"));
