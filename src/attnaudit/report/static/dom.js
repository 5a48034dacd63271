// @ts-check
// Elements from data: every text goes in as text, so nothing in the data can become markup.
const dom = (() => {
  "use strict";
  const DASH = "–";

  /**
   * make("p", {class: "soft", text: "…", on: {click}}, child, …); other keys are attributes.
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Record<string, any>} [options]
   * @param {...(Node | string | null | undefined)} children null and undefined are skipped
   * @returns {HTMLElementTagNameMap[T]}
   */
  function make(tag, options = {}, ...children) {
    /** @type {any} */
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "text") element.textContent = value;
      else if (key === "class") element.className = value;
      else if (key === "on")
        for (const [event, handler] of Object.entries(value))
          element.addEventListener(event, handler);
      else if (key in element && typeof value !== "string") element[key] = value;
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /**
   * Text from outside as it can be seen: control characters as pictures, so that NUL is visible,
   * and characters that turn the writing direction as escapes, as in the texts of the page.
   * @param {unknown} text
   */
  const shown = (text) =>
    Array.from(String(text), (character) => {
      const code = character.codePointAt(0);
      if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
        return `\\u${code.toString(16)}`;
      if (code < 32) return String.fromCodePoint(0x2400 + code);
      return code === 127 ? "\u2421" : character;
    }).join("");

  /**
   * A word in its own writing direction, which does not affect its neighbours.
   * @param {string} text
   */
  const word = (text) => make("bdi", { class: "t", text: shown(text) });

  /**
   * A labelled drop-down.
   * @param {string} label
   * @param {[string | number, string | number][]} choices value and text of each
   * @param {string | number} chosen
   * @param {(value: string) => void} onChange
   */
  function select(label, choices, chosen, onChange) {
    const box = make("select", { on: { change: () => onChange(box.value) } });
    for (const [value, text] of choices)
      box.append(make("option", { value: String(value), text: shown(text) }));
    if (chosen !== undefined) box.value = String(chosen);
    const element = make("label", { class: "field" }, make("span", { text: label }), box);
    return { element, box };
  }

  /**
   * @param {string} text
   * @param {() => void} onClick
   * @param {Record<string, any>} [options]
   */
  function button(text, onClick, options = {}) {
    return make("button", { type: "button", text, on: { click: onClick }, ...options });
  }

  const parsed = new Map();
  /**
   * The content of a <script type="application/json">, parsed once; null if there is none.
   * @param {string} id
   * @returns {any}
   */
  function json(id) {
    if (!parsed.has(id)) {
      const element = document.getElementById(id);
      parsed.set(id, element ? JSON.parse(element.textContent) : null);
    }
    return parsed.get(id);
  }

  /**
   * @param {number | null | undefined} value
   * @param {number} [digits]
   */
  function number(value, digits = 3) {
    if (value === null || value === undefined || Number.isNaN(value)) return DASH;
    if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) return value.toExponential(1);
    return value.toFixed(digits);
  }

  /** @param {number | null | undefined} share */
  const percent = (share) =>
    share === null || share === undefined ? DASH : `${Math.round(100 * share)} %`;

  /**
   * @param {string} name
   * @param {Blob | string} content
   * @param {string} type
   */
  function download(name, content, type) {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const address = URL.createObjectURL(blob);
    const link = make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  /**
   * Rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front.
   * @param {Row[]} rows
   */
  function csv(rows) {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (/** @type {unknown} */ value) => {
      if (value === null || value === undefined) return "";
      let text = String(value);
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = rows.map((row) =>
      names.map((name) => (Object.hasOwn(row, name) ? row[name] : null)),
    );
    return [names, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
  }

  return { button, csv, download, json, make, number, percent, select, shown, word };
})();
