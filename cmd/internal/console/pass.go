package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/security"
)

// Trust decides which users the consoles of a cluster's medics let in, and proves that a program is such a console.
type Trust interface {
	// Sign signs a text for a purpose as a console of this cluster.
	Sign(purpose string, text []byte) ([]byte, error)
	// Signed checks that a console of this cluster has signed a statement for a purpose, and returns the signed text.
	Signed(purpose string, statement []byte) ([]byte, error)
	// Proven checks that a user has signed a statement with Proof, and returns the text and the user. The error says what the user can do.
	Proven(statement []byte) ([]byte, User, error)
	// Admits reports whether the user is still let in, with the same role.
	Admits(u User) bool
}

// Proof signs a text as a user.
type Proof func(text []byte) ([]byte, error)

// Purposes of signed statements.
const (
	herePurpose     = "console here"     // a console shows a user that it is one
	loginPurpose    = "console login"    // a user names itself to a console
	handOverPurpose = "console handover" // a console lets a page continue at another one
	cookiePurpose   = "console cookie"   // signed with a key of one process alone
)

// WithKeys trusts the users whose keys are below [clients] of the topology, and the medics of the cluster. The keys are those of a medic.
func WithKeys(keys *security.Keys) Trust { return keyTrust{keys} }

// ProofByKey proves that a user has a client's key.
func ProofByKey(keys *security.Keys) Proof {
	return func(text []byte) ([]byte, error) { return keys.Sign(loginPurpose, text) }
}

type keyTrust struct{ keys *security.Keys }

var errNoConsole = errors.New("it is not signed by a medic of this cluster")

func (k keyTrust) Sign(purpose string, text []byte) ([]byte, error) {
	return k.keys.Sign(purpose, text)
}

func (k keyTrust) Signed(purpose string, statement []byte) ([]byte, error) {
	text, by, _, err := k.keys.Verify(purpose, statement)
	if err == nil && by.Role != security.Medic {
		err = errNoConsole
	}
	return text, err
}

func (k keyTrust) Proven(statement []byte) ([]byte, User, error) {
	text, by, key, err := k.keys.Verify(loginPurpose, statement)
	if err != nil {
		return nil, User{}, err
	}
	if by.Role != security.Watch && by.Role != security.Operate {
		return nil, User{}, fmt.Errorf("%s may not see the cluster: the console needs the role watch or operate, which the operator gives in "+
			"[clients] of the topology; posta sessions shows your own sessions", by)
	}
	return text, User{Name: by.Name, Role: by.Role, Key: key}, nil
}

func (k keyTrust) Admits(u User) bool {
	id, listed := k.keys.ClientOf(u.Key)
	return listed && id == (security.Identity{Role: u.Role, Name: u.Name})
}

// WithSecret trusts everybody who knows a secret. The secret is in a file that only one user of the machine can read. It is for clusters
// without keys.
func WithSecret(secret []byte) Trust { return secretTrust(secret) }

// ProofBySecret proves that a user has read the file.
func ProofBySecret(secret []byte) Proof {
	return func(text []byte) ([]byte, error) { return secretTrust(secret).sign(loginPurpose, text), nil }
}

type secretTrust []byte

func (s secretTrust) sign(purpose string, text []byte) []byte {
	h := hmac.New(sha256.New, s)
	_, _ = fmt.Fprintf(h, "%s\x00%s", purpose, text) // it never fails
	return append(h.Sum(nil), text...)
}

var errOtherSecret = errors.New("it is not signed with the secret of this cluster's consoles: run posta console --login as the user who " +
	"started the cluster, on the same machine")

func (s secretTrust) verify(purpose string, statement []byte) ([]byte, error) {
	if len(statement) < sha256.Size || !hmac.Equal(s.sign(purpose, statement[sha256.Size:]), statement) {
		return nil, errOtherSecret
	}
	return statement[sha256.Size:], nil
}

func (s secretTrust) Sign(purpose string, text []byte) ([]byte, error) {
	return s.sign(purpose, text), nil
}
func (s secretTrust) Signed(purpose string, statement []byte) ([]byte, error) {
	return s.verify(purpose, statement)
}
func (s secretTrust) Proven(statement []byte) ([]byte, User, error) {
	text, err := s.verify(loginPurpose, statement)
	return text, User{Role: security.Operate}, err
}
func (s secretTrust) Admits(u User) bool { return u == User{Role: security.Operate} }

// Bounds of what passes keep (R16).
const (
	challengeLasts = time.Minute
	linkLasts      = time.Minute
	maxLinks       = 64  // links of users who have proven who they are; a further one makes the oldest invalid
	maxEnded       = 512 // cookies of users who have logged out
)

// passes is the gate of a console that a medic serves. A user signs a challenge to prove who it is, gets a link, and exchanges the link for
// a cookie. Browsers send a cookie to whatever program has the port, so a cookie is good only at the process that has made it: whoever
// takes the port after it gets nothing that any console accepts. If this medic dies, the page continues at another one, by handOver.
//
// A challenge costs no memory: it contains its time and a code that only this process can make. Once a user has proven something with it,
// it is used up.
type passes struct {
	trust Trust
	key   secretTrust // of this process alone: for the codes of challenges, and for cookies

	mu    sync.Mutex
	links []loginLink // oldest first
	used  []usedOnce  // used challenges, oldest first
	gone  []usedOnce  // cookies that were ended, oldest first
}

type loginLink struct {
	digest [sha256.Size]byte // digest of its token
	user   User
	ends   time.Time
	until  time.Time // when the login ends that begins with it
}

