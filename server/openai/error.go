package openai

import (
	"fmt"
	"net/http"
)

// Types of errors.
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeServer         = "server_error"
	TypeRateLimit      = "rate_limit_error"
)

// Codes of errors.
const (
	CodeInvalidJSON         = "invalid_json"
	CodeInvalidType         = "invalid_type"
	CodeInvalidValue        = "invalid_value"
	CodeMissing             = "missing_required_parameter"
	CodeUnknownParameter    = "unknown_parameter"
	CodeUnsupported         = "unsupported_parameter"
	CodeUnsupportedValue    = "unsupported_value"
	CodeModelNotFound       = "model_not_found"
	CodeContextLength       = "context_length_exceeded"
	CodeBodyTooLarge        = "request_too_large"
	CodeNotFound            = "not_found"
	CodeMethodNotAllowed    = "method_not_allowed"
	CodeUnsupportedEncoding = "unsupported_content_encoding"
	CodeQueueFull           = "queue_full"          // for everybody
	CodeRateLimit           = "rate_limit_exceeded" // for a client that has many requests here
	CodeLoading             = "model_loading"
	CodeShuttingDown        = "shutting_down"
	CodeTimeout             = "timeout"         // of the answer
	CodeRequestTimeout      = "request_timeout" // of the client, which stalled
	CodeInvalidAPIKey       = "invalid_api_key"
	CodeForbiddenOrigin     = "forbidden_origin" // of a web page
	CodeModelBusy           = "model_busy"       // to be unloaded
	CodeDeviceLost          = "device_lost"      // what a model runs on is gone
	CodeInternal            = "internal_error"
)

// Error is an error as the API reports it.
type Error struct {
	Status  int // of HTTP; not part of the body
	Message string
	Type    string
	Param   string // the field at fault, "messages[0].content"; "" becomes null
	Code    string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Body is the JSON body of an error, and of an error event in a stream.
func (e *Error) Body() ErrorBody {
	d := ErrorDetail{Message: e.Message, Type: e.Type}
	if e.Param != "" {
		d.Param = &e.Param
	}
	if e.Code != "" {
		d.Code = &e.Code
	}
	return ErrorBody{Error: d}
}

// ErrorBody is the JSON of an error.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail is what went wrong.
type ErrorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// Invalid is a 400 about a field. The message names the field first.
func Invalid(param, code, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if param != "" {
		message = param + ": " + message
	}
	return &Error{Status: http.StatusBadRequest, Message: message, Type: TypeInvalidRequest, Param: param, Code: code}
}

// Failure is an error of the server's own.
func Failure(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Message: fmt.Sprintf(format, args...), Type: TypeServer, Code: code}
}

// under makes an error about a value one about the field that the value stands in; at is a field of the request.
func (e *Error) under(at string) *Error {
	if e.Param != "" {
		return e.inside(at)
	}
	return Invalid(at, e.Code, "%s", e.Message)
}

// inside makes an error about a field of a part of the request one about the request.
func (e *Error) inside(part string) *Error {
	in := *e
	in.Param, in.Message = part+"."+e.Param, part+"."+e.Message
	return &in
}
