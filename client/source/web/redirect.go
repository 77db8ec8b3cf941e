package web

import (
	"errors"
	"fmt"
	"net/http"
)

// FollowRedirect is the policy for redirects, see CheckRedirect of [http.Client]. It follows none from https to http, where everybody on
// the way could read and change the file. It sends no Referer, because the address may have a secret in its query, and another server need
// not know it.
func FollowRedirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > mostRedirects:
		return errRounds
	case !Is(next.URL.Scheme + "://"):
		return fmt.Errorf("%w: it redirects to a %q", errScheme, next.URL.Scheme)
	case next.URL.Scheme != "https" && before[len(before)-1].URL.Scheme == "https":
		return errDowngrade
	}
	next.Header.Del("Referer")
	return nil
}

// mostRedirects is how many redirects are followed.
const mostRedirects = 10

var (
	errRounds    = errors.New("it redirects more than 10 times")
	errScheme    = errors.New("only http and https are followed")
	errDowngrade = errors.New(
		"it redirects from https to http, which is not followed; if you trust the way to it, name the address that it redirects to")
)
