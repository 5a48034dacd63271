// @ts-check
// Words coloured by weight. Long texts are cut into pieces, drawn only when they come into view; of
// very long ones, the words beyond the first are made on request.
const heatmap = (() => {
  "use strict";
  const AGAINST = "orange is negative"; // as attnaudit.core.heat_colour
  const PIECE = 120; // words
  const AT_ONCE = 20 * PIECE; // words of a text that are made at once
  const PARTS = ["first text", "second text"];

  /**
   * The pieces of a text, each filled by draw(n) for its words, from the first up to count.
   * @param {number} count
   * @param {(n: number) => HTMLElement} draw
   * @param {number[] | null} [pair] per word 0 or 1: the text of a pair it is in
   * @param {number} [first]
   */
  function pieces(count, draw, pair = null, first = 0) {
    const out = [];
    for (let start = first; start < count; start += PIECE) {
      const piece = dom.make("span", { class: count > PIECE ? "piece" : "whole" });
      for (let n = start; n < Math.min(start + PIECE, count); n += 1) {
        if (pair && (n === 0 || pair[n] !== pair[n - 1]))
          piece.append(dom.make("span", { class: "part", text: PARTS[pair[n]] }));
        piece.append(draw(n), " ");
      }
      out.push(piece);
    }
    return out;
  }

  /**
   * Says how many words of a long text are shown, with a button for more.
   * @param {number} shown
   * @param {number} count
   * @param {() => void} more
   */
  function rest(shown, count, more) {
    const text = `${shown.toLocaleString("en")} of ${count.toLocaleString("en")} words are shown. `;
    const next = Math.min(AT_ONCE, count - shown).toLocaleString("en");
    const button = dom.button(`Show ${next} more`, more, { class: "plain" });
    return dom.make("p", { class: "rest soft", dir: "ltr" }, text, button);
  }

  /** @param {number | null} weight */
  function weightText(weight) {
    if (weight === null) return "–";
    return Math.abs(weight) < 10 ? weight.toFixed(3) : weight.toPrecision(3);
  }

  /**
   * How dark each word is: 0 to 1, relative to the largest weight of the text. Negative weights
   * count by their size and have another colour. The darkest shade stands for at least three times
   * the mean, so that
   * weights that are all alike look pale, not strong.
   * @param {(number | null)[]} weights
   */
  function shades(weights) {
    const sizes = weights.map((weight) => Math.abs(weight ?? 0));
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const least = Math.min(3, sizes.length) * mean;
    const top = sizes.reduce((most, size) => Math.max(most, size), least) || 1;
    return sizes.map((size) => size / top);
  }

  /**
   * What the shades of these weights mean.
   * @param {(number | null)[]} weights
   */
  const shadeText = (weights) =>
    weights.some((weight) => weight < 0) ? `darker is more, ${AGAINST}` : "darker is more";

  /**
   * The words in the colours of their weights; evidence is underlined. onPoint(n) is called for
   * the word under the pointer or, with the arrow keys, the current one.
   * @param {{tokens: string[], weights: (number | null)[], evidence: number[] | null,
   *   pair: number[] | null, name: string, withNumbers: boolean,
   *   onPoint: (n: number) => void}} options
   */
  function create({ tokens, weights, evidence, pair, name, withNumbers, onPoint }) {
    const isEvidence = new Set(evidence || []);
    const shade = shades(weights);
    /** @type {HTMLElement[]} */
    const words = [];
    const draw = (/** @type {number} */ n) => {
      const classes = `w${isEvidence.has(n) ? " evidence" : ""}${weights[n] < 0 ? " against" : ""}`;
      const element = dom.make("span", { class: classes }, dom.word(tokens[n]));
      element.style.setProperty("--s", shade[n].toFixed(3));
      element.dataset.n = String(n);
      if (withNumbers)
        element.append(dom.make("span", { class: "n", text: weightText(weights[n]) }));
      words[n] = element;
      return element;
    };
    const element = dom.make("div", {
      class: "heatmap",
      dir: "auto",
      tabindex: "0",
      role: "group",
      "aria-label": `${name}: ${tokens.length} words. Arrow keys read their weights.`,
    });
    const drawMore = () => {
      const start = words.length;
      const end = Math.min(start + AT_ONCE, tokens.length);
      element.querySelector(".rest")?.remove();
      element.append(...pieces(end, draw, pair, start));
      if (end < tokens.length) element.append(rest(end, tokens.length, drawMore));
    };
    drawMore();
    let current = -1;
    const point = (/** @type {number} */ n) => {
      if (n < 0 || n >= words.length || n === current) return;
      words[current]?.classList.remove("current");
      current = n;
      words[n].classList.add("current");
      onPoint(n);
    };
    element.addEventListener("pointerover", (event) => {
      /** @type {HTMLElement | null} */
      const over = /** @type {Element} */ (event.target).closest(".w");
      if (over) point(Number(over.dataset.n));
    });
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    element.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      point(Math.min(Math.max(current + step, 0), words.length - 1));
      words[current]?.scrollIntoView({ block: "nearest" });
    });
    return { element };
  }

  return { AGAINST, PARTS, create, pieces, shadeText, shades };
})();
