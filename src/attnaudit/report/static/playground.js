// @ts-check
// Move the attention by hand and see what the model would have predicted. Only for examples with
// a readout: then the output is a weighted sum.
const playground = (() => {
  "use strict";
  const START = 0.01; // of ε
  const [LEAST, MOST] = [-3, Math.log10(0.5)]; // of log10 ε
  /** @type {[string, string][]} */
  const SHARES = [
    ["1", "all of it"],
    ["0.5", "half of it"],
    ["0.1", "a tenth of it"],
  ];
  const HELP =
    "Drag a word onto another to carry its attention there. Or click a word and set its weight; " +
    "the others share the rest as before. Keys: ← → go from word to word, ↑ ↓ change the weight " +
    "(with Shift finely), Enter picks up and drops, Esc lets go.";
  const FIXED = " With more than two classes ε is fixed: the stored point is shown.";

  /** @param {number} value */
  const shortNumber = (value) =>
    (value < 0.1 ? value.toPrecision(2) : value.toFixed(2)).replace(/0+$/, "");

  /**
   * @param {Example} example
   * @param {string[]} names of the classes
   * @param {{onChange?: (state: PlayState) => void, simple?: boolean}} [options] onChange: called
   *   after every move; simple: without the help text
   */
  function create(example, names, { onChange = () => {}, simple = false } = {}) {
    const start = distributions.renormalise(example.attention());
    const before = distributions.probs(start, example.readout);
    const words = example.tokens.length;
    const isBinary = example.candidates.length === 2;
    const result = outcome.create(example.candidates.map((c) => names[c] ?? String(c)));
    const note = dom.make("p", { class: "note", role: "status" });
    let alpha = start.slice();
    /** @type {number[] | null} */
    let preview = null; // the attention while a word is being carried
    let epsilon = START;
    let isFurthest = false; // is the furthest attention on show?

    const share = dom.select("Carry", SHARES, "1", () => {});
    const carry = (/** @type {{from: number, to: number}} */ { from, to }) =>
      distributions.moved(alpha, from, to, alpha[from] * Number(share.box.value));
    const field = wordField.create(example, {
      weights: alpha,
      preview: (move) => {
        preview = move && carry(move);
        draw();
      },
      commit: (move, text) => set(carry(move), text),
      lift: (word, change) => {
        const wanted = Math.min(Math.max(alpha[word] + change, 0), 1);
        set(distributions.withWeight(alpha, word, wanted));
      },
      onSelect: () => weight.show(),
    });
    const weight = weightControl(
      () => example.tokens[field.selected()],
      () => (preview || alpha)[field.selected()],
      (value) => set(distributions.withWeight(alpha, field.selected(), value)),
    );

    /**
     * @param {number[]} next
     * @param {string} [text]
     */
    function set(next, text = "") {
      alpha = next;
      preview = null;
      isFurthest = false;
      note.textContent = text;
      draw();
    }

    let isWaiting = false;
    function draw() {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        drawNow();
      });
    }

    function drawNow() {
      const shown = preview || alpha;
      const now = distributions.probs(shown, example.readout);
      const jsd = distributions.jsd(shown, start);
      const tvd = distributions.tvd(before, now);
      field.show(shown);
      result.show(before, now, jsd);
      weight.show();
      onChange({ alpha: shown, before, now, jsd, tvd, done: preview === null });
    }

    function furthest() {
      if (!isBinary) {
        set(distributions.renormalise(example.furthest()), storedText(example));
        return;
      }
      const best = exact.furthest(start, example.readout, epsilon);
      const within = `moves the prediction by at most ε = ${shortNumber(epsilon)}`;
      const text =
        best.jsd > 0
          ? `Exact: no attention that ${within} is further than ${dom.number(best.jsd)}.`
          : `No other attention ${within}.`;
      set(best.alpha, text);
      isFurthest = true;
    }

    function flip() {
      const smallest = exact.smallestFlip(start, example.readout);
      const left = smallest && distributions.without(start, smallest.items);
      if (!left) {
        note.textContent = "No removal of words flips this decision.";
        return;
      }
      const counted = `${smallest.size} of ${words} ${words === 1 ? "word" : "words"}`;
      set(left, `Without the attention on ${counted} the decision flips; no fewer will do.`);
    }

    const tolerance = toleranceControl(!isBinary, (value) => {
      epsilon = value;
      if (isFurthest) furthest();
    });
    const uniform = () => set(distributions.uniform(words), "Every word has the same weight.");
    const permute = () => {
      const permuted = distributions.permuted(start, () => Math.random());
      set(permuted, "The same weights in a random order.");
    };
    const element = dom.make(
      "div",
      { class: "playground" },
      field.element,
      result.element,
      dom.make(
        "div",
        { class: "buttons", role: "group", "aria-label": "ready-made attentions" },
        dom.button("Original", () => set(start.slice())),
        dom.button("Uniform", uniform),
        dom.button("Permute", permute),
        isBinary || example.furthest ? dom.button("Furthest with the same answer", furthest) : null,
        dom.button("Smallest removal that flips", flip),
      ),
      note,
      dom.make("div", { class: "controls" }, weight.element, share.element, tolerance),
      simple ? null : dom.make("p", { class: "soft small", text: HELP + (isBinary ? "" : FIXED) }),
    );
    drawNow();
    return { element, set };
  }

  /**
   * What is known of the stored furthest attention.
   * @param {Example} example
   */
  const storedText = (example) =>
    example.exact
      ? `Found in Python for ε = ${START}, and certified: no attention within ε is further.`
      : `Found in Python for ε = ${START}: a bound, not the true maximum. ` +
        `No attention within ε is further than ${dom.number(example.upper)}.`;

  /**
   * A slider and a box for the weight of the selected word.
   * @param {() => string} token
   * @param {() => number} value
   * @param {(weight: number) => void} onChange
   */
  function weightControl(token, value, onChange) {
    const range = { min: "0", max: "1" };
    const box = dom.make("input", {
      type: "number",
      ...range,
      step: "0.01",
      inputmode: "decimal",
    });
    const slider = dom.make("input", {
      type: "range",
      ...range,
      step: "0.001",
      "aria-label": "weight of the chosen word",
    });
    const chosen = dom.make("span", { class: "chosen" });
    const change = (/** @type {string} */ text) => {
      const weight = Math.min(Math.max(Number(text), 0), 1);
      if (text !== "" && Number.isFinite(weight)) onChange(weight);
    };
    box.addEventListener("change", () => change(box.value));
    slider.addEventListener("input", () => change(slider.value));

    function show() {
      chosen.replaceChildren("Weight of ", dom.word(token().slice(0, 40)));
      if (document.activeElement !== box) box.value = value().toFixed(3);
      slider.value = String(value());
    }

    const inputs = dom.make("span", { class: "pair" }, slider, box);
    return { element: dom.make("label", { class: "field weight" }, chosen, inputs), show };
  }

  /**
   * A slider for ε.
   * @param {boolean} disabled
   * @param {(epsilon: number) => void} onChange
   */
  function toleranceControl(disabled, onChange) {
    const output = dom.make("output", { text: shortNumber(START) });
    const slider = dom.make("input", {
      type: "range",
      min: String(LEAST),
      max: String(MOST),
      step: "0.01",
      value: String(Math.log10(START)),
      disabled,
      "aria-label": "ε, what counts as the same answer",
    });
    slider.addEventListener("input", () => {
      const epsilon = 10 ** Number(slider.value);
      output.textContent = shortNumber(epsilon);
      onChange(epsilon);
    });
    const text = dom.make("span", {}, "ε, the same answer: TVD up to ", output);
    return dom.make("label", { class: "field" }, text, slider);
  }

  return { create };
})();
