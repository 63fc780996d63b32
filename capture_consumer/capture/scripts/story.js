// The channel of Storybook's preview, and one story at a time.

const ERRORS = {
  storyErrored: "story_error",
  storyThrewException: "story_error",
  playFunctionThrewException: "play_error",
  unhandledErrorsWhilePlaying: "play_error",
  configError: "config_error",
};
const STEP_OF_PHASE = {
  preparing: "load",
  loading: "load",
  rendering: "render",
  playing: "play",
  played: "render",
  completing: "render",
};

let story = null;
let channel = null;
let finishes = false; // this preview tells when a story is finished, later than rendered

const blank = (id) => ({
  id,
  generation: story ? story.generation + 1 : 1,
  step: "load",
  since: real.now(),
  begun: real.now(),
  opened: false,
  rendered: 0,
  finished: false,
  showing: null, // the story that the preview last named as the one it draws
  errors: [],
  stray: [],
  steps: {},
});
const enter = (step) => {
  if (step === story.step) return;
  const now = real.now();
  story.steps[story.step] = (story.steps[story.step] || 0) + now - story.since;
  story.step = step;
  story.since = now;
  real.tell(step);
};

const textOf = (error) => {
  if (error === null || error === undefined) return "no reason given";
  if (Array.isArray(error)) return error.map(textOf).join("; ");
  if (typeof error !== "object") return String(error);
  const text = error.message || error.description || error.title || String(error);
  return error.name && error.message && error.name !== "Error" ? `${error.name}: ${text}` : text;
};
const failed = (event) => (error) => {
  if (!story) return;
  const told = { code: ERRORS[event], event, text: textOf(error).slice(0, 2000) };
  (story.opened || event === "configError" ? story.errors : story.stray).push(told);
};
const idOf = (told) => (typeof told === "string" ? told : told && (told.storyId || told.id));
const ofThis = (act) => (told) => {
  if (story && idOf(told) === story.id) act(told);
};

const named = (told) => {
  if (story) story.showing = idOf(told) || story.showing;
};

const hook = (bus) => {
  bus.on("currentStoryWasSet", named);
  bus.on("storyRendered", named);
  for (const event of Object.keys(ERRORS)) bus.on(event, failed(event));
  bus.on("storyRenderPhaseChanged", ofThis((told) => {
    // Errors that come before belong to the story that is being left.
    story.opened = true;
    // What scripts drew of chance until here depends on how the page came to this story.
    if (told.newPhase === "loading" || told.newPhase === "rendering") reseed();
    if (STEP_OF_PHASE[told.newPhase]) enter(STEP_OF_PHASE[told.newPhase]);
  }));
  bus.on("storyRendered", ofThis(() => {
    story.opened = true;
    story.rendered = real.now();
  }));
  bus.on("storyFinished", ofThis(() => {
    finishes = true;
    story.opened = story.finished = true;
  }));
  bus.on("storyMissing", (told) => {
    if (!story) return;
    const id = idOf(told);
    if (id && id !== story.id) return;
    story.errors.push({
      code: "story_missing",
      event: "storyMissing",
      text: `this Storybook has no story ${story.id}`,
    });
  });
};
Object.defineProperty(window, "__STORYBOOK_ADDONS_CHANNEL__", {
  configurable: true,
  get: () => channel,
  set: (bus) => {
    channel = bus;
    hook(bus);
  },
});

const screenOf = () => {
  const shown = document.body ? document.body.classList : null;
  if (!shown) return null;
  if (shown.contains("sb-show-errordisplay")) return "error";
  if (shown.contains("sb-show-nopreview")) return "nopreview";
  return null;
};
const errorOnScreen = () => {
  const message = document.getElementById("error-message");
  const text = message ? message.innerText.trim() : "";
  return text.slice(0, 2000) || "the preview shows its error screen";
};

// What went wrong with this story so far; stray errors count once the screen shows them.
const faults = () => {
  if (story.errors.length) return story.errors;
  const screen = screenOf();
  const since = real.now() - story.begun;
  if (screen === "error" && (story.opened || story.stray.length || since > 1000)) {
    if (story.stray.length) return story.stray;
    return [{ code: "story_error", event: "screen", text: errorOnScreen() }];
  }
  if (screen === "nopreview" && since > 1000) {
    return [{ code: "no_preview", event: "screen", text: "the preview shows “No Preview”" }];
  }
  return [];
};

const isIn = () => {
  if (story.finished) return true;
  if (!story.rendered || finishes) return false;
  // A preview older than `storyFinished` says nothing more; a newer one does so soon.
  return real.now() - story.rendered > settings.finish_grace_ms;
};
const overCap = (limits) => {
  const cap = limits[`${story.step}_ms`];
  return real.now() - story.since > cap ? { step: story.step, cap } : null;
};
const eventsIn = async (limits) => {
  for (;;) {
    if (faults().length || isIn()) return null;
    const over = overCap(limits);
    if (over) return over;
    await sleep(4);
  }
};
