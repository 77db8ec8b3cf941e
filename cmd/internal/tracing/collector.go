package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"posta.dev/posta/client/source/web"
)

// Collector is where spans are posted to. Its headers are secrets, and so may be parts of its address: no error of this package shows them.
type Collector struct {
	address string
	headers http.Header
}

// NewCollector returns nil if nothing names a collector. address is the base address that the user has named, and headers are the user's,
// as "Name: value". Without an address, the environment variables of OpenTelemetry name the collector. Their headers count in either case,
// but the user's replace those of the same name.
func NewCollector(address string, headers []string, env func(string) string) (*Collector, error) {
	base, whole := address, ""
	if base == "" {
		base, whole = env("OTEL_EXPORTER_OTLP_ENDPOINT"), env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	}
	if base == "" && whole == "" {
		if len(headers) > 0 {
			return nil, errors.New("headers are given, and no collector that gets them; name one with --otlp http://localhost:4318")
		}
		return nil, nil
	}
	c := &Collector{address: whole, headers: http.Header{}}
	if c.address == "" {
		c.address = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	u, err := url.Parse(c.address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		shown := fmt.Sprintf("%q", c.address)
		if strings.ContainsAny(c.address, "@?") {
			shown = "this"
		}
		return nil, fmt.Errorf("%s is no address of a collector; write the base of OTLP over HTTP, such as http://localhost:4318", shown)
	}
	if err := c.environment(env); err != nil {
		return nil, err
	}
	given := http.Header{}
	for i, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("header %d has no colon; write it as 'Name: value'", i+1)
		}
		if err := addHeader(given, name, value); err != nil {
			return nil, fmt.Errorf("header %d: %w", i+1, err)
		}
	}
	maps.Copy(c.headers, given)
	return c, nil
}

// environment reads the headers of the variable for traces, or else of that for all signals: key=value, key=value, with values in
// percent-encoding (OpenTelemetry Protocol Exporter, "Specifying headers via environment variables").
func (c *Collector) environment(env func(string) string) error {
	name := "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	list := env(name)
	if list == "" {
		name = "OTEL_EXPORTER_OTLP_HEADERS"
		list = env(name)
	}
	for i, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, encoded, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("header %d of %s has no =; write it as key=value, with commas between several", i+1, name)
		}
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if err != nil { // the error would show a part of the value
			return fmt.Errorf("header %d of %s: a %% of its value is not followed by two hexadecimal digits; write %%25 for the sign itself", i+1,
				name)
		}
		if err := addHeader(c.headers, key, value); err != nil {
			return fmt.Errorf("header %d of %s: %w", i+1, name, err)
		}
	}
	return nil
}

// ownHeaders are set by this package or by net/http.
var ownHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Trailer", "Transfer-Encoding"}

// addHeader checks a header as RFC 9110 defines it. Its errors do not show the name either, because in a header that was typed wrongly it
// may be a part of the secret.
func addHeader(to http.Header, name, value string) error {
	name, value = strings.TrimSpace(name), strings.Trim(value, " \t")
	bad := func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	}
	switch {
	case name == "" || strings.ContainsFunc(name, bad):
		return errors.New("its name is not one word of letters, digits and hyphens, such as Authorization")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return errors.New("its value has control characters")
	}
	name = http.CanonicalHeaderKey(name)
	if slices.Contains(ownHeaders, name) {
		return fmt.Errorf("%s is set by posta itself; leave it out", name)
	}
	to.Add(name, value)
	return nil
}

// String returns the address without its secrets.
func (c *Collector) String() string { return web.Shown(c.address) }

// Send posts spans to the collector. It follows no redirection: the headers are for this address only.
func (c *Collector) Send(ctx context.Context, spans []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(spans))
	if err != nil {
		return errors.New("the address cannot be used")
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(req)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return fmt.Errorf("post to %s: %w", c, err)
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Body, 512)) // if the collector breaks off, the status is enough
	switch {
	case res.StatusCode/100 == 3:
		return fmt.Errorf("%s answers %s: it redirects to %s; give that address", c, c.hide(res.Status),
			c.hide(web.Shown(res.Header.Get("Location"))))
	case res.StatusCode/100 != 2:
		return fmt.Errorf("%s answers %s: %s", c, c.hide(res.Status), strings.TrimSpace(c.hide(string(said))))
	}
	return nil
}

const (
	hidden      = "[hidden]"
	leastSecret = 4 // characters; a shorter word of a header is no secret, and hiding it would make texts unreadable
)

// hide removes the words of the headers' values from a text of the collector, which may repeat what it was sent.
func (c *Collector) hide(text string) string {
	var secrets []string
	for _, values := range c.headers {
		for _, value := range values {
			secrets = append(secrets, strings.Fields(value)...)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // a word may be a part of another
	for _, s := range secrets {
		if len(s) >= leastSecret {
			text = strings.ReplaceAll(text, s, hidden)
			if cut := strings.LastIndex(text, s[:leastSecret]); cut >= 0 && strings.HasPrefix(s, text[cut:]) {
				text = text[:cut] + hidden // the text was cut off within the word
			}
		}
	}
	return text
}
