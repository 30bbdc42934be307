// Package throughput predicts how many tokens per second a set of models writes together, as a function of the batching
// thresholds, and finds the thresholds that give the most.
//
// What is known of a [System]: how many requests are live, with what probability a request goes from one model to another
// after a step, which of these moves commit a token, how long a step takes, and whether the models share a device.
// Threshold B_i means: model i, when it could run, starts with all requests that wait for it once at least B_i do.
//
// Four ways lead to an answer:
//
//   - [Published] is the Markov chain of the paper: any number of models, constant latencies, separate devices. Its states
//     grow fast with the number of requests.
//   - [Cycle] is a chain over the batches of the larger of two models on separate devices, for latencies that depend on the
//     batch. It keeps the phase between the steps of the two, which decides small gains.
//   - [Shared] is the exact chain of two models that take turns on one device.
//   - [Trajectory] follows requests on a virtual clock with seeded random numbers. It takes everything, is slower, and has
//     some noise: for three models and more, and where a chain does not fit.
//
// [System.Throughput] and [System.Optimum] choose among them.
//
// "Rows" are tokens that a step appends to the KV caches: a model that has not seen a request for a while first takes in what
// the others wrote. All times are in seconds.
package throughput
