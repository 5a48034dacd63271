// Examples as they lie in the page -> plain arrays of numbers.
const unpack = (() => {
  "use strict";

  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at += 1) out[at] = raw.charCodeAt(at);
    return new DataView(out.buffer);
  }

  function numbers(text, size, read) {
    const view = bytes(text);
    const out = new Array(view.byteLength / size);
    for (let at = 0; at < out.length; at += 1) out[at] = view[read](at * size, true);
    return out;
  }

  const float32 = (text) => numbers(text, 4, "getFloat32");

  function sparse(packed) {
    const dense = new Array(packed.count).fill(0);
    const places = numbers(packed.at, 4, "getUint32");
    float32(packed.weights).forEach((weight, at) => { dense[places[at]] = weight; });
    return dense;
  }

  /** 65535 stands for a score that is not defined. */
  function scaled(packed) {
    return numbers(packed.steps, 2, "getUint16").map((step) =>
      (step === 65535 ? null : packed.low + (step / 65534) * (packed.high - packed.low)));
  }

  const split = (values, width) => {
    const rows = [];
    for (let at = 0; at < values.length; at += width) rows.push(values.slice(at, at + width));
    return rows;
  };

  const meanOf = (rows) => rows[0].map((_, n) => {
    const known = rows.map((row) => row[n]).filter((value) => value !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  });

  /** One vector of weights: of row `row`, or the mean over rows for row -1. */
  function ofRow(values, count, row) {
    const rows = split(values, count);
    if (!rows.length) return [];
    if (rows.length === 1) return rows[0];
    return row < 0 ? meanOf(rows) : rows[row];
  }

  /** The words on one line, with a bar between the two texts of a pair. */
  const line = (raw) => raw.tokens.map((token, n) => (n && raw.pair && raw.pair[n] !== raw.pair[n - 1] ? `| ${token}` : token)).join(" ");

  /** Weight on marks such as [CLS], of row `row` or the mean over rows for -1; null in runs that do not store it. */
  const onMarks = (raw, row) => (raw.marks?.length ? ofRow(raw.marks, 1, row)[0] : null);

  /** attention(row), score(measure, row); furthest(row), null if it was not searched for; marks(row); readout: items × candidate classes, or null. */
  function example(raw) {
    const count = raw.tokens.length;
    const attention = float32(raw.attention), furthest = raw.furthest && sparse(raw.furthest);
    return {
      ...raw,
      attention: (row = -1) => ofRow(attention, count, row),
      furthest: furthest && ((row = -1) => ofRow(furthest, count, row)),
      marks: (row = -1) => onMarks(raw, row),
      score: (measure, row = -1) => ofRow(scaled(raw.scores[measure]), count, row),
      readout: raw.readout ? split(float32(raw.readout), raw.candidates.length) : null,
    };
  }

  return { example, float32, line };
})();