type usedOnce struct {
	digest [sha256.Size]byte
	ends   time.Time
}

// pass is the content of a cookie, and of what a page hands over.
type pass struct {
	User
	ID   string    `json:"id"`
	Ends time.Time `json:"ends"`
	Page []byte    `json:"page,omitempty"` // in what is handed over: the page's public key
}

func newPasses(trust Trust) *passes { return &passes{trust: trust, key: secretTrust(secret())} }

var (
	errOldChallenge = errors.New(
		"the challenge is older than a minute, was used already, or belongs to another console: run posta console --login again")
	errOtherHost = errors.New("the login was signed for a console at another address")
)

// challenge returns a text that a user must sign within challengeLasts.
func (p *passes) challenge(now time.Time) string {
	text := fmt.Sprintf("%d.%s", now.UnixMilli(), secret())
	return text + "." + p.code(text)
}

func (p *passes) code(text string) string {
	h := hmac.New(sha256.New, p.key)
	_, _ = h.Write([]byte(text)) // it never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func (p *passes) fresh(challenge string, now time.Time) bool {
	at := strings.LastIndexByte(challenge, '.')
	if at < 0 || subtle.ConstantTimeCompare([]byte(p.code(challenge[:at])), []byte(challenge[at+1:])) != 1 {
		return false
	}
	var made int64
	if _, err := fmt.Sscanf(challenge, "%d.", &made); err != nil {
		return false
	}
	age := now.Sub(time.UnixMilli(made))
	return age >= 0 && age <= challengeLasts
}

// loginText is the text that a user signs. It contains the address of the console that the user has asked, so no other program can present
// that console's challenge as its own.
func loginText(host, challenge string) []byte { return []byte(host + "\n" + challenge) }

// prove returns the token of a link for a user who has signed a challenge. hosts are the addresses of this console.
func (p *passes) prove(statement []byte, hosts []string, now time.Time) (token string, err error) {
	text, user, err := p.trust.Proven(statement)
	if err != nil {
		return "", err
	}
	return p.link(text, hosts, user, now.Add(loginLasts), now)
}

// link returns the token of a link for a user who has signed a loginText.
func (p *passes) link(text []byte, hosts []string, user User, until, now time.Time) (token string, err error) {
	host, challenge, _ := strings.Cut(string(text), "\n")
	if !slices.Contains(hosts, host) {
		return "", errOtherHost
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fresh(challenge, now) || !once(&p.used, digestOf(challenge), now.Add(challengeLasts), now) {
		return "", errOldChallenge
	}
	token = secret()
	if len(p.links) == maxLinks {
		p.links = append(p.links[:0], p.links[1:]...)
	}
	p.links = append(p.links, loginLink{digestOf(token), user, now.Add(linkLasts), until})
	return token, nil
}

// once notes that something was used, and returns false if it was used before. It forgets entries that have expired.
func once(all *[]usedOnce, digest [sha256.Size]byte, ends, now time.Time) bool {
	kept := (*all)[:0]
	seen := false
	for _, u := range *all {
		if now.After(u.ends) {
			continue
		}
		seen = seen || u.digest == digest
		kept = append(kept, u)
	}
	if len(kept) == maxEnded {
		kept = append(kept[:0], kept[1:]...)
	}
	if !seen {
		kept = append(kept, usedOnce{digest, ends})
	}
	*all = kept
	return !seen
}

func (p *passes) exchange(token string, now time.Time) (string, bool) {
	l, ok := p.take(digestOf(token), now)
	if !ok {
		return "", false
	}
	text, err := json.Marshal(pass{User: l.user, ID: secret(), Ends: l.until.UTC().Truncate(time.Second)})
	return base64.RawURLEncoding.EncodeToString(p.key.sign(cookiePurpose, text)), err == nil
}

// take returns a link, and makes it invalid.
func (p *passes) take(digest [sha256.Size]byte, now time.Time) (loginLink, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.links {
		if subtle.ConstantTimeCompare(l.digest[:], digest[:]) == 1 {
			p.links = append(p.links[:i], p.links[i+1:]...)
			return l, !now.After(l.ends)
		}
	}
	return loginLink{}, false
}

func (p *passes) known(cookie string, now time.Time) (admission, bool) {
	one, ok := p.read(cookie, now)
	if !ok || !p.trust.Admits(one.User) {
		return admission{}, false
	}
	return admission{User: one.User, ends: one.Ends}, !p.ended(one.ID)
}

// ended reports whether a login was ended here.
func (p *passes) ended(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	digest := digestOf(id)
	return slices.ContainsFunc(p.gone, func(g usedOnce) bool { return g.digest == digest })
}

// read returns the content of a cookie, if this process has made it and it is still valid.
func (p *passes) read(cookie string, now time.Time) (one pass, ok bool) {
	statement, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return pass{}, false
	}
	text, err := p.key.verify(cookiePurpose, statement)
	if err != nil || json.Unmarshal(text, &one) != nil {
		return pass{}, false
	}
	return one, now.Before(one.Ends)
}

// end makes a cookie invalid here. Pages that are open keep what they may hand over, and can continue at the console of another medic until
// the login ends.
func (p *passes) end(cookie string, now time.Time) {
	one, ok := p.read(cookie, now)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	once(&p.gone, digestOf(one.ID), one.Ends, now)
}

// endAll ends one cookie: those of other browsers do not say at which console they were given out.
func (p *passes) endAll(cookie string, now time.Time) { p.end(cookie, now) }
