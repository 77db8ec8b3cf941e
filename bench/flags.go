package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSizes sets Sizes from numbers with commas between them.
func (c *Config) ParseSizes(text string) (err error) {
	c.Sizes, err = numbers(text, piece, "size")
	return err
}

// ParseLinks sets Links from numbers with commas between them.
func (c *Config) ParseLinks(text string) (err error) {
	c.Links, err = numbers(text, maxLinks, "number of links")
	return err
}

// numbers parses numbers from 1 to most.
func numbers(text string, most int, what string) (all []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("%q is not a %s from 1 to %d", word, what, most)
		}
		all = append(all, n)
	}
	return all, nil
}

// maxLinks bounds the replicas of a stage.
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
