// What the model says under the attention as it stands: a bar a class, and how far attention and prediction have moved.
const outcome = (() => {
  "use strict";
  const MOST = 8;

  function create(names) {
    const bars = dom.make("div", { class: "bars" });
    const decision = dom.make("p", { class: "decision", role: "status" });
    const tvd = dom.make("b", { class: "tvd" }), jsd = dom.make("b", { class: "jsd" });
    const moved = dom.make("dl", { class: "moved" },
      dom.make("div", {}, dom.make("dt", { text: "prediction moved (TVD)" }), dom.make("dd", {}, tvd, dom.make("span", { class: "soft", text: " of 1" }))),
      dom.make("div", {}, dom.make("dt", { text: "attention moved (JSD)" }), dom.make("dd", {}, jsd, dom.make("span", { class: "soft", text: " of 0.693" }))));
    const element = dom.make("div", { class: "outcome" }, bars, moved, decision);
    let rows = null;

    function layout(before) {
      const order = before.map((_, c) => c).sort((a, b) => before[b] - before[a]).slice(0, MOST);
      rows = order.map((c) => {
        const fill = dom.make("span", { class: "fill" }), tick = dom.make("span", { class: "tick-mark" });
        const value = dom.make("span", { class: "value" });
        tick.style.left = `${100 * before[c]}%`;
        const row = dom.make("div", { class: "bar" }, dom.make("span", { class: "name" }, dom.word(names[c])),
          dom.make("span", { class: "track", "aria-hidden": "true" }, fill, tick), value);
        row.dataset.class = c;
        return { c, fill, value, row };
      });
      bars.replaceChildren(...rows.map((each) => each.row));
      if (before.length > MOST) bars.append(dom.make("p", { class: "soft small", text: `the ${MOST} most probable of ${before.length} classes` }));
    }

    /** before, now: probabilities by class; attention: {jsd}. */
    function show(before, now, movedBy) {
      if (!rows) layout(before);
      for (const { c, fill, value } of rows) {
        fill.style.width = `${100 * now[c]}%`;
        value.textContent = now[c].toFixed(3);
        value.dataset.value = now[c];
      }
      const apart = exact.tvd(before, now);
      tvd.textContent = apart.toFixed(3);
      tvd.dataset.value = apart;
      jsd.textContent = movedBy.toFixed(3);
      jsd.dataset.value = movedBy;
      const was = exact.argmax(before), is = exact.argmax(now);
      decision.classList.toggle("flipped", was !== is);
      decision.textContent = was === is ? `Still ${dom.shown(names[was])}.` : `Flipped: ${dom.shown(names[is])} instead of ${dom.shown(names[was])}.`;
    }

    return { element, show };
  }

  return { create };
})();
