// @ts-check
// Attention and predictions as distributions, one example at a time: distances, and simple moves.
// alpha: N weights; readout: N rows of C logits, what each item alone would give.
const distributions = (() => {
  "use strict";
  const LN2 = Math.log(2);

  /** @param {number[]} values */
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  /** @type {(x: number, y: number) => number} */
  const xlogy = (x, y) => (x === 0 ? 0 : x * Math.log(y));

  /**
   * Weights scaled to sum to 1; null if no weight is left.
   * @param {number[]} weights
   * @returns {number[] | null}
   */
  function renormalise(weights) {
    const total = sum(weights);
    return total > 0 ? weights.map((weight) => weight / total) : null;
  }

  /**
   * Σ alpha_n readout_n: C logits.
   * @param {number[]} alpha
   * @param {number[][]} readout
   * @returns {number[]}
   */
  function logits(alpha, readout) {
    const out = new Array(readout[0].length).fill(0);
    alpha.forEach((weight, n) => {
      if (weight !== 0)
        readout[n].forEach((value, c) => {
          out[c] += weight * value;
        });
    });
    return out;
  }

  /**
   * Softmax over the candidate classes; 0 for the others.
   * @param {number[]} values
   * @param {boolean[]} [candidates]
   */
  function probabilities(values, candidates) {
    const allowed = (/** @type {number} */ c) => !candidates || candidates[c];
    const top = Math.max(...values.filter((_, c) => allowed(c)));
    const powers = values.map((value, c) => (allowed(c) ? Math.exp(value - top) : 0));
    const total = sum(powers);
    return powers.map((power) => power / total);
  }

  /** @type {(alpha: number[], readout: number[][], candidates?: boolean[]) => number[]} */
  const probs = (alpha, readout, candidates) => probabilities(logits(alpha, readout), candidates);
  /** @param {number[]} values */
  const argmax = (values) => values.indexOf(Math.max(...values));
  /** @type {(p: number[], q: number[]) => number} */
  const tvd = (p, q) => sum(p.map((value, n) => Math.abs(value - q[n]))) / 2;
  /** @param {number} value */
  const clamp = (value) => Math.min(Math.max(value, 0), LN2);

  /**
   * Jensen–Shannon divergence in nats, item by item so that nothing large cancels.
   * @param {number[]} p
   * @param {number[]} q
   */
  function jsd(p, q) {
    return clamp(
      sum(
        p.map((a, at) => {
          const b = q[at],
            middle = (a + b) / 2;
          return (xlogy(a, a) + xlogy(b, b)) / 2 - xlogy(middle, middle);
        }),
      ),
    );
  }

  /** @param {number} count */
  const uniform = (count) => new Array(count).fill(1 / count);

  /**
   * The weights without these items, renormalised; null if no weight is left.
   * @param {number[]} alpha
   * @param {number[]} items
   */
  function without(alpha, items) {
    const gone = new Set(items);
    return renormalise(alpha.map((weight, n) => (gone.has(n) ? 0 : weight)));
  }

  /**
   * The weights in a random order.
   * @param {number[]} alpha
   * @param {() => number} random
   */
  function permuted(alpha, random) {
    const order = alpha.map((_, n) => n);
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = Math.floor(random() * (last + 1));
      [order[last], order[other]] = [order[other], order[last]];
    }
    return order.map((n) => alpha[n]);
  }

  /**
   * Put weight w on item n; the others share the rest in the same proportions as before.
   * @param {number[]} alpha
   * @param {number} n
   * @param {number} w
   */
  function withWeight(alpha, n, w) {
    const rest = sum(alpha) - alpha[n];
    const others = alpha.length - 1;
    return alpha.map((weight, item) => {
      if (item === n) return others ? w : 1;
      return rest > 0 ? (weight / rest) * (1 - w) : (1 - w) / others;
    });
  }

  /**
   * Move weight from one item to another.
   * @param {number[]} alpha
   * @param {number} from
   * @param {number} to
   * @param {number} amount
   */
  function moved(alpha, from, to, amount) {
    const taken = Math.min(Math.max(amount, 0), alpha[from]);
    const out = alpha.slice();
    out[from] -= taken;
    out[to] += taken;
    return out;
  }

  return {
    LN2,
    argmax,
    clamp,
    jsd,
    logits,
    moved,
    permuted,
    probabilities,
    probs,
    renormalise,
    tvd,
    uniform,
    without,
    withWeight,
    xlogy,
  };
})();
