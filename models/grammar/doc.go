// Package grammar says which tokens of a vocabulary may come next, so that what a model writes is in a language: JSON, JSON that
// a schema describes, or such JSON with fixed text around it.
//
//	v := grammar.NewVocabulary(size, bytes, ends)      // once for a tokenizer
//	g, err := grammar.Compile(v, source)               // err says which keyword of a schema is not supported
//	s := g.Start()
//	mask, only := s.Mask()                             // the ids that may come next
//	s, err = s.Next(id)                                // after one of them was written
//
// A grammar is a set of rules; a rule is an automaton over bytes that may call other rules. A state of the answer is a set of
// stacks of nodes, since a text can be read in several ways at a time. States are immutable and shared by all requests with the
// same grammar: what a byte leads to, and which tokens may follow, is found out once and remembered.
//
// The mask of a state is made of two parts. For the node on top of a stack it is known, whatever lies below, which tokens can be
// written without leaving its rule, and at which points of the trie of all tokens the rule may end; that is remembered for the node.
// Only the few tokens that go on from such a point are looked at for the stack as a whole.
//
// Grammars and states may be used by many goroutines.
package grammar
