// @ts-check
/** Entropy of attention and of the measures. @type {Chart} */
const entropyChart = {
  id: "entropy",
  title: "How spread out is the attention?",
  caption: "Normalised entropy: 0 is one word, 1 is the same weight on all words.",
  has: (data) => data.entropy,
  measures: (data) =>
    Object.keys(data.entropy.measures).filter((name) => !name.startsWith("entropy")),
  first: "attention",
  note(data, view) {
    const line = data.zeros?.find((zeros) => zeros.class === view.group);
    return line ? `Weights of exactly 0: ${dom.percent(line.mean)}.` : "";
  },
  draw: (data, view) =>
    histogram.draw(data, data.entropy, view.measure, view, "normalised entropy"),
};
