// @ts-check
// Examples as they are stored in the page -> plain arrays of numbers.
const unpack = (() => {
  "use strict";
  const UNDEFINED = 65535; // stands for a score that is not defined
  const STEPS = 65534;
  const LONGEST_PLAYED = 5000; // words; each is a button of the playground

  /** @param {string} text */
  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let index = 0; index < raw.length; index += 1) out[index] = raw.charCodeAt(index);
    return new DataView(out.buffer);
  }

  /**
   * @param {string} text
   * @param {number} size of a number, in bytes
   * @param {"getFloat32" | "getUint16" | "getUint32"} read
   * @returns {number[]}
   */
  function numbers(text, size, read) {
    const view = bytes(text);
    const out = new Array(view.byteLength / size);
    for (let index = 0; index < out.length; index += 1) out[index] = view[read](index * size, true);
    return out;
  }

  /** @param {string} text */
  const float32 = (text) => numbers(text, 4, "getFloat32");

  /** @param {PackedExample["furthest"]} packed */
  function sparse(packed) {
    const dense = new Array(packed.count).fill(0);
    const places = numbers(packed.at, 4, "getUint32");
    float32(packed.weights).forEach((weight, index) => {
      dense[places[index]] = weight;
    });
    return dense;
  }

  /**
   * @param {PackedExample["scores"][string]} packed
   * @returns {(number | null)[]}
   */
  function scaled(packed) {
    const { low, high } = packed;
    return numbers(packed.steps, 2, "getUint16").map((step) =>
      step === UNDEFINED ? null : low + (step / STEPS) * (high - low),
    );
  }

  /**
   * @param {number[]} values
   * @param {number} width
   */
  function split(values, width) {
    const rows = [];
    for (let start = 0; start < values.length; start += width)
      rows.push(values.slice(start, start + width));
    return rows;
  }

  /** @param {(number | null)[][]} rows */
  const meanOf = (rows) =>
    rows[0].map((_, n) => {
      const known = rows.map((row) => row[n]).filter((value) => value !== null);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    });

  /**
   * The values of one row, or the mean over the rows for row -1.
   * @param {number[]} values
   * @param {number} count
   * @param {number} row
   */
  function ofRow(values, count, row) {
    const rows = split(values, count);
    if (!rows.length) return [];
    if (rows.length === 1) return rows[0];
    return row < 0 ? meanOf(rows) : rows[row];
  }

  /**
   * The words on one line, with a bar between the two texts of a pair.
   * @param {{tokens: string[], pair: number[] | null}} example
   */
  const line = ({ tokens, pair }) =>
    tokens
      .map((token, n) => (n && pair && pair[n] !== pair[n - 1] ? `| ${token}` : token))
      .join(" ");

  /**
   * Weight on special tokens such as [CLS]; null in runs that do not store it.
   * @param {PackedExample} packed
   * @param {number} row
   */
  const onMarks = (packed, row) => (packed.marks?.length ? ofRow(packed.marks, 1, row)[0] : null);

  /**
   * Whether an example is short enough for the playground.
   * @param {{tokens: string[]}} example
   */
  const isShort = ({ tokens }) => tokens.length <= LONGEST_PLAYED;

  /**
   * Whether an example can be played with.
   * @param {PackedExample | Example} example
   */
  const isPlayable = (example) => Boolean(example.readout || example.moves) && isShort(example);

  /** @param {PackedExample} packed */
  function movesOf({ moves, candidates }) {
    if (!moves) return null;
    const probs = split(float32(moves.probs), candidates.length);
    const jsd = float32(moves.jsd);
    return moves.moves.map(([kind, word, to], index) => ({
      kind: moves.kinds[kind],
      word,
      to,
      probs: probs[index],
      jsd: jsd[index],
    }));
  }

  /**
   * @param {PackedExample} packed
   * @returns {Example}
   */
  function example(packed) {
    const count = packed.tokens.length;
    const attention = float32(packed.attention);
    const furthest = packed.furthest && sparse(packed.furthest);
    return {
      ...packed,
      attention: (row = -1) => ofRow(attention, count, row),
      furthest: furthest && ((row = -1) => ofRow(furthest, count, row)),
      marks: (row = -1) => onMarks(packed, row),
      score: (measure, row = -1) => ofRow(scaled(packed.scores[measure]), count, row),
      readout: packed.readout ? split(float32(packed.readout), packed.candidates.length) : null,
      moves: movesOf(packed),
      shuffled: packed.moves ? split(float32(packed.moves.shuffled), count) : [],
    };
  }

  return { LONGEST_PLAYED, example, float32, isPlayable, line };
})();
