package sched

import (
	"math"
	"sync"

	"github.com/tokenrouter/tokenrouter/router"
)

// shares are the calibrators of a route, by algorithm and strategy.
type shares struct {
	mu  sync.Mutex
	all map[[2]string]*router.Calibrator
}

// of returns what keeps a request's threshold, if its algorithm has a score.
func (s *shares) of(spec *Spec, entry router.Role) *sharing {
	if entry.Score == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{spec.Algorithm, spec.Params.Strategy}
	c := s.all[key]
	if c == nil {
		if s.all == nil {
			s.all = make(map[[2]string]*router.Calibrator)
		}
		c = router.NewCalibrator()
		s.all[key] = c
	}
	return &sharing{score: entry.Score, share: spec.Params.LargeShare, calibrator: c, prompt: spec.Prompt}
}

// sharing is how one request takes part in the calibration of its route: all requests show their scores, those with a share
// get a threshold and tell who wrote. It lives at the entry.
type sharing struct {
	score      *router.Score
	share      *float64 // nil: only shows its scores
	calibrator *router.Calibrator
	prompt     int

	mu            sync.Mutex // decode tells before each decision, the client-server loop at the end
	large, others int        // tokens told of
}

// threshold takes in the score of a row and returns the threshold for it; nil: the algorithm's own. own is how many of the tokens
// the entry wrote.
func (s *sharing) threshold(v router.View, own int) *float64 {
	score := s.score.Of(v)
	if !math.IsNaN(score) {
		s.calibrator.Seen(score)
	}
	if s.share == nil {
		return nil
	}
	s.wrote(len(v.Tokens)-s.prompt-own, own)
	if t, ok := s.calibrator.Threshold(*s.share, s.score.Low); ok {
		return &t
	}
	return nil
}

// wrote tells the calibrator who wrote how many tokens so far. Where one score decides about an answer, tokens tell nothing.
func (s *sharing) wrote(large, others int) {
	if s.share == nil || s.score.Answers {
		return
	}
	s.mu.Lock()
	l, o := max(large, s.large), max(others, s.others)
	dl, do := l-s.large, o-s.others
	s.large, s.others = l, o
	s.mu.Unlock()
	if dl+do > 0 {
		s.calibrator.Wrote(*s.share, dl, do)
	}
}
