package analyses

import (
	"regexp"
	"strings"
)

// Match reports whether path, below the data directory and with slashes, is a file of the stream, and which: a star of Files
// stands for one or more bytes other than a slash, and ".gz" at the end is not part of the name.
func (s *Stream) Match(path string) (File, bool) {
	name := strings.TrimSuffix(path, ".gz")
	parts := strings.Split(s.Files, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	// (?s): a folder's name may hold a newline.
	re, err := regexp.Compile(`(?s)^` + strings.Join(parts, `([^/]+?)`) + `$`)
	if err != nil {
		return File{}, false // Files is not UTF-8: it matches nothing
	}
	m := re.FindStringSubmatch(name)
	if m == nil {
		return File{}, false
	}
	return File{Name: name, Tags: m[1:]}, true
}
