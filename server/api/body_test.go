package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// half is a connection on which half of a request's body was sent; rest is the other half.
type half struct {
	net.Conn
	rest string
}

func sendHalf(t *testing.T, s *site) half {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	body := chatBody("pair", "")
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	require.NoError(t, err)
	// The server asks for the body when it begins to read it.
	const invitation = "HTTP/1.1 100 Continue\r\n\r\n"
	line := make([]byte, len(invitation))
	_, err = io.ReadFull(conn, line)
	require.NoError(t, err)
	require.Equal(t, invitation, string(line))
	_, err = io.WriteString(conn, body[:len(body)/2])
	require.NoError(t, err)
	return half{conn, body[len(body)/2:]}
}

// answer waits for what the server says, and after an error for the end of the connection.
func (h half) answer(t *testing.T) (*http.Response, string) {
	t.Helper()
	in := bufio.NewReader(h)
	r, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	body := read(t, r)
	if r.StatusCode != http.StatusOK {
		_, err = in.ReadByte()
		var timeout net.Error
		require.False(t, err == nil || errors.As(err, &timeout) && timeout.Timeout(), "the connection must be closed: %v", err)
	}
	return r, body
}

func TestClientThatStalls(t *testing.T) {
	site := newSite(t, brief(), func(o *Options) { o.BodyTimeout = 50 * time.Millisecond })
	r, body := sendHalf(t, site).answer(t)
	requireProblem(t, r, body, 408, "", "request_timeout", "did not arrive whole within 50ms")
}

func TestClientThatEndsHalfway(t *testing.T) {
	site := newSite(t, brief(), nil)
	h := sendHalf(t, site)
	require.NoError(t, h.Conn.(*net.TCPConn).CloseWrite())
	r, body := h.answer(t)
	requireProblem(t, r, body, 400, "", "invalid_json", "did not arrive whole: unexpected EOF")
}

// A body that is on its way when the server drains is refused at once: it must not hold up the end.
func TestDrainRefusesHalfBodies(t *testing.T) {
	site := newSite(t, brief(), nil)
	h := sendHalf(t, site)
	start := time.Now()
	site.api.Drain()
	r, body := h.answer(t)
	requireProblem(t, r, body, 503, "", "shutting_down", "the request body had not arrived whole")
	require.Equal(t, "5", r.Header.Get("Retry-After"))
	require.Less(t, time.Since(start), 30*time.Second, "the body timeout is a minute")
}
