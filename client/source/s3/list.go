package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

const (
	// maxPage is how many bytes one page of a list may have: enough for a thousand names of a kilobyte with their attributes.
	maxPage = 8 << 20

	// maxPages is how many pages a list may have: 20 million objects, of a server that puts a thousand on each.
	maxPages = 20_000

	// MaxObjects is how many objects an address may stand for.
	MaxObjects = 100_000
)

// page is one page of a list.
type page struct {
	Contents []struct {
		Key string
	}
	IsTruncated           bool
	NextContinuationToken string
}

// List returns the keys that begin with prefix and for which fits is true, sorted.
func (s *Store) List(ctx context.Context, bucket, prefix string, fits func(key string) bool) (keys []string, err error) {
	tokens := make(map[string]bool) // that were followed
	for token := ""; ; {
		p, err := s.page(ctx, bucket, prefix, token)
		if err != nil {
			return nil, err
		}
		for _, c := range p.Contents {
			if strings.HasPrefix(c.Key, prefix) && !strings.HasSuffix(c.Key, "/") && fits(c.Key) {
				keys = append(keys, c.Key)
			}
		}
		switch {
		case len(keys) > MaxObjects:
			return nil, fmt.Errorf("%w: it stands for more than %d objects", ErrAddress, MaxObjects)
		case !p.IsTruncated:
			slices.Sort(keys)
			return slices.Compact(keys), nil
		case p.NextContinuationToken == "" || tokens[p.NextContinuationToken]:
			return nil, fmt.Errorf(
				"the server's list of objects does not continue behind page %d; it says that there is more, and names nothing new to ask for",
				len(tokens)+1)
		case len(tokens)+1 >= s.pages:
			return nil, fmt.Errorf(
				"%w: the list of objects below it has more than %d pages, if it ends at all; give a longer path in front of the first star",
				ErrAddress, s.pages)
		}
		token = p.NextContinuationToken
		tokens[token] = true
	}
}

func (s *Store) page(ctx context.Context, bucket, prefix, token string) (p page, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if token != "" {
		query.Set("continuation-token", token)
	}
	f, err := s.get(ctx, s.address(bucket, "")+"?"+strings.ReplaceAll(query.Encode(), "+", "%20"), "the list of "+scheme+bucket+"/"+prefix,
		nil)
	if err != nil {
		return page{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxPage+1))
	switch {
	case err != nil:
		return page{}, err
	case len(text) > maxPage:
		return page{}, fmt.Errorf("the server's list of objects has more than %d bytes", maxPage)
	}
	if err := xml.Unmarshal(text, &p); err != nil {
		return page{}, errors.New("what the server sends as list of objects is none")
	}
	return p, nil
}

// Fixed returns the part of a pattern of package path that has no special characters.
func Fixed(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// Glob returns the keys that a pattern of package path matches.
func (s *Store) Glob(ctx context.Context, bucket, pattern string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%w: the pattern %q: %w", ErrAddress, pattern, err)
	}
	return s.List(ctx, bucket, Fixed(pattern), func(key string) bool {
		fits, _ := path.Match(pattern, key)
		return fits
	})
}
