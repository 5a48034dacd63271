// @ts-check
// The frame of the page: which run is shown, and which part is open.
const page = (() => {
  "use strict";
  const LABELS = {
    dataset: "Dataset",
    encoder: "Encoder",
    scorer: "Scorer",
    projection: "Projection",
    seed: "Seed",
    other: "Run",
  };
  /** @type {RunInfo[]} */
  const runs = dom.json("runs");
  /** @type {HTMLElement[]} */
  const tabs = [...document.querySelectorAll('[role="tab"]')].map(
    (tab) => /** @type {any} */ (tab),
  );
  const panels = tabs.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
  const drawn = new Map(); // panel id -> the run it was drawn for
  let run = 0;
  let open = 0; // index of the open part
  /** @type {string | null} */
  let played = null; // id of the example in the playground

  /**
   * @param {number} index
   * @returns {{examples: PackedExample[], rule: string}}
   */
  const examplesOf = (index) => dom.json(`examples-${index}`) || { examples: [], rule: "" };
  /** @param {number} index */
  const playable = (index) => examplesOf(index).examples.filter(unpack.isPlayable);

  /**
   * The parts of the page; one without content is not offered.
   * @type {Record<string, {has: () => boolean, draw: () => void}>}
   */
  const PARTS = {
    overview: { has: () => true, draw: drawOverview },
    browse: {
      has: () => browse.has(run, runs),
      draw: () => browse.mount(document.getElementById("browse-body"), run, runs),
    },
    examples: {
      has: () => examplesOf(run).examples.length > 0,
      draw: () =>
        examples.mount(document.getElementById("examples-body"), runs[run], examplesOf(run), play),
    },
    playground: { has: () => playable(run).length > 0, draw: drawPlayground },
  };
  const offered = () => panels.flatMap((panel, index) => (PARTS[panel.id].has() ? [index] : []));

  function drawOverview() {
    for (const article of all("[data-run]")) article.hidden = Number(article.dataset.run) !== run;
    const root = document.querySelector(`[data-run="${run}"] .numbers`);
    numbers.mount(root, dom.json(`tables-${run}`));
  }

  /**
   * @param {string} selector
   * @returns {HTMLElement[]}
   */
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  function drawPlayground() {
    const choices = playable(run);
    const chosen = choices.find((example) => example.id === played) || choices[0];
    const example = unpack.example(chosen);
    const name = (/** @type {PackedExample} */ choice) =>
      `${choice.id} · ${unpack.line(choice).slice(0, 50)}`;
    const open = (/** @type {string} */ id) => {
      played = id;
      drawPlayground();
    };
    const go = (/** @type {number} */ step) =>
      open(choices[(choices.indexOf(chosen) + step + choices.length) % choices.length].id);
    const names = choices.map(
      (choice) => /** @type {[string, string]} */ ([choice.id, name(choice)]),
    );
    document.getElementById("playground-body").replaceChildren(
      dom.make(
        "div",
        { class: "controls" },
        dom.select("Example", names, chosen.id, open).element,
        dom.button("Previous", () => go(-1)),
        dom.button("Next", () => go(1)),
      ),
      example.query ? dom.make("p", { class: "query" }, "Query: ", dom.word(example.query)) : "",
      (example.readout ? playground : storedPlayground).create(example, runs[run].classes).element,
    );
  }

  /** @param {string} id */
  function play(id) {
    played = id;
    drawn.delete("playground");
    show(panels.findIndex((panel) => panel.id === "playground"));
  }

  /**
   * Open a part, or the first one if it is not offered.
   * @param {number} wanted
   * @param {boolean} [focus]
   */
  function show(wanted, focus = false) {
    const indices = offered();
    open = indices.includes(wanted) ? wanted : indices[0];
    tabs.forEach((tab, index) => {
      tab.hidden = !indices.includes(index);
      tab.setAttribute("aria-selected", String(index === open));
      tab.tabIndex = index === open ? 0 : -1;
      panels[index].hidden = index !== open;
    });
    if (focus) tabs[open].focus();
    const { id } = panels[open];
    if (drawn.get(id) !== run) {
      drawn.set(id, run);
      PARTS[id].draw();
    }
    setAddress(id);
  }

  /** @param {string} part */
  function setAddress(part) {
    // Not for the first view of the first part: the browser would scroll to it, past the title.
    if (open === 0 && run === 0 && !location.hash) return;
    try {
      history.replaceState(null, "", `#${part}${runs.length > 1 ? `/${run}` : ""}`);
    } catch {
      // A frame may forbid it.
    }
  }

  /** @param {number} index */
  function choose(index) {
    run = index;
    played = null;
    drawChooser();
    show(open);
  }

  /**
   * Of the runs that have this value, the one that shares most of the other choices.
   * @param {string} key
   * @param {string} value
   */
  function nearest(key, value) {
    const current = runs[run].dimensions;
    const shared = (/** @type {number} */ index) =>
      Object.keys(LABELS).filter(
        (other) => other !== key && runs[index].dimensions[other] === current[other],
      ).length;
    const candidates = [...runs.keys()].filter(
      (index) => (runs[index].dimensions[key] ?? "") === value,
    );
    return candidates.sort((a, b) => shared(b) - shared(a))[0];
  }

  /**
   * A drop-down for one dimension of the runs; null if all have the same value.
   * @param {string} key
   * @param {string} label
   */
  function field(key, label) {
    const current = runs[run].dimensions;
    const isAlike = (/** @type {RunInfo} */ candidate) =>
      Object.keys(LABELS).every(
        (name) => name === "other" || candidate.dimensions[name] === current[name],
      );
    const candidates = key === "other" ? runs.filter(isAlike) : runs;
    const values = [...new Set(candidates.map((candidate) => candidate.dimensions[key] ?? ""))];
    if (values.length < 2) return null;
    const select = (/** @type {string} */ value) =>
      choose(
        key === "other"
          ? runs.indexOf(
              candidates.find((candidate) => (candidate.dimensions.other ?? "") === value),
            )
          : nearest(key, value),
      );
    const choices = values.map((value) => /** @type {[string, string]} */ ([value, value]));
    const { box, element } = dom.select(label, choices, current[key] ?? "", select);
    box.dataset.key = key;
    return element;
  }

  function drawChooser() {
    const root = document.getElementById("chooser");
    if (!root || runs.length < 2) return;
    const used = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
    const fields = Object.entries(LABELS).map(([key, label]) => field(key, label));
    const text = `Showing ${dom.shown(runs[run].title)}, one of ${runs.length} runs`;
    root.replaceChildren(
      ...fields.filter(Boolean),
      dom.make("p", { class: "soft small", role: "status", text }),
    );
    // The drop-down that was used has been replaced by a new one.
    if (used) /** @type {any} */ (root.querySelector(`[data-key="${used}"]`))?.focus();
  }

  function start() {
    document.body.classList.add("alive");
    const [part, number] = location.hash.slice(1).split("/");
    if (Number(number) >= 0 && Number(number) < runs.length) run = Math.floor(Number(number));
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => show(index));
      tab.addEventListener("keydown", (event) => {
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        const indices = offered();
        const next = (indices.indexOf(index) + step + indices.length) % indices.length;
        show(indices[next], true);
      });
    });
    for (const button of all("[data-choose]"))
      button.addEventListener("click", () => choose(Number(button.dataset.choose)));
    drawChooser();
    show(
      Math.max(
        panels.findIndex((panel) => panel.id === part),
        0,
      ),
    );
    document.body.dataset.ready = String(Math.round(performance.now()));
  }

  start();
  return { choose };
})();
