// Words coloured by weight. Long texts are cut into pieces that the browser draws only when they come into view.
const heatmap = (() => {
  "use strict";
  const PIECE = 120;
  const PARTS = ["first text", "second text"];

  /** The pieces of a text, each filled by draw(n) for its words; pair: for each word 0 or 1, the text of a pair it is in. */
  function pieces(count, draw, pair = null) {
    const out = [];
    for (let start = 0; start < count; start += PIECE) {
      const piece = dom.make("span", { class: count > PIECE ? "piece" : "whole" });
      for (let n = start; n < Math.min(start + PIECE, count); n += 1) {
        if (pair && (n === 0 || pair[n] !== pair[n - 1])) piece.append(dom.make("span", { class: "part", text: PARTS[pair[n]] }));
        piece.append(draw(n), " ");
      }
      out.push(piece);
    }
    return out;
  }

  const figure = (weight) => (weight === null ? "–" : Math.abs(weight) < 10 ? weight.toFixed(3) : weight.toPrecision(3));

  /**
   * How dark: 0 to 1, relative to the largest weight of the text. Below 0 counts by its size. The darkest is three times the mean at the
   * least, so that weights that are all alike look pale, not strong.
   */
  function shades(weights) {
    const sizes = weights.map((weight) => Math.abs(weight ?? 0));
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const top = sizes.reduce((most, size) => Math.max(most, size), Math.min(3, sizes.length) * mean) || 1;
    return sizes.map((size) => size / top);
  }

  /**
   * {element}: the words in the colours of their weights; evidence underlined. onPoint(n) for the word that is pointed at or, with the
   * arrow keys, gone to.
   */
  function create({ tokens, weights, evidence, pair, name, withNumbers, onPoint }) {
    const marked = new Set(evidence || []);
    const shade = shades(weights);
    const words = [];
    const draw = (n) => {
      const element = dom.make("span", { class: marked.has(n) ? "w evidence" : "w" }, dom.word(tokens[n]));
      element.style.setProperty("--s", shade[n].toFixed(3));
      element.dataset.n = n;
      if (withNumbers) element.append(dom.make("span", { class: "n", text: figure(weights[n]) }));
      words[n] = element;
      return element;
    };
    const element = dom.make("div", {
      class: "heatmap", dir: "auto", tabindex: "0", role: "group",
      "aria-label": `${name}: ${tokens.length} words. Arrow keys read their weights.`,
    }, ...pieces(tokens.length, draw, pair));
    let current = -1;
    const point = (n) => {
      if (n < 0 || n >= tokens.length || n === current) return;
      words[current]?.classList.remove("current");
      current = n;
      words[n].classList.add("current");
      onPoint(n);
    };
    element.addEventListener("pointerover", (event) => {
      const over = event.target.closest(".w");
      if (over) point(Number(over.dataset.n));
    });
    element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      point(Math.min(Math.max(current + step, 0), tokens.length - 1));
      words[current].scrollIntoView({ block: "nearest" });
    });
    return { element };
  }

  return { PARTS, create, pieces, shades };
})();
