// @ts-check
// What the model predicts under the attention on show: one bar per class, and how far attention
// and prediction have moved.
const outcome = (() => {
  "use strict";
  const MOST = 8; // bars

  /**
   * @param {string} term
   * @param {HTMLElement} value
   * @param {string} maximum
   */
  const distance = (term, value, maximum) =>
    dom.make(
      "div",
      {},
      dom.make("dt", { text: term }),
      dom.make("dd", {}, value, dom.make("span", { class: "soft", text: ` of ${maximum}` })),
    );

  /** @param {string[]} names of the classes */
  function create(names) {
    const bars = dom.make("div", { class: "bars" });
    const decision = dom.make("p", { class: "decision", role: "status" });
    const tvd = dom.make("b", { class: "tvd" });
    const jsd = dom.make("b", { class: "jsd" });
    const moved = dom.make(
      "dl",
      { class: "moved" },
      distance("prediction moved (TVD)", tvd, "1"),
      distance("attention moved (JSD)", jsd, "0.693"),
    );
    const element = dom.make("div", { class: "outcome" }, bars, moved, decision);
    /** @type {ReturnType<typeof bar>[] | null} */
    let rows = null;

    /**
     * @param {number} c a class
     * @param {number} probability before anything was moved
     */
    function bar(c, probability) {
      const fill = dom.make("span", { class: "fill" });
      const tick = dom.make("span", { class: "tick-mark" });
      const value = dom.make("span", { class: "value" });
      tick.style.left = `${100 * probability}%`;
      const row = dom.make(
        "div",
        { class: "bar" },
        dom.make("span", { class: "name" }, dom.word(names[c])),
        dom.make("span", { class: "track", "aria-hidden": "true" }, fill, tick),
        value,
      );
      row.dataset.class = String(c);
      return { c, fill, value, row };
    }

    /** @param {number[]} before */
    function layout(before) {
      const order = before.map((_, c) => c).sort((a, b) => before[b] - before[a]);
      rows = order.slice(0, MOST).map((c) => bar(c, before[c]));
      bars.replaceChildren(...rows.map(({ row }) => row));
      if (before.length <= MOST) return;
      const text = `the ${MOST} most probable of ${before.length} classes`;
      bars.append(dom.make("p", { class: "soft small", text }));
    }

    /**
     * @param {number[]} before probabilities by class
     * @param {number[]} now probabilities by class
     * @param {number} attentionMoved JSD of the attention from the original
     */
    function show(before, now, attentionMoved) {
      if (!rows) layout(before);
      for (const { c, fill, value } of rows) {
        fill.style.width = `${100 * now[c]}%`;
        value.textContent = now[c].toFixed(3);
        value.dataset.value = String(now[c]);
      }
      const predictionMoved = distributions.tvd(before, now);
      tvd.textContent = predictionMoved.toFixed(3);
      tvd.dataset.value = String(predictionMoved);
      jsd.textContent = attentionMoved.toFixed(3);
      jsd.dataset.value = String(attentionMoved);
      const [was, is] = [distributions.argmax(before), distributions.argmax(now)];
      const [old, current] = [dom.shown(names[was]), dom.shown(names[is])];
      decision.classList.toggle("flipped", was !== is);
      decision.textContent =
        was === is ? `Still ${old}.` : `Flipped: ${current} instead of ${old}.`;
    }

    return { element, show };
  }

  return { create };
})();
