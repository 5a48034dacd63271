// @ts-check
// Answers with their sources as cards, shaded by one measure; texts go in as text only.
(() => {
  "use strict";
  const { make, shown } = dom;
  /** @param {string} id */
  const block = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
  const answers = block("answers");
  /** @type {Record<string, string>} */
  const measures = block("measures");
  const WORDS = {
    known_without: "known without the sources",
    unsupported: "not from the sources, and not known",
    only_together: "used several sources, only together",
    used_cited: "used the cited source",
    used_other: "used another source",
  };
  const state = { measure: "attention", outcome: "" };

  /** @param {number | null} value */
  const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));

  /**
   * Shade cards by their scores: the largest is darkest, 0 and less are not shaded.
   * @param {HTMLElement[]} cards
   * @param {(number | null)[]} scores
   */
  function shade(cards, scores) {
    const known = scores.map((score) => (score === null ? -Infinity : score));
    const largest = Math.max(...known);
    cards.forEach((card, index) => {
      const score = known[index];
      const part = largest > 0 && score > 0 ? score / largest : 0;
      card.style.background = `rgb(var(--heat) / ${(0.45 * part).toFixed(3)})`;
      card.classList.toggle("top", score === largest && Number.isFinite(largest));
      const label = card.querySelector(".n");
      if (label) label.textContent = number(scores[index]);
      else card.title = number(scores[index]);
    });
  }

  /**
   * @param {any} answer
   * @param {number} source
   */
  const sourceCard = (answer, source) =>
    make(
      "div",
      { class: "source-card" },
      make("span", {
        text: `${answer.gold && answer.gold[source] ? "★ " : ""}${shown(answer.sources[source])}`,
      }),
      make("span", { class: "n" }),
    );

  /**
   * The words of the sources, each a span to shade, in one card per source.
   * @param {any} answer
   * @returns {[HTMLElement[], HTMLElement[]]} the cards, and the words in their order
   */
  function wordCards(answer) {
    const words = answer.sources.map((/** @type {string} */ word) =>
      make("span", { class: "cited-word", text: shown(word) }),
    );
    /** @type {Map<number, HTMLElement>} */
    const cards = new Map();
    words.forEach((/** @type {HTMLElement} */ word, /** @type {number} */ index) => {
      const source = answer.source_of_word[index];
      const card = cards.get(source) ?? make("div", { class: "source-card" }, make("span", {}));
      const text = /** @type {HTMLElement} */ (card.firstChild);
      if (!cards.has(source) && answer.gold && answer.gold[index]) text.append("★ ");
      text.append(word, " ");
      cards.set(source, card);
    });
    return [[...cards.values()], words];
  }

  /** The scores of every measure, one line per source. @param {any} answer */
  function table(answer) {
    const names = Object.keys(measures).filter((name) => name in answer.scores);
    const head = make(
      "tr",
      {},
      make("th", { text: answer.source_of_word ? "word" : "source" }),
      ...names.map((name) => make("th", { text: measures[name] })),
    );
    const label = (/** @type {number} */ source) => {
      const name = answer.source_of_word ? shown(answer.sources[source]) : `${source + 1}`;
      return answer.gold && answer.gold[source] ? `${name} ★` : name;
    };
    const rows = answer.sources.map((/** @type {string} */ _, /** @type {number} */ source) =>
      make(
        "tr",
        {},
        make("th", { text: label(source) }),
        ...names.map((name) =>
          make("td", { class: "n", text: number(answer.scores[name][source]) }),
        ),
      ),
    );
    const body = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    const summary = make("summary", { text: "All measures" });
    return make("details", { class: "scores" }, summary, make("div", { class: "scroll" }, body));
  }

  /** @param {any} answer */
  function draw(answer) {
    const all = answer.sources.map((/** @type {string} */ _, /** @type {number} */ n) => n);
    const [cards, items] = answer.source_of_word
      ? wordCards(answer)
      : Array(2).fill(all.map((/** @type {number} */ source) => sourceCard(answer, source)));
    const reset = () =>
      shade(items, answer.scores[state.measure] ?? new Array(all.length).fill(null));
    const words = answer.answer.map((/** @type {string} */ token, /** @type {number} */ place) => {
      const show = () => shade(items, answer.per_token[place]);
      const on = { mouseenter: show, focus: show, mouseleave: reset, blur: reset };
      return make("span", { text: shown(token), tabindex: "0", on });
    });
    const orders = make(
      "div",
      { class: "orders" },
      make("div", {}, make("h4", { text: `As given: ${measures[state.measure]}` }), ...cards),
    );
    if (answer.order && answer.scores.attention_shuffled) {
      const moved = answer.order.map((/** @type {number} */ source) => sourceCard(answer, source));
      const heading = make("h4", { text: "In another order: attention, mean of all heads" });
      orders.append(make("div", {}, heading, ...moved));
      const scores = answer.order.map(
        (/** @type {number} */ source) => answer.scores.attention_shuffled[source],
      );
      shade(moved, scores);
    }
    reset();
    const outcome = /** @type {keyof typeof WORDS} */ (answer.outcome);
    const became = outcome
      ? [make("b", { class: `o-${outcome}`, text: WORDS[outcome] }), " · "]
      : [];
    const [open, closed] = [answer.open_book, answer.closed_book].map(number);
    const likely = `probability per token ${open} with the sources, ${closed} without`;
    return make(
      "article",
      { class: "cited-answer" },
      make("h3", { text: shown(answer.question) }),
      make("p", { class: "said" }, ...words),
      make(
        "p",
        { class: "small" },
        ...became,
        make("span", { class: "soft", text: `${likely} · ${shown(answer.id)}` }),
      ),
      orders,
      table(answer),
    );
  }

  function redraw() {
    const wanted = answers.filter(
      (/** @type {any} */ answer) => !state.outcome || answer.outcome === state.outcome,
    );
    document.getElementById("answers-body")?.replaceChildren(...wanted.map(draw));
  }

  /**
   * @param {string} label
   * @param {Record<string, string>} choices
   * @param {"measure" | "outcome"} key
   */
  function chooser(label, choices, key) {
    const options = Object.entries(choices).map(([value, text]) => make("option", { value, text }));
    const select = make("select", {}, ...options);
    select.value = state[key];
    select.addEventListener("change", () => {
      state[key] = select.value;
      redraw();
    });
    return make("label", {}, `${label} `, select);
  }

  document
    .getElementById("controls")
    ?.append(
      chooser("Shade by", measures, "measure"),
      chooser("Show", { "": "all answers", ...WORDS }, "outcome"),
    );
  redraw();
})();
