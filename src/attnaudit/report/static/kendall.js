// @ts-check
/**
 * Kendall's tau-b of two vectors; null if one of them is constant.
 * @param {number[]} x
 * @param {number[]} y
 */
function kendallTau(x, y) {
  let together = 0;
  let untiedX = 0;
  let untiedY = 0;
  for (let i = 0; i < x.length; i += 1) {
    for (let j = i + 1; j < x.length; j += 1) {
      const a = Math.sign(x[i] - x[j]);
      const b = Math.sign(y[i] - y[j]);
      together += a * b;
      untiedX += a * a;
      untiedY += b * b;
    }
  }
  return untiedX && untiedY ? together / Math.sqrt(untiedX * untiedY) : null;
}
