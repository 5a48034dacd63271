// Every number of a run: one table an audit, drawn when it is opened.
const numbers = (() => {
  "use strict";
  const HEADS = new Map(Object.entries({ group: "predicted class", nan_share: "undefined", count: "examples", low: "95 % from", high: "to" }));
  const SHARE = new Set(["nan_share"]), TEXT = new Set(["measure", "metric", "group"]);

  function cell(name, value) {
    if (TEXT.has(name)) return dom.shown(value);
    if (SHARE.has(name)) return dom.percent(value);
    return name === "count" ? String(value) : dom.number(value);
  }

  function table(columns, lines) {
    const group = columns.indexOf("group");
    return dom.make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, dom.make("table", {},
      dom.make("thead", {}, dom.make("tr", {}, ...columns.map((name) => dom.make("th", { scope: "col", text: HEADS.get(name) ?? name })))),
      dom.make("tbody", {}, ...lines.map((line) => dom.make("tr", { class: line[group] === "all" ? null : "class" },
        ...columns.map((name, at) => dom.make("td", { class: TEXT.has(name) ? "text" : null, text: cell(name, line[at]) })))))));
  }

  function mount(root, data) {
    if (!root || root.childElementCount) return;
    const rows = (audit) => data.audits[audit].map((line) => ({ audit, ...Object.fromEntries(data.columns.map((name, at) => [name, line[at]])) }));
    for (const audit of Object.keys(data.audits)) {
      const details = dom.make("details", {}, dom.make("summary", { text: dom.shown(audit) }));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(table(data.columns, data.audits[audit]));
      });
      root.append(details);
    }
    root.append(dom.button("All numbers as CSV", () =>
      dom.download("numbers.csv", dom.csv(Object.keys(data.audits).flatMap(rows)), "text/csv"), { class: "plain" }));
  }

  return { mount, table };
})();
