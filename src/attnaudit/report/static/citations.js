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

  /** A probability that would be rounded to 0 is said to be small. @param {number | null} value */
  const probability = (value) => (value && value < 0.0005 ? "under 0.001" : number(value));

  /**
   * Shade cards, or words, by their scores: the largest is darkest, 0 and less are not shaded.
   * @param {HTMLElement[]} cards
   * @param {(number | null)[]} scores
   */
  function shade(cards, scores) {
    const known = scores.map((score) => (score === null ? -Infinity : score));
    const largest = Math.max(...known);
    cards.forEach((card, index) => {
      const score = known[index];
      const part = largest > 0 && score > 0 ? score / largest : 0;
      card.style.setProperty("--shade", (0.45 * part).toFixed(3));
      card.classList.toggle("top", score === largest && Number.isFinite(largest));
      const label = card.querySelector(".n");
      if (label) label.textContent = number(scores[index]);
      else card.title = number(scores[index]);
    });
  }

  /**
   * @param {any} answer
   * @param {number} source
   * @param {HTMLElement[]} [words] of the source, to shade each by itself
   */
  const sourceCard = (answer, source, words) =>
    make(
      "div",
      { class: answer.words ? "source-card with-words" : "source-card" },
      make(
        "span",
        {},
        answer.gold && answer.gold[source] ? "★ " : "",
        ...(words ? words.flatMap((word) => [word, " "]) : [shown(answer.sources[source])]),
      ),
      make("span", { class: "n" }),
    );

  /** @param {string} text */
  const wordSpan = (text) => make("span", { class: "cited-word", text: shown(text) });

  /**
   * The words of the sources, each a span to shade, in one card per source.
   * @param {any} answer
   * @returns {[HTMLElement[], HTMLElement[]]} the cards, and the words in their order
   */
  function wordCards(answer) {
    const words = answer.sources.map(wordSpan);
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

  /**
   * The scores of every measure, one line per source or word.
   * @param {string} kind
   * @param {string[]} labels
   * @param {Record<string, (number | null)[]>} scores
   */
  function table(kind, labels, scores) {
    const names = Object.keys(measures).filter((name) => name in scores);
    const head = make(
      "tr",
      {},
      make("th", { text: kind }),
      ...names.map((name) => make("th", { text: measures[name] })),
    );
    const rows = labels.map((label, item) =>
      make(
        "tr",
        {},
        make("th", { text: label }),
        ...names.map((name) => make("td", { class: "n", text: number(scores[name][item]) })),
      ),
    );
    const body = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    return make("div", { class: "scroll" }, body);
  }

  /** The scores of all measures: of items and, for both levels, of words. @param {any} answer */
  function tables(answer) {
    const star = (/** @type {number} */ item) => (answer.gold && answer.gold[item] ? " ★" : "");
    const labels = answer.sources.map((/** @type {string} */ text, /** @type {number} */ item) =>
      answer.source_of_word ? `${shown(text)}${star(item)}` : `${item + 1}${star(item)}`,
    );
    const found = [table(answer.source_of_word ? "word" : "source", labels, answer.scores)];
    if (answer.words) {
      const texts = answer.words.texts.map(
        (/** @type {string} */ text, /** @type {number} */ n) => {
          const source = answer.words.source[n];
          return `${source + 1}${star(source)} ${shown(text)}`;
        },
      );
      found.push(table("word", texts, answer.words.scores));
    }
    return make(
      "details",
      { class: "scores" },
      make("summary", { text: "All measures" }),
      ...found,
    );
  }

  /**
   * The sources as cards, and the levels that are shaded: the elements, and their scores by name
   * and per token of the answer.
   * @param {any} answer
   * @returns {[HTMLElement[], {elements: HTMLElement[], scores: any, perToken: any}[]]}
   */
  function levels(answer) {
    const own = { scores: answer.scores, perToken: answer.per_token };
    if (answer.source_of_word) {
      const [cards, words] = wordCards(answer);
      return [cards, [{ elements: words, ...own }]];
    }
    const words = answer.words;
    /** @type {HTMLElement[]} */
    const spans = words ? words.texts.map(wordSpan) : [];
    const cards = answer.sources.map((/** @type {string} */ _, /** @type {number} */ source) =>
      words
        ? sourceCard(
            answer,
            source,
            spans.filter((_, n) => words.source[n] === source),
          )
        : sourceCard(answer, source),
    );
    const shaded = [{ elements: cards, ...own }];
    if (words) shaded.push({ elements: spans, scores: words.scores, perToken: words.per_token });
    return [cards, shaded];
  }

  /** @param {any} answer */
  function draw(answer) {
    const [cards, shaded] = levels(answer);
    const reset = () =>
      shaded.forEach(({ elements, scores }) =>
        shade(elements, scores[state.measure] ?? new Array(elements.length).fill(null)),
      );
    const words = answer.answer.map((/** @type {string} */ token, /** @type {number} */ place) => {
      const show = () =>
        shaded.forEach(({ elements, perToken }) => shade(elements, perToken[place]));
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
    const [open, closed] = [answer.open_book, answer.closed_book].map(probability);
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
      tables(answer),
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
