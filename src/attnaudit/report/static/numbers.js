// @ts-check
// Every number of a run: one table per audit, drawn when it is opened.
const numbers = (() => {
  "use strict";
  const HEADS = new Map([
    ["group", "predicted class or decisions"],
    ["nan_share", "undefined"],
    ["count", "examples"],
    ["low", "95 % from"],
    ["high", "to"],
  ]);
  const TEXT = new Set(["measure", "metric", "group"]);

  /**
   * @param {string} name of the column
   * @param {any} value
   */
  function cell(name, value) {
    if (TEXT.has(name)) return dom.shown(value);
    if (name === "nan_share") return dom.percent(value);
    return name === "count" ? String(value) : dom.number(value);
  }

  /**
   * @param {string[]} columns
   * @param {any[][]} lines
   */
  function table(columns, lines) {
    const group = columns.indexOf("group");
    const heads = columns.map((name) =>
      dom.make("th", { scope: "col", text: HEADS.get(name) ?? name }),
    );
    const rows = lines.map((line) =>
      dom.make(
        "tr",
        { class: line[group] === "all" ? null : "class" },
        ...columns.map((name, index) =>
          dom.make("td", { class: TEXT.has(name) ? "text" : null, text: cell(name, line[index]) }),
        ),
      ),
    );
    return dom.make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" },
      dom.make(
        "table",
        {},
        dom.make("thead", {}, dom.make("tr", {}, ...heads)),
        dom.make("tbody", {}, ...rows),
      ),
    );
  }

  /**
   * @param {Element | null} root
   * @param {NumberTables} data
   */
  function mount(root, data) {
    if (!root || root.childElementCount) return;
    for (const audit of Object.keys(data.audits)) {
      const details = dom.make("details", {}, dom.make("summary", { text: dom.shown(audit) }));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1)
          details.append(table(data.columns, data.audits[audit]));
      });
      root.append(details);
    }
    const rows = (/** @type {string} */ audit) =>
      data.audits[audit].map((line) => ({
        audit,
        ...Object.fromEntries(data.columns.map((name, index) => [name, line[index]])),
      }));
    const save = () => {
      const everything = Object.keys(data.audits).flatMap(rows);
      dom.download("numbers.csv", dom.csv(everything), "text/csv");
    };
    root.append(dom.button("All numbers as CSV", save, { class: "plain" }));
  }

  return { mount, table };
})();
