//go:build !race

package throughput

const racing = false
