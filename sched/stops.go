package sched

import "strings"

// stops finds the first stop string in a text that comes in pieces. Text that may be the beginning of a stop string is
// held back until it is known not to be.
type stops struct {
	strings []string // none is empty
	held    string
}

// add takes the next piece. It returns the text that is now certain to be part of the answer, and whether a stop string
// has been completed; the answer then ends with that text.
func (s *stops) add(piece string) (text string, stopped bool) {
	if len(s.strings) == 0 {
		return piece, false
	}
	if piece == "" {
		return "", false
	}
	all := s.held + piece
	at := -1
	for _, stop := range s.strings {
		if i := strings.Index(all, stop); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at >= 0 {
		s.held = ""
		return all[:at], true
	}
	keep := 0
	for _, stop := range s.strings {
		for n := min(len(stop)-1, len(all)); n > keep; n-- {
			if strings.HasSuffix(all, stop[:n]) {
				keep = n
				break
			}
		}
	}
	s.held = all[len(all)-keep:]
	return all[:len(all)-keep], false
}

// rest returns the text that is held back, when the answer ends without a stop string.
func (s *stops) rest() string {
	text := s.held
	s.held = ""
	return text
}
