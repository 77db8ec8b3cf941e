package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"time"
)

// A page of a medic's console continues at the console of another medic, or at its own one after a restart, without a cookie that they
// share: whatever program has taken a port meanwhile would get that cookie. Each page has a key of its own, which its browser does not give
// away. Its console signs what the page may hand over, with that key in it. At another console the page signs a challenge together with the
// console's address. A program that only pretends to be that console gets nothing that it could use elsewhere.

// Paths that pages request for this.
const (
	handOverPath = "/handover"
	continuePath = "/login/continue"
)

// handOver returns what the page with this key may hand over to another console, for the login of a cookie.
func (p *passes) handOver(cookie string, page []byte, now time.Time) (string, error) {
	one, ok := p.read(cookie, now)
	if !ok {
		return "", errNotSigned
	}
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), page); err != nil {
		return "", err
	}
	one.Page = page
	text, err := json.Marshal(one)
	if err != nil {
		return "", err
	}
	statement, err := p.trust.Sign(handOverPurpose, text)
	return base64.RawURLEncoding.EncodeToString(statement), err
}

// continued is what a page sends to the console where it continues.
type continued struct {
	Pass      string `json:"pass"`      // from handOver
	Text      string `json:"text"`      // a loginText
	Signature []byte `json:"signature"` // of the text, by the page's key: two numbers of 32 bytes
}

var errNotSigned = errors.New("no console of this cluster has let this page in, or its login is over: run posta console --login")

// proceed returns the token of a link for a page that has signed a challenge. hosts are the addresses of this console.
func (p *passes) proceed(c continued, hosts []string, now time.Time) (token string, err error) {
	statement, err := base64.RawURLEncoding.DecodeString(c.Pass)
	if err != nil {
		return "", errNotSigned
	}
	text, err := p.trust.Signed(handOverPurpose, statement)
	if err != nil {
		return "", err
	}
	var one pass
	if json.Unmarshal(text, &one) != nil || !now.Before(one.Ends) || !p.trust.Admits(one.User) || p.ended(one.ID) {
		return "", errNotSigned
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), one.Page)
	if err != nil || len(c.Signature) != 64 {
		return "", errNotSigned
	}
	digest := sha256.Sum256([]byte(c.Text))
	r, s := new(big.Int).SetBytes(c.Signature[:32]), new(big.Int).SetBytes(c.Signature[32:])
	if !ecdsa.Verify(key, digest[:], r, s) {
		return "", errNotSigned
	}
	return p.link([]byte(c.Text), hosts, one.User, one.Ends, now)
}

func (s *Server) handOver(w http.ResponseWriter, r *http.Request) {
	page, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxToken))
	if err == nil {
		page, err = base64.StdEncoding.DecodeString(string(page))
	}
	if err != nil {
		http.Error(w, "the key could not be read", http.StatusBadRequest)
		return
	}
	for _, c := range r.CookiesNamed(s.cookie) {
		if pass, err := s.passes.handOver(c.Value, page, time.Now()); err == nil {
			_, _ = io.WriteString(w, pass+"\n")
			return
		}
	}
	http.Error(w, "this is not a key", http.StatusBadRequest)
}

func (s *Server) proceed(w http.ResponseWriter, r *http.Request) {
	var c continued
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxProof)).Decode(&c); err != nil {
		http.Error(w, "the proof could not be read", http.StatusBadRequest)
		return
	}
	token, err := s.passes.proceed(c, s.hosts, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	_, _ = io.WriteString(w, token+"\n")
}
