// What the page's own code may replace, kept as it was. First of the fragments that
// freeze.py joins into one function; `settings` stands before it.
const real = {
  Date,
  now: performance.now.bind(performance),
  setTimeout: window.setTimeout.bind(window),
  clearTimeout: window.clearTimeout.bind(window),
  requestAnimationFrame: window.requestAnimationFrame.bind(window),
  fetch: window.fetch ? window.fetch.bind(window) : null,
  tell: window[settings.binding] ? window[settings.binding].bind(window) : () => {},
};
delete window[settings.binding];

const sleep = (ms) => new Promise((done) => real.setTimeout(done, ms));

// A page that is not drawn gets no frames: half a second stands for one that never comes.
const frame = () =>
  new Promise((done) => {
    const late = real.setTimeout(done, 500);
    real.requestAnimationFrame(() => {
      real.clearTimeout(late);
      done();
    });
  });
