// Move the attention by hand and see what the model would have said. Only for examples with a readout: then it is a weighted sum.
const playground = (() => {
  "use strict";
  const START = 0.01, LEAST = -3, MOST = Math.log10(0.5);
  const SHARES = { 1: "all of it", 0.5: "half of it", 0.1: "a tenth of it" };

  /** {element, weights(), set(alpha)}; onChange({alpha, before, now, tvd, jsd}) after every move. */
  function create(example, names, { onChange = () => {}, simple = false } = {}) {
    const start = exact.renormalise(example.attention());
    const before = exact.probs(start, example.readout);
    const words = example.tokens.length;
    const two = example.candidates.length === 2;
    const result = outcome.create(example.candidates.map((c) => names[c] ?? String(c)));
    const note = dom.make("p", { class: "note", role: "status" });
    let alpha = start.slice(), held = null, epsilon = START, furthestShown = false;

    const field = wordField.create(example, {
      weights: () => alpha,
      share: () => Number(share.box.value),
      preview: (next) => { held = next; draw(); },
      commit: (next, text) => { held = null; set(next, text); },
      onSelect: drawWeight,
    });

    function set(next, text = "") {
      alpha = next;
      held = null;
      furthestShown = false;
      note.textContent = text;
      draw();
    }

    let waiting = false;
    function draw() {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; drawNow(); });
    }

    function drawNow() {
      const shown = held || alpha;
      const now = exact.probs(shown, example.readout);
      const jsd = exact.jsd(shown, start);
      field.show(shown);
      result.show(before, now, jsd);
      drawWeight();
      onChange({ alpha: shown, before, now, jsd, tvd: exact.tvd(before, now), done: held === null });
    }

    function furthest() {
      if (!two) {
        set(exact.renormalise(example.furthest()), example.exact
          ? `Found in Python for ε = ${START}, and certified: no attention within ε is further.`
          : `Found in Python for ε = ${START}: a bound, not the true maximum. No attention within ε is further than ${dom.number(example.upper)}.`);
        return;
      }
      const found = exact.furthest(start, example.readout, epsilon);
      set(found.alpha, found.jsd > 0
        ? `Exact: no attention that moves the prediction by at most ε = ${shortly(epsilon)} is further than ${dom.number(found.jsd)}.`
        : `No other attention moves the prediction by at most ε = ${shortly(epsilon)}.`);
      furthestShown = true;
    }

    function flip() {
      const found = exact.smallestFlip(start, example.readout);
      const left = found && exact.without(start, found.items);
      if (!left) { note.textContent = "No removal of words flips this decision."; return; }
      set(left, `Without the attention on ${found.size} of ${words} ${words === 1 ? "word" : "words"} the decision flips; no fewer will do.`);
    }

    const weight = dom.make("input", { type: "number", min: "0", max: "1", step: "0.01", inputmode: "decimal" });
    const slider = dom.make("input", { type: "range", min: "0", max: "1", step: "0.001", "aria-label": "weight of the chosen word" });
    const chosen = dom.make("span", { class: "chosen" });
    const typed = (value) => {
      const wanted = Math.min(Math.max(Number(value), 0), 1);
      if (value !== "" && Number.isFinite(wanted)) set(exact.withWeight(alpha, field.selected(), wanted));
    };
    weight.addEventListener("change", () => typed(weight.value));
    slider.addEventListener("input", () => typed(slider.value));
    function drawWeight() {
      const value = (held || alpha)[field.selected()];
      chosen.replaceChildren("Weight of ", dom.word(example.tokens[field.selected()].slice(0, 40)));
      if (document.activeElement !== weight) weight.value = value.toFixed(3);
      slider.value = value;
    }

    const told = dom.make("output", { text: shortly(epsilon) });
    const closeness = dom.make("input", { type: "range", min: String(LEAST), max: String(MOST), step: "0.01", value: String(Math.log10(START)),
      disabled: !two, "aria-label": "ε, what counts as the same answer", on: { input: (event) => {
        epsilon = 10 ** Number(event.target.value);
        told.textContent = shortly(epsilon);
        if (furthestShown) furthest();
      } } });
    const share = dom.select("Carry", Object.entries(SHARES).sort((a, b) => b[0] - a[0]), 1, () => {});
    const random = () => Math.random();
    const uniform = () => set(exact.uniform(words), "Every word the same weight.");
    const element = dom.make("div", { class: "playground" },
      field.element,
      result.element,
      dom.make("div", { class: "buttons", role: "group", "aria-label": "ready-made attentions" },
        dom.button("Original", () => set(start.slice())),
        dom.button("Uniform", uniform),
        dom.button("Permute", () => set(exact.permuted(start, random), "The same weights in a random order.")),
        two || example.furthest ? dom.button("Furthest with the same answer", furthest) : null,
        dom.button("Smallest removal that flips", flip)),
      note,
      dom.make("div", { class: "controls" },
        dom.make("label", { class: "field weight" }, chosen, dom.make("span", { class: "pair" }, slider, weight)),
        share.element,
        dom.make("label", { class: "field" }, dom.make("span", {}, "ε, the same answer: TVD up to ", told), closeness)),
      simple ? null : dom.make("p", { class: "soft small", text:
        "Drag a word onto another to carry its attention there. Or click a word and set its weight; the others share the rest as before. "
        + "Keys: ← → go from word to word, ↑ ↓ change the weight (with Shift finely), Enter picks up and drops, Esc lets go."
        + (two ? "" : " With more than two classes ε is fixed: the stored point is shown.") }));
    drawNow();
    return { element, set, weights: () => alpha.slice(), probs: () => exact.probs(alpha, example.readout) };
  }

  const shortly = (value) => (value < 0.1 ? value.toPrecision(2) : value.toFixed(2)).replace(/0+$/, "");

  return { create };
})();
