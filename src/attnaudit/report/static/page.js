// The frame of the page: which run is looked at, which part is open.
const page = (() => {
  "use strict";
  const NAMES = { dataset: "Dataset", encoder: "Encoder", scorer: "Scorer", projection: "Projection", seed: "Seed", other: "Run" };
  const runs = dom.json("runs");
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const panels = tabs.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
  const drawn = new Map(); // panel id -> run it was drawn for
  let run = 0, open = 0, played = null;

  const examplesOf = (at) => dom.json(`examples-${at}`) || { examples: [], rule: "" };
  const playable = (at) => examplesOf(at).examples.filter((each) => each.readout);

  /** A part without content is not offered. */
  const has = {
    overview: () => true,
    browse: () => browse.has(run, runs),
    examples: () => examplesOf(run).examples.length > 0,
    playground: () => playable(run).length > 0,
  };
  const offered = () => panels.flatMap((panel, at) => (has[panel.id]() ? [at] : []));

  const draw = {
    overview() {
      document.querySelectorAll("[data-run]").forEach((each) => { each.hidden = Number(each.dataset.run) !== run; });
      numbers.mount(document.querySelector(`[data-run="${run}"] .numbers`), dom.json(`tables-${run}`));
    },
    browse() { browse.mount(document.getElementById("browse-body"), run, runs); },
    examples() { examples.mount(document.getElementById("examples-body"), runs[run], examplesOf(run), play); },
    playground() { drawPlayground(); },
  };

  function drawPlayground() {
    const root = document.getElementById("playground-body");
    const all = playable(run);
    const chosen = all.find((each) => each.id === played) || all[0];
    const example = unpack.example(chosen);
    const name = (each) => `${each.id} · ${unpack.line(each).slice(0, 50)}`;
    const go = (step) => {
      played = all[(all.indexOf(chosen) + step + all.length) % all.length].id;
      drawPlayground();
    };
    const picked = dom.select("Example", all.map((each) => [each.id, name(each)]), chosen.id, (id) => { played = id; drawPlayground(); });
    root.replaceChildren(
      dom.make("div", { class: "controls" }, picked.element, dom.button("Previous", () => go(-1)), dom.button("Next", () => go(1))),
      example.query ? dom.make("p", { class: "query" }, "Asked: ", dom.word(example.query)) : "",
      playground.create(example, runs[run].classes).element);
  }

  function play(id) { played = id; drawn.delete("playground"); show(tabs.findIndex((tab) => tab.getAttribute("aria-controls") === "playground")); }

  function show(wanted, focus = false) {
    const there = offered();
    const at = there.includes(wanted) ? wanted : there[0];
    open = at;
    tabs.forEach((tab, n) => {
      tab.hidden = !there.includes(n);
      tab.setAttribute("aria-selected", String(n === at));
      tab.tabIndex = n === at ? 0 : -1;
      panels[n].hidden = n !== at;
    });
    if (focus) tabs[at].focus();
    const { id } = panels[at];
    if (drawn.get(id) !== run) { drawn.set(id, run); draw[id](); }
    // Not for the first view of the first part: the browser would scroll to it, past the title.
    const plain = at === 0 && run === 0 && !location.hash;
    if (!plain) try { history.replaceState(null, "", `#${id}${runs.length > 1 ? `/${run}` : ""}`); } catch { /* a frame may forbid it */ }
  }

  function choose(at) { run = at; played = null; drawChooser(); show(open); }

  /** Among the runs that have this value, the one that shares most of what was chosen before. */
  function nearest(name, value) {
    const now = runs[run].dimensions;
    const alike = (each) => Object.keys(NAMES).filter((key) => key !== name && each.dimensions[key] === now[key]).length;
    const having = runs.map((each, at) => [each, at]).filter(([each]) => (each.dimensions[name] ?? "") === value);
    return having.sort((a, b) => alike(b[0]) - alike(a[0]))[0][1];
  }

  function drawChooser() {
    const root = document.getElementById("chooser");
    if (!root || runs.length < 2) return;
    const now = runs[run].dimensions;
    const fields = Object.entries(NAMES).flatMap(([key, label]) => {
      const among = key === "other" ? runs.filter((each) => Object.keys(NAMES).every((name) => name === "other" || each.dimensions[name] === now[name])) : runs;
      const values = [...new Set(among.map((each) => each.dimensions[key] ?? ""))];
      if (values.length < 2) return [];
      const field = dom.select(label, values.map((value) => [value, value]), now[key] ?? "", (value) =>
        choose(key === "other" ? runs.indexOf(among.find((each) => (each.dimensions.other ?? "") === value)) : nearest(key, value)));
      field.box.dataset.key = key;
      return [field.element];
    });
    const used = document.activeElement?.dataset?.key;
    root.replaceChildren(...fields, dom.make("p", { class: "soft small", role: "status", text: `Showing ${dom.shown(runs[run].title)}, one of ${runs.length} runs` }));
    if (used) root.querySelector(`[data-key="${used}"]`)?.focus(); // the box that was used is a new one now
  }

  function start() {
    document.body.classList.add("alive");
    const [part, number] = location.hash.slice(1).split("/");
    if (Number(number) >= 0 && Number(number) < runs.length) run = Math.floor(Number(number));
    tabs.forEach((tab, at) => {
      tab.addEventListener("click", () => show(at));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const there = offered();
        if (step) { event.preventDefault(); show(there[(there.indexOf(at) + step + there.length) % there.length], true); }
      });
    });
    document.querySelectorAll("[data-choose]").forEach((each) => each.addEventListener("click", () => choose(Number(each.dataset.choose))));
    drawChooser();
    show(Math.max(panels.findIndex((panel) => panel.id === part), 0));
    document.body.dataset.ready = String(Math.round(performance.now()));
  }

  start();
  return { choose };
})();
