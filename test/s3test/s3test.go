// Package s3test is a server for tests that serves objects as Amazon S3 does, and checks every signature. It was written from the
// description of Signature Version 4, and shares no code with the signing side.
package s3test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the server accepts.
const (
	Key    = "AKIDEXAMPLE"
	Secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	Region = "eu-central-1"
)

// Server is a server with one bucket.
type Server struct {
	URL     string
	Bucket  string
	Objects map[string][]byte // by key; must not change after Start
	Page    int               // how many keys a page of a list has
	Next    func() string     // returns the token of a next page, for a list that never ends; nil for a list as it is

	mu   sync.Mutex
	cuts map[string]int // by key: how many bytes of the next reply are sent before it is cut
	seen []string       // requests
}

// Start starts a server on loopback that runs until the test ends, and points the environment to it.
func Start(t *testing.T, bucket string, objects map[string][]byte) *Server {
	t.Helper()
	s := &Server{Bucket: bucket, Objects: objects, Page: 2, cuts: make(map[string]int)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": Region, "AWS_ACCESS_KEY_ID": Key,
		"AWS_SECRET_ACCESS_KEY":     Secret,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": t.TempDir() + "/none", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none"} {
		t.Setenv(name, value)
	}
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN",
		"HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
	return s
}

// Cut makes the next reply with an object end after some bytes.
func (s *Server) Cut(key string, after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts[key] = after
}

// Seen returns the requests so far.
func (s *Server) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+key+" "+r.Header.Get("Range"))
	cut, cuts := s.cuts[key]
	if key != "" {
		delete(s.cuts, key)
	}
	s.mu.Unlock()
	if code := check(r, time.Now()); code != "" {
		refuse(w, http.StatusForbidden, code)
		return
	}
	object, found := s.Objects[key]
	switch {
	case bucket != s.Bucket:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case key == "" && r.URL.Query().Get("list-type") == "2":
		s.list(w, r.URL.Query())
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(object)))
		if cuts {
			w = &short{w, cut}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(object))
		if cuts {
			panic(http.ErrAbortHandler)
		}
	}
}

// short writes only the first bytes of a reply.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(p []byte) (int, error) {
	n, err := s.ResponseWriter.Write(p[:min(len(p), s.left)])
	s.left -= n
	if err == nil && n < len(p) {
		s.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func (s *Server) list(w http.ResponseWriter, query url.Values) {
	type content struct{ Key string }
	reply := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []content
		IsTruncated           bool
		NextContinuationToken string
	}{}
	var keys []string
	for key := range s.Objects {
		if strings.HasPrefix(key, query.Get("prefix")) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	from, _ := strconv.Atoi(query.Get("continuation-token"))
	from = min(from, len(keys))
	to := min(from+s.Page, len(keys))
	for _, key := range keys[from:to] {
		reply.Contents = append(reply.Contents, content{key})
	}
	if reply.IsTruncated = to < len(keys); reply.IsTruncated {
		reply.NextContinuationToken = strconv.Itoa(to)
	}
	if s.Next != nil {
		reply.IsTruncated, reply.NextContinuationToken = true, s.Next()
	}
	text, err := xml.Marshal(reply)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text)
}

// check returns the code of what is wrong with a request's signature, "" if it is right.
func check(r *http.Request, now time.Time) string {
	parts := make(map[string]string)
	method, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	at := r.Header.Get("X-Amz-Date")
	signed, err := time.Parse("20060102T150405Z", at)
	scope := strings.Split(parts["Credential"], "/")
	switch {
	case method != "AWS4-HMAC-SHA256" || len(scope) != 5:
		return "AccessDenied"
	case scope[0] != Key:
		return "InvalidAccessKeyId"
	case err != nil || now.Sub(signed).Abs() > 15*time.Minute:
		return "RequestTimeTooSkewed"
	case scope[1] != at[:8] || scope[2] != Region || scope[3] != "s3" || scope[4] != "aws4_request":
		return "AuthorizationHeaderMalformed"
	}
	var head strings.Builder
	names := strings.Split(parts["SignedHeaders"], ";")
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		head.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	if !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") || !slices.Contains(names, "x-amz-content-sha256") {
		return "AccessDenied"
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"), head.String(),
		parts["SignedHeaders"],
		r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{method, at, strings.Join(scope[1:], "/"), hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + Secret)
	for _, part := range scope[1:] {
		key = code(key, part)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(code(key, text))), []byte(parts["Signature"])) {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func code(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
