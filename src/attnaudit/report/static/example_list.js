// @ts-check
// The orders in which examples can be listed.
const exampleList = (() => {
  "use strict";

  /** @param {{label: number, predicted: number}} example */
  const isWrong = (example) => example.label >= 0 && example.label !== example.predicted;

  /** @param {unknown} value */
  const isKnown = (value) => value !== null && value !== undefined;

  /**
   * of: what it sorts by; null if that is not known of the example.
   * @type {Record<string, {text: string, of: (example: PackedExample) => any, down?: boolean}>}
   */
  const ORDERS = {
    jsd: { text: "furthest attention first", of: (example) => example.jsd, down: true },
    pinned: { text: "most pinned down first", of: (example) => example.jsd },
    tau: {
      text: "tau with gradient, lowest first",
      of: (example) => example.numbers.tau_gradient,
    },
    tau_loo: {
      text: "tau with leave-one-out, lowest first",
      of: (example) => example.numbers.tau_leave_one_out,
    },
    shuffled: {
      text: "least change when shuffled first",
      of: (example) => example.numbers.shuffled,
    },
    error: {
      text: "most confident error first",
      of: (example) => (isWrong(example) ? example.probs[example.predicted] : null),
      down: true,
    },
    long: { text: "longest first", of: (example) => example.tokens.length, down: true },
    short: { text: "shortest first", of: (example) => example.tokens.length },
    name: { text: "by name", of: (example) => example.id },
  };

  /**
   * A comparison for sort(). Examples without a value come last, in either direction.
   * @param {string} order
   */
  function compare(order) {
    const { of, down } = ORDERS[order];
    return (/** @type {PackedExample} */ a, /** @type {PackedExample} */ b) => {
      const [x, y] = [of(a), of(b)];
      if (!isKnown(x) || !isKnown(y)) return Number(isKnown(y)) - Number(isKnown(x));
      return (x < y ? -1 : Number(x > y)) * (down ? -1 : 1);
    };
  }

  /**
   * Key and text of the orders that some example has a value for; the first is the default.
   * @param {PackedExample[]} examples
   * @returns {[string, string][]}
   */
  const ordersFor = (examples) =>
    Object.entries(ORDERS)
      .filter(([, { of }]) => examples.some((example) => isKnown(of(example))))
      .map(([key, { text }]) => [key, text]);

  /**
   * @param {RunInfo} run
   * @param {number} c
   */
  const className = (run, c) => dom.shown(run.classes[c] ?? c);

  /**
   * The entry of an example in the list.
   * @param {RunInfo} run
   * @param {PackedExample} example
   * @param {boolean} isChosen
   * @param {(example: PackedExample) => void} choose
   */
  function entry(run, example, isChosen, choose) {
    const text = dom.shown(unpack.line(example).slice(0, 90));
    const label = isWrong(example) ? `, label ${className(run, example.label)} ✗` : "";
    const facts = [
      `${className(run, example.predicted)}${label}`,
      ...(isKnown(example.jsd) ? [`JSD ${dom.number(example.jsd, 2)}`] : []),
      `${example.tokens.length} words`,
    ];
    return dom.make(
      "button",
      {
        type: "button",
        class: "entry",
        "data-id": example.id,
        "aria-current": isChosen ? "true" : null,
        on: { click: () => choose(example) },
      },
      dom.make("span", { class: "snippet", dir: "auto", text: text || "(no words)" }),
      dom.make("span", { class: "soft small" }, facts.join(" · ")),
    );
  }

  return { className, compare, entry, isWrong, ordersFor };
})();
