// @ts-check
/** Flips without the top word and without a random one, as a 2×2 table. @type {Chart} */
const flipsChart = {
  id: "flips",
  title: "Does the decision flip?",
  caption:
    "Without the most attended word, and without a random other one; shares of the examples.",
  has: (data) => data.flips?.length,
  table(data, view) {
    const line = data.flips.find((flips) => flips.class === view.group);
    if (!line) return null;
    const share = (/** @type {string} */ name) =>
      dom.make("td", { class: "share", text: dom.percent(line[name]) });
    const head = (/** @type {string} */ scope, /** @type {string} */ text) =>
      dom.make("th", { scope, text });
    const element = dom.make(
      "table",
      { class: "flips" },
      dom.make(
        "thead",
        {},
        dom.make(
          "tr",
          {},
          dom.make("td"),
          head("col", "flips without a random word"),
          head("col", "does not"),
        ),
      ),
      dom.make(
        "tbody",
        {},
        dom.make(
          "tr",
          {},
          head("row", "flips without the top word"),
          share("both"),
          share("only_top"),
        ),
        dom.make("tr", {}, head("row", "does not"), share("only_random"), share("neither")),
      ),
    );
    return { rows: [line], element };
  },
};
