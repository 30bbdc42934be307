module github.com/tokenrouter/tokenrouter

go 1.26
