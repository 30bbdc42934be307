// Package suggest finds what a misspelt name was probably meant to be.
package suggest

import (
	"strings"
	"unicode/utf8"
)

// Closest returns the known name nearest to the given one by edit distance (insert, delete, replace, swap of
// neighbours), ignoring case, and "" when none is close enough to be a likely misspelling: at most a third of the
// longer name's characters may differ, and one always may.
func Closest(name string, known []string) string {
	best, bestDistance := "", -1
	for _, k := range known {
		d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(k)))
		limit := max(1, max(utf8.RuneCountInString(name), utf8.RuneCountInString(k))/3)
		if d <= limit && d < min(utf8.RuneCountInString(name), utf8.RuneCountInString(k)) && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = k, d
		}
	}
	return best
}

// Phrase returns "; did you mean X?" for the closest known name, and "" without one.
func Phrase(name string, known []string) string {
	if c := Closest(name, known); c != "" {
		return "; did you mean " + c + "?"
	}
	return ""
}

// distance is the optimal string alignment distance. O(len(a)*len(b)); names longer than 256 characters are cut, since
// the distance of such names is of no use to anyone.
func distance(a, b []rune) int {
	const most = 256
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
