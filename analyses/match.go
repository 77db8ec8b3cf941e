package analyses

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether path, which is below the data directory and has slashes, is a file of the stream, and returns that
// file. A star of Files stands for one or more characters other than a slash, as few as possible. ".gz" at the end is not part
// of the name. One file may come as several: two slashes and a text after the path distinguish them, and this text belongs
// only to the name. Match is called for every chunk that arrives, and again while a chunk waits for room. Rejected: a regular
// expression compiled for each call took a fifth of the simulator's time.
func (s *Stream) Match(path string) (File, bool) {
	if !utf8.ValidString(s.Files) {
		return File{}, false
	}
	name := strings.TrimSuffix(path, ".gz")
	place, _, _ := strings.Cut(name, "//")
	tags := make([]string, strings.Count(s.Files, "*"))
	if !fits(s.Files, place, tags) {
		return File{}, false
	}
	return File{Name: name, Tags: tags}, true
}

// fits puts what the stars of the pattern stand for into tags. It tries all places. The time is bounded, because only the
// author of an analysis writes a pattern, which has one star or two.
func fits(pattern, name string, tags []string) bool {
	literal, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, literal)
	if !ok || !star {
		return ok && name == ""
	}
	for end := 0; end < len(name) && name[end] != '/'; {
		_, size := utf8.DecodeRuneInString(name[end:])
		end += size
		if fits(rest, name[end:], tags[1:]) {
			tags[0] = name[:end]
			return true
		}
	}
	return false
}
