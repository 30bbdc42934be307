// Package fetch downloads one file over HTTP so that nothing is lost and nothing half-finished is taken for whole.
//
//	result, err := (&fetch.Fetcher{}).File(ctx, fetch.Request{URL: url, To: "models/m.gguf", SHA256: sum})
//
// What has come lies in TO.part, which is locked while it grows, beside TO.part.json, which says what it is a part of. A
// download that was cut goes on where it ended if the host says that its file is still the same one (RFC 9110: Range, If-Range),
// or if a checksum will tell. The file gets its name when it is whole, its checksum right and its content what it should be.
package fetch
