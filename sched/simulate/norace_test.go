//go:build !race

package simulate

const racing = false
