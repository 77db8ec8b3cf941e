package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSizes replaces Sizes by numbers with commas between them.
func (c *Config) ParseSizes(text string) error {
	c.Sizes = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > piece {
			return fmt.Errorf("%q is no size from 1 to %d", word, piece)
		}
		c.Sizes = append(c.Sizes, n)
	}
	return nil
}

// ParseLinks replaces Links by numbers with commas between them.
func (c *Config) ParseLinks(text string) error {
	c.Links = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > maxLinks {
			return fmt.Errorf("%q is no number of links from 1 to %d", word, maxLinks)
		}
		c.Links = append(c.Links, n)
	}
	return nil
}

// maxLinks is how many replicas a stage may have.
const maxLinks = 64

// ParseSetting adds KEY=VALUE to Set.
func (c *Config) ParseSetting(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q is not like limits.window=1MiB", text)
	}
	if c.Set == nil {
		c.Set = map[string]string{}
	}
	c.Set[key] = value
	return nil
}
