module example.com/custom-algorithm

go 1.26.0

require github.com/tokenrouter/tokenrouter v0.0.0

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/tokenrouter/tokenrouter => ../..
