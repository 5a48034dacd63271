// @ts-check
// The playground of a model that cannot be computed in the browser: moves of the attention whose
// predictions the audit has stored. Nothing is interpolated; a move that is not stored is not made.
const storedPlayground = (() => {
  "use strict";
  const HELP =
    "Each number is the model’s own output under the attention shown, computed in the audit: " +
    "nothing is interpolated, and shown values are rounded to 0.001. Every move starts from the " +
    "original attention and is made in every row (head) at once; weights on special tokens stay, " +
    "except under the furthest attention. ";
  const KEYS =
    "Drag a word onto another to carry its attention there (on a touch screen, tap it first), or " +
    "click a word and use the buttons. " +
    "Keys: ← → go from word to word, Enter picks up and drops, Esc lets go.";

  /** @type {(kind: string, word?: number, to?: number) => string} */
  const keyOf = (kind, word = -1, to = -1) => `${kind} ${word} ${to}`;

  /**
   * The weights of one row after a move: what is on words stays on words.
   * @param {number[]} row
   * @param {Move} move
   * @param {number[]} order words by falling attention
   * @returns {number[]}
   */
  function movedRow(row, { kind, word, to }, order) {
    if (kind === "carry") return distributions.moved(row, word, to, row[word]);
    const mass = row.reduce((total, weight) => total + weight, 0);
    if (kind === "uniform") return row.map(() => mass / row.length);
    if (kind === "only") return row.map((_, n) => (n === word ? mass : 0));
    const gone = new Set(kind === "top" ? order.slice(0, word) : [word]);
    const left = distributions.without(row, [...gone]);
    const even = 1 / (row.length - gone.size);
    return row.map((_, n) => (gone.has(n) ? 0 : mass * (left ? left[n] : even)));
  }

  /** @param {number[][]} rows */
  const meanOf = (rows) =>
    rows[0].map((_, n) => rows.reduce((total, row) => total + row[n], 0) / rows.length);

  /**
   * @param {Example} example with moves
   * @param {string[]} names of the classes
   */
  function create(example, names) {
    const byKey = new Map(
      example.moves.map((move) => [keyOf(move.kind, move.word, move.to), move]),
    );
    const rows = Array.from({ length: example.rows }, (_, row) => example.attention(row));
    const start = meanOf(rows);
    const order = start.map((_, n) => n).sort((a, b) => start[b] - start[a] || a - b);
    const before = example.candidates.map((c) => example.probs[c]);
    const carried = new Set(
      example.moves.filter(({ kind }) => kind === "carry").map(({ word }) => word),
    );
    const result = outcome.create(example.candidates.map((c) => names[c] ?? String(c)));
    const note = dom.make("p", { class: "note", role: "status" });
    const words = example.tokens.length;
    let shuffles = 0; // shown so far

    /**
     * The mean weights over rows after a move.
     * @param {Move} move
     */
    function weightsAfter(move) {
      if (move.kind === "shuffle") return example.shuffled[move.word];
      if (move.kind === "furthest") return example.furthest();
      return meanOf(rows.map((row) => movedRow(row, move, order)));
    }

    /** @type {Move | null} */
    let wanted = null;
    let isWaiting = false;
    /**
     * Show the prediction under a move, or under the original attention, in the next frame.
     * @param {Move | null} move
     */
    function draw(move) {
      wanted = move;
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        drawNow(wanted);
      });
    }

    /** @param {Move | null} move */
    function drawNow(move) {
      field.show(move ? weightsAfter(move) : start);
      result.show(before, move ? move.probs : before, move ? move.jsd : 0);
    }

    /**
     * @param {Move | null | undefined} move undefined if it is not stored
     * @param {string} text
     */
    function make(move, text) {
      note.textContent = move === undefined ? NOT_STORED : text;
      top?.show(move ?? null);
      draw(move ?? null);
    }

    const top = topControl(example, words, make);

    const short = (/** @type {number} */ n) => `“${dom.shown(example.tokens[n].slice(0, 30))}”`;
    const field = wordField.create(example, {
      weights: start,
      canCarry: (from) => carried.has(from),
      preview: (move) => draw((move && byKey.get(keyOf("carry", move.from, move.to))) ?? null),
      commit: (move, text) => make(byKey.get(keyOf("carry", move.from, move.to)), text),
      onSelect: () => offer(),
    });
    const without = dom.button("", () => {
      const n = field.selected();
      make(byKey.get(keyOf("without", n)), `Without the attention on ${short(n)}.`);
    });
    const only = dom.button("", () => {
      const n = field.selected();
      make(byKey.get(keyOf("only", n)), `All the attention on ${short(n)}.`);
    });

    /** Say what can be done with the selected word. */
    function offer() {
      const n = field.selected();
      without.textContent = `Nothing on ${short(n)}`;
      only.textContent = `All on ${short(n)}`;
      without.disabled = !byKey.has(keyOf("without", n));
      only.disabled = !byKey.has(keyOf("only", n));
    }

    const all = example.moves.filter(({ kind }) => kind === "shuffle").length;
    const shuffle = () => {
      const number = shuffles % all;
      shuffles += 1;
      const counted = `${number + 1} of ${all}`;
      const text = `The same weights in a random order, each row on its own (${counted}).`;
      make(byKey.get(keyOf("shuffle", number)), text);
    };
    const furthest = byKey.get(keyOf("furthest"));
    const ready = [
      dom.button("Original", () => make(null, "")),
      dom.button("Uniform", () =>
        make(byKey.get(keyOf("uniform")), "Every word has the same weight."),
      ),
      all ? dom.button("Shuffle", shuffle) : null,
      furthest && example.furthest
        ? dom.button("Furthest with the same answer", () =>
            make(furthest, "The furthest attention that the audit found."),
          )
        : null,
      without,
      only,
    ];
    const element = dom.make(
      "div",
      { class: "playground stored" },
      field.element,
      result.element,
      dom.make(
        "div",
        { class: "buttons", role: "group", "aria-label": "stored attentions" },
        ...ready,
      ),
      note,
      top?.element,
      dom.make("p", { class: "soft small", text: HELP + KEYS + limits(carried.size, words) }),
    );
    offer();
    drawNow(null);
    return { element };
  }

  const NOT_STORED = "This move is not stored: the original attention is shown.";

  /**
   * @param {number} movable
   * @param {number} words
   */
  const limits = (movable, words) =>
    movable < words
      ? ` Of ${words.toLocaleString("en")} words, the ${movable} with the most attention can be ` +
        "carried (they have a frame)."
      : "";

  /**
   * A slider: without the words that have the most attention. Null if no such move is stored.
   * @param {Example} example
   * @param {number} words
   * @param {(move: Move | null, text: string) => void} onChange
   */
  function topControl(example, words, onChange) {
    const steps = example.moves
      .filter(({ kind }) => kind === "top")
      .sort((a, b) => a.word - b.word);
    if (!steps.length) return null;
    const output = dom.make("output", { text: "0" });
    const slider = dom.make("input", {
      type: "range",
      min: "0",
      max: String(steps.length),
      step: "1",
      value: "0",
      "aria-label": "how many of the words with the most attention are taken out",
    });
    slider.addEventListener("input", () => {
      const move = steps[Number(slider.value) - 1] ?? null;
      const counted = move && `${move.word} of ${words}`;
      onChange(move, move ? `Without the ${counted} words that have the most attention.` : "");
    });
    const text = dom.make("span", {}, "Top words taken out: ", output, ` of ${words}`);
    /** @param {Move | null} move of any kind: only its own moves leave the slider off its start */
    function show(move) {
      const step = steps.indexOf(move) + 1;
      slider.value = String(step);
      output.textContent = String(step ? move.word : 0);
    }

    const label = dom.make("label", { class: "field" }, text, slider);
    return { element: dom.make("div", { class: "controls" }, label), show };
  }

  return { create };
})();
