// Package router holds the routing algorithms: programs that say, from the view of one request, which model writes the
// next token.
//
// A program is written per role. The model at the entry of a route (usually the small one) plays role 0, the next model
// of the route role 1, and so on. A role says what it needs from a forward pass ([Needs]) and gives up to three
// functions (paper, "request-centric programming"):
//
//   - Route, after every forward pass that asked for an output: a [Destination], stay here or hand off to a peer.
//   - Send, on a handoff: what the peer request carries. The default ships the tokens that the peer has not seen, with
//     the token just sampled or without it, as Role.Keep says.
//   - Receive, at the peer: how a peer request becomes local tokens. The default commits all of them.
//
// The functions are pure: they see an immutable [View] and touch nothing, so they may run for many requests at once.
// The package knows nothing of batches, KV caches or engines. A new algorithm is one file that calls [Register].
package router
