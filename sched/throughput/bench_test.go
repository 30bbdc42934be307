package throughput

import "testing"

// BenchmarkOptimum is what it costs to plan for one number of live requests.
func BenchmarkOptimum(b *testing.B) {
	systems := map[string]System{
		"shared/N=16":       apart(16, 0.1, 1, 4, 0.02),
		"shared/N=64":       apart(64, 0.1, 1, 4, 0.02),
		"symmetric/N=32":    apart(32, 0.1, 0.5, 4, 0.02),
		"apart/N=16":        apart(16, 0.1, 1, 4, 0.02),
		"apart/N=64":        apart(64, 0.1, 1, 4, 0.02),
		"apart/both/N=64":   apart(64, 0.1, 0.5, 4, 0.02),
		"three/shared/N=16": mix(16, true, 0.8, 0.1, 0.1),
		"three/shared/N=64": mix(64, true, 0.8, 0.1, 0.1),
		"three/apart/N=64":  mix(64, false, 0.8, 0.1, 0.1),
	}
	for name, s := range systems {
		s.Shared = s.Shared || name[0] == 's'
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := s.Optimum(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
