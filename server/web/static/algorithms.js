// What the page knows about routing algorithms: what their thresholds mean. docs/algorithms.md has their rules. An algorithm that is
// not here, such as one of the server's owner, is steered by a plain number.

const uncertainty = { low: 0, high: 1, curve: 3, name: "Threshold of uncertainty", more: -1 };
const probability = { low: 0, high: 1, curve: 1, name: "Threshold of probability", more: -1 };
const share = { low: 0, high: 1, curve: 1, name: "Share by chance", more: 1, noShare: true };

// By algorithm, and by strategy where it has some; the first strategy is the algorithm's own choice. low and high bound the slider,
// curve bends it (small values get more of it), more is the direction in which the large model writes more, usual the algorithm's own
// threshold, noShare: there is no score that a share could go by, head: it needs a router head.
const known = {
  "r-stitch": { "": { ...uncertainty, usual: 0.03 } },
  citer: { "": { ...probability, usual: 0.98, more: 1, curve: 0.25, name: "Threshold of being right", head: true } },
  r2r: {
    neural: { ...probability, usual: 0.5, head: true },
    entropy: { low: 0, high: 6, curve: 2, name: "Threshold in nats", more: -1, usual: 0.45 },
    random: { ...share, usual: 0.1 },
  },
  "co-llm": { "": { ...probability, curve: 2, usual: 0.15, head: true } },
  query: {
    entropy: { ...uncertainty, usual: 0.03 },
    logprob: { low: -8, high: 0, curve: 1, name: "Threshold of log-probability", more: 1, usual: -0.69 },
    head: { ...probability, usual: 0.5, head: true },
    random: { ...share, usual: 0.1 },
  },
  random: { "": { ...share, usual: 0.1 } },
  ensemble: { "": null }, // weights, as configured
  speculative: { "": null }, // the large model decides about every token
};

export const unknown = { low: 0, high: 1, curve: 1, name: "Threshold", more: 0, usual: 0.5 };

// usable says whether an algorithm with a scale works on a route. A head is made for one algorithm: where one is needed, it must be the
// route's own.
function usable(algorithm, one, route) {
  return !one?.head || (algorithm === route.algorithm && one === scale(route.algorithm, route.strategy));
}

// choices are the algorithms that a route can be answered with.
export function choices(route) {
  const names = Object.keys(known).filter((name) =>
    (route.models.length === 2 || name === "ensemble") && Object.values(known[name]).some((one) => usable(name, one, route)));
  return names.includes(route.algorithm) ? names : [route.algorithm, ...names];
}

// strategies are those of an algorithm that work on a route; none: [].
export function strategies(algorithm, route) {
  return Object.entries(known[algorithm] ?? {}).filter(([name, one]) => name !== "" && usable(algorithm, one, route)).map(([name]) => name);
}

// scale describes the threshold of an algorithm; null: it has none.
export function scale(algorithm, strategy) {
  const own = known[algorithm];
  if (own === undefined) return unknown;
  const names = Object.keys(own);
  return own[names.includes(strategy) ? strategy : names[0]];
}

// at is the threshold at a position of the slider, 0 to 1; position is the reverse. Thresholds have three digits, as many as are
// told apart.
export function at(scale, position) {
  const x = scale.low + (scale.high - scale.low) * position ** scale.curve;
  return Number(x.toPrecision(3));
}

export function position(scale, threshold) {
  const part = (threshold - scale.low) / (scale.high - scale.low);
  return Math.min(Math.max(part, 0), 1) ** (1 / scale.curve);
}
