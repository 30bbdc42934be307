package openai

import "slices"

// failureTexts say why a request fails, by status.
var failureTexts = map[string]string{
	"400": "something in the request is wrong; param names the field",
	"401": "no valid API key was given, and this server wants one",
	"403": "the request comes from a web page of an origin that is not allowed",
	"404": "there is no such model",
	"405": "the path has other methods; the header Allow names them",
	"408": "the body did not arrive in time",
	"409": "requests are being answered that may come to this model",
	"413": "the body is larger than this server takes",
	"415": "the body is compressed, which is not supported",
	"429": "this client has too many requests here; the header Retry-After says when to try again",
	"500": "something went wrong on the server",
	"503": "loading, busy or shutting down; the header Retry-After says when to try again",
	"504": "the answer took longer than this server allows",
}

// securitySchemes are the ways to give an API key.
var securitySchemes = map[string]any{
	"bearer": map[string]any{"type": "http", "scheme": "bearer"},
	"apiKey": map[string]any{"type": "apiKey", "in": "header", "name": "X-API-Key"},
}

// failures lists the statuses with which an operation can fail.
func (o *operation) failures() []string {
	list := []string{"403", "405"}
	if !o.probe {
		list = append(list, "401")
	}
	if o.busy {
		list = append(list, "503")
	}
	if o.parameter != "" || o.request != nil {
		list = append(list, "404")
	}
	if o.request != nil {
		list = append(list, "400", "408", "413", "415", "500")
	}
	if o.acts {
		list = append(list, "400", "500")
	}
	if o.conflicts {
		list = append(list, "409")
	}
	if o.streams {
		list = append(list, "429", "504")
	}
	slices.Sort(list)
	return list
}

// answered is a response with a JSON body.
func answered(schema any, description string) map[string]any {
	return map[string]any{"description": description, "content": map[string]any{"application/json": map[string]any{"schema": schema}}}
}
