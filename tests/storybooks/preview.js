// The protocol of Storybook's preview, as much of it as a camera sees.

const heard = new Map();
const channel = {
  on: (event, act) => heard.set(event, [...(heard.get(event) || []), act]),
  emit: (event, ...told) => (heard.get(event) || []).forEach((act) => act(...told)),
};
window.__STORYBOOK_ADDONS_CHANNEL__ = channel;

const root = document.getElementById("storybook-root");
const screens = ["sb-show-main", "sb-show-nopreview", "sb-show-errordisplay"];
const show = (screen) => {
  document.body.classList.remove(...screens);
  document.body.classList.add(screen);
};
const phase = (storyId, newPhase) =>
  channel.emit("storyRenderPhaseChanged", { storyId, newPhase, renderId: 1 });
const run = (source) => new Function("root", `return (async () => { ${source} })();`)(root);
const frames = () =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

const fail = (event, error) => {
  document.getElementById("error-message").textContent = error.message;
  show("sb-show-errordisplay");
  channel.emit(event, { name: error.name, message: error.message });
};

let turn = 0;
const render = async (id) => {
  const mine = ++turn;
  channel.emit("currentStoryWasSet", { storyId: id, viewMode: "story" });
  root.replaceChildren();
  document.querySelectorAll("[data-portal]").forEach((one) => one.remove());
  const story = window.STORIES[id];
  if (!story) {
    show("sb-show-nopreview");
    channel.emit("storyMissing", id);
    return;
  }
  let event = "storyThrewException";
  try {
    phase(id, "preparing");
    channel.emit("storyPrepared", { id, parameters: {} });
    phase(id, "loading");
    await run(story.load);
    phase(id, "rendering");
    show("sb-show-main");
    root.innerHTML = story.html;
    await run(story.render);
    phase(id, "playing");
    event = "playFunctionThrewException";
    await run(story.play);
    phase(id, "completing");
    phase(id, "completed");
    channel.emit("storyRendered", id);
    phase(id, "finished");
    channel.emit("storyFinished", { storyId: id, status: "success", reporters: [] });
    event = "storyThrewException";
    await frames();
    if (mine === turn) await run(story.late);
  } catch (error) {
    phase(id, "errored");
    fail(event, error);
  }
};

channel.on("setCurrentStory", ({ storyId }) => void render(storyId));
const asked = new URL(location.href).searchParams.get("id");
if (asked) void render(asked);
