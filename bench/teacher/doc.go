// Package teacher measures how close the engine's distributions are to others, under teacher forcing: the engine reads a
// prompt and the tokens that were chosen after it, and says at each of them what it would have predicted. One chosen
// token differs from another engine's as soon as two are nearly equally likely, so whole texts say little; distributions
// at the same context say all.
//
// Two yardsticks: golden answers of another engine ([Agreement]), and the engine's own exact float path ([Divergence]).
package teacher
