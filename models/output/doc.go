// Package output takes apart what a chat model writes: what it thought first, what it says, and which functions it calls. How these are
// marked depends on the family of the model, which its chat template tells.
//
//	style := output.Detect(template)
//	p := style.Parser(opened, tools)
//	for each piece of text { for _, d := range p.Add(text) { ... } }
//	for _, d := range p.Finish() { ... }
//
// It also describes, as sources of grammars, answers that must be a call.
package output
