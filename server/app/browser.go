package app

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// foreign is why a request that a browser sends for a web page is refused; nil: it is not. Requests of other programs pass.
//
// A browser sends some requests for any page, without asking first; the answer it keeps from the page, but the models have worked.
// And a page whose name was made to mean this machine ("DNS rebinding") is to the browser of the same origin as the server.
// Where keys are wanted, neither gets anywhere.
func (d *door) foreign(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" && !d.trusts(origin) {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return fmt.Errorf("web pages of %.100q may not use this server; the setting server.cors_origins lists those that may", origin)
		}
	}
	if len(d.keys) == 0 && toThisMachine(r) && !d.namesThisMachine(r.Host) {
		return fmt.Errorf("%.100q is no name of this machine; to serve under it set server.api_keys, or list its origin in server.cors_origins", r.Host)
	}
	return nil
}

// trusts reports whether pages of an origin may use the API.
func (d *door) trusts(origin string) bool {
	return slices.Contains(d.origins, "*") || slices.Contains(d.origins, origin)
}

// toThisMachine reports whether a request came to an address that only this machine has.
func toThisMachine(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// namesThisMachine reports whether a Host is an address, localhost, or that of a trusted origin: no name that somebody else gave.
func (d *door) namesThisMachine(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.Contains(d.origins, "*") || slices.ContainsFunc(d.origins, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && (strings.EqualFold(u.Host, host) || strings.EqualFold(u.Hostname(), name))
	})
}
