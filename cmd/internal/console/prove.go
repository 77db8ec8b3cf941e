package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
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

// hereHeader proves that a console belongs to the cluster: it holds a signature of its address, the nonce of the request and the challenge.
const hereHeader = "Posta-Console"

func (s *Server) challenge(w http.ResponseWriter, r *http.Request) {
	challenge := s.passes.challenge(time.Now())
	if nonce := r.URL.Query().Get("nonce"); nonce != "" {
		shown, err := s.passes.trust.Sign(herePurpose, hereText(r.Host, nonce, challenge))
		if err != nil {
			http.Error(w, "this console cannot show that it is one", http.StatusInternalServerError)
			return
		}
		w.Header().Set(hereHeader, base64.StdEncoding.EncodeToString(shown))
	}
	_, _ = io.WriteString(w, challenge+"\n")
}

func hereText(host, nonce, challenge string) []byte {
	return []byte(host + "\n" + nonce + "\n" + challenge)
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

// ErrStranger is wrapped by the errors of Login and Check if the program at the port is no console of this cluster.
var ErrStranger = errors.New(
	"what answers there is not a console of this cluster: another program has its port, and must not be shown anything")

// Login proves to the console at an address like 127.0.0.1:8080 who its user is, and returns a link that lets in one browser within a
// minute. Before that the console has to prove that it belongs to the cluster.
func Login(ctx context.Context, address string, trust Trust, proof Proof) (link string, err error) {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	browser, done := newClient()
	defer done()
	challenge, err := shown(ctx, browser, address, trust)
	if err != nil {
		return "", fmt.Errorf("console at %s: %w", address, err)
	}
	statement, err := proof(loginText(address, challenge))
	if err != nil {
		return "", err
	}
	token, _, err := exchange(ctx, browser, http.MethodPost, "http://"+address+provePath, statement)
	if err != nil {
		return "", fmt.Errorf("console at %s: %w", address, err)
	}
	return "http://" + address + "/login?token=" + token, nil
}

// Check returns nil if a console of the cluster answers at an address. The error wraps ErrStranger if something else does.
func Check(ctx context.Context, address string, trust Trust) error {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	browser, done := newClient()
	defer done()
	_, err := shown(ctx, browser, address, trust)
	return err
}

func newClient() (browser *http.Client, done func()) {
	transport := &http.Transport{} // without a proxy: the console is on this machine
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		transport.CloseIdleConnections
}

// shown returns the challenge of a console that has proven that it belongs to the cluster. If the error does not wrap ErrStranger, nothing
// answers.
func shown(ctx context.Context, browser *http.Client, address string, trust Trust) (challenge string, err error) {
	nonce := secret()
	challenge, header, err := exchange(ctx, browser, http.MethodGet, "http://"+address+challengePath+"?nonce="+nonce, nil)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%w (%v)", ErrStranger, err) // whatever it says is not a refusal of a console
	}
	statement, err := base64.StdEncoding.DecodeString(header.Get(hereHeader))
	if err != nil || len(statement) == 0 {
		return "", ErrStranger
	}
	text, err := trust.Signed(herePurpose, statement)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrStranger, err)
	}
	if !bytes.Equal(text, hereText(address, nonce, challenge)) {
		return "", ErrStranger
	}
	return challenge, nil
}

// exchange sends a request and returns the one line that the console answers, and the headers of the answer.
func exchange(ctx context.Context, browser *http.Client, method, url string, body []byte) (string, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	answer, err := browser.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxProof))
	if err != nil {
		return "", nil, err
	}
	line := strings.TrimSpace(string(text))
	switch {
	case answer.StatusCode == http.StatusForbidden:
		return "", nil, fmt.Errorf("%w: %s", ErrRefused, display.Escape(line))
	case answer.StatusCode != http.StatusOK || line == "" || strings.ContainsAny(line, " \n<"):
		return "", nil, fmt.Errorf("it answers %s", answer.Status)
	}
	return line, answer.Header, nil
}
