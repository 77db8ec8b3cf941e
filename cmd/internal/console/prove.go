package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/display"
)

// Paths that posta console --login requests.
const (
	challengePath = "/login/challenge"
	provePath     = "/login/prove"
)

// maxProof bounds the size of a proof, and of an answer to it, in bytes.
const maxProof = 16 << 10

func (s *Server) challenge(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, s.passes.challenge(time.Now())+"\n")
}

// prove gives the token of a link to a user who has signed a challenge.
func (s *Server) prove(w http.ResponseWriter, r *http.Request) {
	statement, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxProof))
	if err != nil {
		http.Error(w, "the proof could not be read", http.StatusBadRequest)
		return
	}
	token, err := s.passes.prove(statement, s.hosts, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	_, _ = io.WriteString(w, token+"\n")
}

// ErrRefused is wrapped by the error of Login if the console does not let the user in.
var ErrRefused = errors.New("it does not let you in")

// loginTime bounds a login.
const loginTime = 10 * time.Second

// Login proves to the console at an address like 127.0.0.1:8080 who its user is, and returns a link that lets in one browser within a minute.
func Login(ctx context.Context, address string, proof Proof) (link string, err error) {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	transport := &http.Transport{} // without a proxy: the console is on this machine
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	challenge, err := exchange(ctx, browser, http.MethodGet, "http://"+address+challengePath, nil)
	if err != nil {
		return "", fmt.Errorf("console at %s: %w", address, err)
	}
	statement, err := proof(loginText(address, challenge))
	if err != nil {
		return "", err
	}
	token, err := exchange(ctx, browser, http.MethodPost, "http://"+address+provePath, statement)
	if err != nil {
		return "", fmt.Errorf("console at %s: %w", address, err)
	}
	return "http://" + address + "/login?token=" + token, nil
}

// exchange sends a request and returns the one line that the console answers.
func exchange(ctx context.Context, browser *http.Client, method, url string, body []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	answer, err := browser.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxProof))
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(string(text))
	switch {
	case answer.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("%w: %s", ErrRefused, display.Escape(line))
	case answer.StatusCode != http.StatusOK || line == "" || strings.ContainsAny(line, " \n<"):
		return "", fmt.Errorf("what answers there is not a console that a medic serves (%s)", answer.Status)
	}
	return line, nil
}
