// @ts-check
// The exact answers of the playground: the same closed forms as attnaudit.exact, one example at
// a time. alpha: N weights; readout: N rows of C logits, what each item alone would give.
const exact = (() => {
  "use strict";
  const { LN2, argmax, clamp, probs, renormalise, tvd, xlogy } = distributions;
  const ROUNDING = 1e-10; // as attnaudit.exact.inputs.ROUNDING

  /**
   * ½ [p ln 2p/(p+a) + a ln 2a/(p+a)]
   * @param {number} p
   * @param {number} a
   */
  const term = (p, a) => 0.5 * (xlogy(p, 2 * p) + xlogy(a, 2 * a) - xlogy(p + a, p + a));

  /**
   * JSD(weight·e_i + (1 − weight)·e_j, alpha): every other item gives ½ alpha ln 2.
   * @param {number} weight
   * @param {number} first
   * @param {number} second
   */
  function mixtureJsd(weight, first, second) {
    return clamp(0.5 * LN2 * (1 - first - second) + term(weight, first) + term(1 - weight, second));
  }

  /**
   * ln(over / under), or `otherwise` if one of them is not positive.
   * @param {number} over
   * @param {number} under
   * @param {number} otherwise
   */
  function logRatio(over, under, otherwise) {
    return over > 0 && under > 0 ? Math.log(over) - Math.log(under) : otherwise;
  }

  /**
   * The furthest attention (in JSD) whose prediction is within epsilon (in TVD), for two candidate
   * classes: the true maximum. JSD is convex, so the maximum is at a vertex of the simplex cut by
   * one slab: a one-hot vector inside it, or a mixture of one item below and one above a bound
   * that meets the bound.
   * @param {number[]} given
   * @param {number[][]} readout
   * @param {number} epsilon
   * @param {boolean[]} [candidates]
   */
  function furthest(given, readout, epsilon, candidates) {
    const alpha = renormalise(given);
    const classes = readout[0].map((_, c) => c).filter((c) => !candidates || candidates[c]);
    if (classes.length !== 2) throw new Error("an exact answer needs two classes");
    const p = probs(alpha, readout, candidates);
    const mine = argmax(p);
    const rival = classes.find((c) => c !== mine);
    const s = readout.map((row) => row[mine] - row[rival]);
    const low = logRatio(p[mine] - epsilon, p[rival] + epsilon, -Infinity);
    const high = logRatio(p[mine] + epsilon, p[rival] - epsilon, Infinity);
    const alone = alpha.map((weight) => mixtureJsd(1, weight, 0));
    const isFeasible = (/** @type {number[]} */ attention) =>
      tvd(probs(attention, readout, candidates), p) <= epsilon + ROUNDING;
    /** @type {(first: number, second: number, weight: number) => number[]} */
    const mixture = (first, second, weight) => {
      const dense = new Array(alpha.length).fill(0);
      dense[first] += weight;
      dense[second] += 1 - weight;
      return dense;
    };
    let best = { alpha: alpha.slice(), jsd: 0 };
    /** @type {{jsd: number, first?: number, second?: number, weight?: number}} */
    let vertex = { jsd: -1 };
    s.forEach((value, n) => {
      const slack = 1e-12 * (1 + Math.abs(value));
      const isInside = value >= low - slack && value <= high + slack;
      if (isInside && alone[n] > vertex.jsd)
        vertex = { jsd: alone[n], first: n, second: n, weight: 1 };
    });
    for (const bound of [low, high]) {
      if (!Number.isFinite(bound)) continue;
      const distance = s.map((value) => value - bound);
      const side = (/** @type {1 | -1} */ sign) =>
        distance
          .map((_, n) => n)
          .filter((n) => sign * distance[n] > 0)
          .sort((a, b) => alone[b] - alone[a]);
      const [below, above] = [side(-1), side(1)];
      // A mixture is at most as far as the further of its two items alone: an item that is no
      // further than the best need not be tried, except as the partner of one that is.
      for (const [own, other] of [
        [below, above],
        [above, below],
      ]) {
        for (const i of own) {
          if (alone[i] <= vertex.jsd) break;
          for (const j of other) {
            const weight = distance[j] / (distance[j] - distance[i]);
            const value = mixtureJsd(weight, alpha[i], alpha[j]);
            if (value > vertex.jsd) vertex = { jsd: value, first: i, second: j, weight };
          }
        }
      }
    }
    if (vertex.jsd > best.jsd) {
      const dense = mixture(vertex.first, vertex.second, vertex.weight);
      if (isFeasible(dense)) best = { alpha: dense, jsd: vertex.jsd };
    }
    return best;
  }

  /**
   * The fewest items whose removal gives another class strictly the larger logit; null if no
   * removal does.
   * @param {number[]} given
   * @param {number[][]} readout
   * @param {boolean[]} [candidates]
   * @returns {{size: number, items: number[]} | null}
   */
  function smallestFlip(given, readout, candidates) {
    const alpha = renormalise(given);
    const predicted = argmax(probs(alpha, readout, candidates));
    /** @type {{size: number, items: number[]} | null} */
    let best = null;
    readout[0].forEach((_, rival) => {
      if (rival === predicted || (candidates && !candidates[rival])) return;
      const contribution = alpha.map(
        (weight, n) => weight * (readout[n][predicted] - readout[n][rival]),
      );
      const order = contribution
        .map((_, n) => n)
        .sort((a, b) => contribution[b] - contribution[a] || a - b);
      let [left, size, fewest] = [0, 0, Infinity];
      // From the end, so that what is left is summed and not what was removed.
      for (let removed = order.length - 1; removed >= 0; removed -= 1) {
        left += contribution[order[removed]];
        size += Math.abs(contribution[order[removed]]);
        if (left < -1e-12 * size) fewest = removed;
      }
      if (fewest < Infinity && (best === null || fewest < best.size)) {
        best = { size: fewest, items: order.slice(0, fewest) };
      }
    });
    return best;
  }

  return { furthest, smallestFlip };
})();
