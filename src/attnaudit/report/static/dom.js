// Elements from data: every text goes in as text, so nothing in the data can become markup.
const dom = (() => {
  "use strict";
  const DASH = "–";

  /** make("p", {class: "soft", text: "…", on: {click}}, child, …); other keys are attributes. */
  function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "text") element.textContent = value;
      else if (key === "class") element.className = value;
      else if (key === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      else if (key in element && typeof value !== "string") element[key] = value;
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /** Text from outside as it can be seen: control characters as their pictures, so that NUL is not nothing. */
  const shown = (text) => Array.from(String(text), (each) => {
    const code = each.codePointAt(0);
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : each;
  }).join("");

  /** A word in its own direction, which it cannot lend to its neighbours. */
  const word = (text, className = "t") => make("bdi", { class: className, text: shown(text) });

  function select(label, choices, chosen, onChange) {
    const box = make("select", { on: { change: () => onChange(box.value) } });
    for (const [value, text] of choices) box.append(make("option", { value: String(value), text: shown(text) }));
    if (chosen !== undefined) box.value = String(chosen);
    const element = make("label", { class: "field" }, make("span", { text: label }), box);
    return { element, box };
  }

  function button(text, onClick, options = {}) {
    return make("button", { type: "button", text, on: { click: onClick }, ...options });
  }

  /** What stands in a <script type="application/json">, read once and kept. */
  const kept = new Map();
  function json(id) {
    if (!kept.has(id)) {
      const element = document.getElementById(id);
      kept.set(id, element ? JSON.parse(element.textContent) : null);
    }
    return kept.get(id);
  }

  function number(value, digits = 3) {
    if (value === null || value === undefined || Number.isNaN(value)) return DASH;
    if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) return value.toExponential(1);
    return value.toFixed(digits);
  }

  const percent = (share) => (share === null || share === undefined ? DASH : `${Math.round(100 * share)} %`);

  function download(name, content, type) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  /** Rows of plain objects as CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it. */
  function csv(rows) {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      if (value === null || value === undefined) return "";
      let text = String(value);
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [names, ...rows.map((row) => names.map((name) => (Object.hasOwn(row, name) ? row[name] : null)))]
      .map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  return { button, csv, download, json, make, number, percent, select, shown, word };
})();
