// @ts-check
// One heatmap to paste elsewhere: as an HTML snippet, as SVG, or as PNG.
const heatmapExport = (() => {
  "use strict";
  const [BLUE, ORANGE] = ["37, 99, 176", "179, 88, 6"];
  const LINE = 76; // characters per line of a picture
  const [WIDTH, HEIGHT, SIZE] = [8.43, 26, 14]; // of a character and a line, font size, in pixels
  const FONT = "DejaVu Sans Mono, monospace";

  /** @param {string} text */
  const escaped = (text) =>
    dom
      .shown(text)
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;");

  /** @param {number | null} weight */
  const heat = (weight) => (weight < 0 ? ORANGE : BLUE);
  /** @param {number} shade */
  const ink = (shade) => (shade > 0.6 ? "#fff" : "#111");

  /**
   * @param {string[]} tokens
   * @param {(number | null)[]} weights
   * @param {string} caption
   */
  function html(tokens, weights, caption) {
    const shades = heatmap.shades(weights);
    const words = tokens.map((token, n) => {
      const colour = shades[n] > 0.6 ? "#fff" : "inherit";
      const style =
        `background:rgba(${heat(weights[n])}, ${shades[n].toFixed(3)});color:${colour};` +
        "padding:.1em .2em;border-radius:.2em";
      const title = weights[n] === null ? "undefined" : weights[n].toPrecision(4);
      return `<span title="${title}" style="${style}">${escaped(token)}</span>`;
    });
    return (
      `<figure style="margin:1em 0"><p style="line-height:1.9;margin:0" dir="auto">` +
      `${words.join(" ")}</p><figcaption style="font-size:.85em;opacity:.75">` +
      `${escaped(caption)}</figcaption></figure>`
    );
  }

  /**
   * Column and line of each word, and the number of lines.
   * @param {string[]} tokens
   */
  function placed(tokens) {
    let [column, line] = [0, 0];
    const places = tokens.map((token) => {
      const length = dom.shown(token).length;
      if (column && column + length > LINE) [column, line] = [0, line + 1];
      const place = { column, line, length };
      column += length + 1;
      return place;
    });
    return { places, lines: line + 1 };
  }

  /**
   * @param {string[]} tokens
   * @param {(number | null)[]} weights
   * @param {string} caption
   */
  function svg(tokens, weights, caption) {
    const shades = heatmap.shades(weights);
    const { places, lines } = placed(tokens);
    const [width, height] = [Math.round(LINE * WIDTH + 12), (lines + 1) * HEIGHT + 8];
    const words = places.map(({ column, line, length }, n) => {
      const [x, y, long] = [6 + column * WIDTH, 4 + line * HEIGHT, length * WIDTH];
      return (
        `<rect x="${(x - 2).toFixed(1)}" y="${y}" width="${(long + 4).toFixed(1)}" ` +
        `height="${HEIGHT - 4}" rx="3" fill="rgb(${heat(weights[n])})" ` +
        `fill-opacity="${shades[n].toFixed(3)}"/>` +
        `<text x="${x.toFixed(1)}" y="${y + 16}" fill="${ink(shades[n])}" ` +
        `textLength="${long.toFixed(1)}">${escaped(tokens[n])}</text>`
      );
    });
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="${SIZE}">` +
      `<title>${escaped(caption)}</title><rect width="100%" height="100%" fill="#fff"/>` +
      `${words.join("")}<text x="6" y="${height - 10}" font-size="11" fill="#555">` +
      `${escaped(caption)}</text></svg>`
    );
  }

  /**
   * Drawn on a canvas, at twice its size: an image of SVG would not be allowed by every browser.
   * @param {string[]} tokens
   * @param {(number | null)[]} weights
   * @param {string} caption
   * @returns {Promise<Blob | null>}
   */
  function png(tokens, weights, caption) {
    const shades = heatmap.shades(weights);
    const { places, lines } = placed(tokens);
    const canvas = dom.make("canvas");
    canvas.width = 2 * Math.round(LINE * WIDTH + 12);
    canvas.height = 2 * ((lines + 1) * HEIGHT + 8);
    const pen = canvas.getContext("2d");
    if (!pen) return Promise.resolve(null);
    pen.scale(2, 2);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.font = `${SIZE}px ${FONT}`;
    places.forEach(({ column, line, length }, n) => {
      const [x, y, long] = [6 + column * WIDTH, 4 + line * HEIGHT, length * WIDTH];
      pen.fillStyle = `rgba(${heat(weights[n])}, ${shades[n]})`;
      pen.fillRect(x - 2, y, long + 4, HEIGHT - 4);
      pen.fillStyle = ink(shades[n]);
      pen.fillText(dom.shown(tokens[n]), x, y + 16, long);
    });
    pen.font = `11px ${FONT}`;
    pen.fillStyle = "#555";
    pen.fillText(caption, 6, (lines + 1) * HEIGHT - 2);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  /**
   * Buttons that save one heatmap.
   * @param {string} name of the file, without its ending
   * @param {string[]} tokens
   * @param {(number | null)[]} weights
   * @param {string} caption
   */
  function buttons(name, tokens, weights, caption) {
    const file = name.replace(/[^A-Za-z0-9.=-]+/g, "_");
    const link = { class: "plain" };
    return dom.make(
      "p",
      { class: "save" },
      "Save:",
      dom.button(
        "HTML",
        () => dom.download(`${file}.html`, html(tokens, weights, caption), "text/html"),
        link,
      ),
      dom.button(
        "SVG",
        () => dom.download(`${file}.svg`, svg(tokens, weights, caption), "image/svg+xml"),
        link,
      ),
      dom.button(
        "PNG",
        async () => {
          const image = await png(tokens, weights, caption);
          if (image) dom.download(`${file}.png`, image, "image/png");
        },
        link,
      ),
    );
  }

  return { buttons, html, svg };
})();
