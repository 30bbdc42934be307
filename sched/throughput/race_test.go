//go:build race

package throughput

// racing: the race detector is on. Nothing runs at the same time as anything else here, so that the long comparisons with
// simulation, ten times slower under it, would show nothing new.
const racing = true
