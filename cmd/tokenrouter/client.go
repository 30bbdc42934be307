package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// client asks a running server.
type client struct {
	url, key string
}

// defaultURL is where serve listens unless told otherwise.
const defaultURL = "http://127.0.0.1:8080"

func (c *client) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.url, "url", "", "`URL` of the server; default: $TOKENROUTER_URL, or else "+defaultURL)
	cmd.Flags().StringVar(&c.key, "api-key", "", "`KEY` of the server, if it wants one; default: $TOKENROUTER_API_KEY")
}

// base is the server's address.
func (c *client) base() string {
	at := cmp.Or(c.url, os.Getenv("TOKENROUTER_URL"), defaultURL)
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	return strings.TrimRight(at, "/")
}

// loadingError says that the server is not ready yet.
type loadingError struct {
	text string
	body []byte
}

func (e *loadingError) Error() string { return e.text }

// get asks for a JSON document.
func (c *client) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return c.do(ctx, http.MethodGet, path, into)
}

// do asks for something to be done, which may take as long as it takes.
func (c *client) do(ctx context.Context, method, path string, into any) error {
	at, err := url.JoinPath(c.base(), path)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") {
		return fmt.Errorf("--url: %s: expected http:// or https://", c.base())
	}
	r, err := http.NewRequestWithContext(ctx, method, at, http.NoBody)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if key := cmp.Or(c.key, os.Getenv("TOKENROUTER_API_KEY")); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no server answers at %s: start one with tokenrouter serve, or name it with --url", c.base())
	}
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", at, err)
	}
	switch answer.StatusCode {
	case http.StatusOK:
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("%s answered with something else than expected; is it a TokenRouter server? %w", at, err)
		}
		return nil
	case http.StatusUnauthorized:
		return errors.New("the server wants an API key: give --api-key, or set TOKENROUTER_API_KEY")
	case http.StatusServiceUnavailable:
		return &loadingError{said(text), text}
	default:
		return fmt.Errorf("%s answered %s: %s", at, answer.Status, said(text))
	}
}

// said is the message of an error of the API, or else the beginning of what came.
func said(text []byte) string {
	var e struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return strings.ToValidUTF8(string(text[:min(len(text), 200)]), "")
}
