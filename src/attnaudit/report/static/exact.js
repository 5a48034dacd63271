// The mathematics of the playground: the same closed forms as attnaudit.exact and attnaudit.statistics, one example at a time.
// alpha: N weights; readout: N rows of C logits, what each item alone would give; all numbers are doubles.
const exact = (() => {
  "use strict";
  const LN2 = Math.log(2);
  const ROUNDING = 1e-10; // as attnaudit.exact.inputs.ROUNDING

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const xlogy = (x, y) => (x === 0 ? 0 : x * Math.log(y));

  /** Weights scaled to sum to 1; null where nothing is left. */
  function renormalise(weights) {
    const total = sum(weights);
    return total > 0 ? weights.map((weight) => weight / total) : null;
  }

  /** Σ alpha_n readout_n: C logits. */
  function logits(alpha, readout) {
    const out = new Array(readout[0].length).fill(0);
    alpha.forEach((weight, n) => {
      if (weight !== 0) readout[n].forEach((value, c) => { out[c] += weight * value; });
    });
    return out;
  }

  /** Softmax over the candidate classes; 0 for the others. */
  function probabilities(values, candidates) {
    const allowed = (c) => !candidates || candidates[c];
    const top = Math.max(...values.filter((_, c) => allowed(c)));
    const powers = values.map((value, c) => (allowed(c) ? Math.exp(value - top) : 0));
    const total = sum(powers);
    return powers.map((power) => power / total);
  }

  const probs = (alpha, readout, candidates) => probabilities(logits(alpha, readout), candidates);
  const argmax = (values) => values.indexOf(Math.max(...values));
  const tvd = (p, q) => sum(p.map((value, at) => Math.abs(value - q[at]))) / 2;
  const clamp = (value) => Math.min(Math.max(value, 0), LN2);

  /** Jensen–Shannon divergence in nats, item by item so that nothing large cancels. */
  function jsd(p, q) {
    return clamp(sum(p.map((a, at) => {
      const b = q[at], middle = (a + b) / 2;
      return (xlogy(a, a) + xlogy(b, b)) / 2 - xlogy(middle, middle);
    })));
  }

  const uniform = (count) => new Array(count).fill(1 / count);

  /** ½ [p ln 2p/(p+a) + a ln 2a/(p+a)] */
  const term = (p, a) => 0.5 * (xlogy(p, 2 * p) + xlogy(a, 2 * a) - xlogy(p + a, p + a));

  /** JSD(weight·e_i + (1 − weight)·e_j, alpha): every other item gives ½ alpha ln 2. */
  function mixtureJsd(weight, first, second) {
    return clamp(0.5 * LN2 * (1 - first - second) + term(weight, first) + term(1 - weight, second));
  }

  function logRatio(over, under, otherwise) {
    return over > 0 && under > 0 ? Math.log(over) - Math.log(under) : otherwise;
  }

  /**
   * The furthest attention (in JSD) whose prediction is within epsilon (in TVD), for two candidate classes: the true maximum.
   * JSD is convex, so the maximum is at a vertex of the simplex cut by one slab: a one-hot vector inside it, or a mixture of one item
   * below and one above a bound that meets the bound.
   */
  function furthest(given, readout, epsilon, candidates) {
    const alpha = renormalise(given);
    const classes = readout[0].map((_, c) => c).filter((c) => !candidates || candidates[c]);
    if (classes.length !== 2) throw new Error("an exact answer needs two classes");
    const p = probs(alpha, readout, candidates);
    const mine = argmax(p), rival = classes.find((c) => c !== mine);
    const s = readout.map((row) => row[mine] - row[rival]);
    const low = logRatio(p[mine] - epsilon, p[rival] + epsilon, -Infinity);
    const high = logRatio(p[mine] + epsilon, p[rival] - epsilon, Infinity);
    const alone = alpha.map((weight) => mixtureJsd(1, weight, 0));
    const feasible = (attention) =>
      tvd(probs(attention, readout, candidates), p) <= epsilon + ROUNDING;
    const vector = (first, second, weight) => {
      const dense = new Array(alpha.length).fill(0);
      dense[first] += weight;
      dense[second] += 1 - weight;
      return dense;
    };
    let best = { alpha: alpha.slice(), jsd: 0 };
    let found = -1, item = -1;
    s.forEach((value, n) => {
      const slack = 1e-12 * (1 + Math.abs(value));
      if (value >= low - slack && value <= high + slack && alone[n] > found) { found = alone[n]; item = n; }
    });
    let vertex = item < 0 ? { jsd: -1 } : { jsd: found, first: item, second: item, weight: 1 };
    for (const bound of [low, high]) {
      if (!Number.isFinite(bound)) continue;
      const distance = s.map((value) => value - bound);
      const side = (sign) => distance.map((_, n) => n).filter((n) => sign * distance[n] > 0)
        .sort((a, b) => alone[b] - alone[a]);
      const below = side(-1), above = side(1);
      // A mixture is at most as far as the further of its two items alone: an item that is no further than the best is done,
      // except as the partner of one that is.
      for (const [own, other] of [[below, above], [above, below]]) {
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
      const dense = vector(vertex.first, vertex.second, vertex.weight);
      if (feasible(dense)) best = { alpha: dense, jsd: vertex.jsd };
    }
    return best;
  }

  /** The fewest items whose removal gives another class strictly the larger logit; null where no removal does. */
  function smallestFlip(given, readout, candidates) {
    const alpha = renormalise(given);
    const predicted = argmax(probs(alpha, readout, candidates));
    let best = null;
    readout[0].forEach((_, rival) => {
      if (rival === predicted || (candidates && !candidates[rival])) return;
      const contribution = alpha.map((weight, n) => weight * (readout[n][predicted] - readout[n][rival]));
      const order = contribution.map((_, n) => n).sort((a, b) => contribution[b] - contribution[a] || a - b);
      let left = 0, size = 0;
      let fewest = Infinity;
      // From the end, so that what is left is summed and not what was removed.
      for (let at = order.length - 1; at >= 0; at -= 1) {
        left += contribution[order[at]];
        size += Math.abs(contribution[order[at]]);
        if (left < -1e-12 * size) fewest = at;
      }
      if (fewest < Infinity && (best === null || fewest < best.size)) {
        best = { size: fewest, items: order.slice(0, fewest) };
      }
    });
    return best;
  }

  /** The weights without these items, renormalised; null where no weight is left. */
  function without(alpha, items) {
    const gone = new Set(items);
    return renormalise(alpha.map((weight, n) => (gone.has(n) ? 0 : weight)));
  }

  /** One random order of the weights, from numbers in [0, 1) that the caller draws. */
  function permuted(alpha, random) {
    const order = alpha.map((_, n) => n);
    for (let last = order.length - 1; last > 0; last -= 1) {
      const at = Math.floor(random() * (last + 1));
      [order[last], order[at]] = [order[at], order[last]];
    }
    return order.map((n) => alpha[n]);
  }

  /** Put weight w on item n and let the others share the rest as they did before. */
  function withWeight(alpha, n, w) {
    const rest = sum(alpha) - alpha[n];
    const others = alpha.length - 1;
    return alpha.map((weight, at) => {
      if (at === n) return others ? w : 1;
      return rest > 0 ? (weight / rest) * (1 - w) : (1 - w) / others;
    });
  }

  /** Move weight from one item to another. */
  function moved(alpha, from, to, amount) {
    const taken = Math.min(Math.max(amount, 0), alpha[from]);
    const out = alpha.slice();
    out[from] -= taken;
    out[to] += taken;
    return out;
  }

  return { argmax, furthest, jsd, logits, moved, permuted, probabilities, probs, renormalise, smallestFlip,
    tvd, uniform, without, withWeight };
})();
