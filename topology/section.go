package topology

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// places contains where each setting is in the file, by its dotted path: "limits.window", "edge.2.route", "stage.0.hosts.1".
type places map[string]Pos

// of returns the place of a setting or, if it was left out, the place of its section.
func (p places) of(path string) Pos {
	for {
		if at, ok := p[path]; ok {
			return at
		}
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return Pos{1, 1}
		}
		path = path[:cut]
	}
}

// reader turns the tree into settings. It reports wrong types and unknown keys. For a wrong setting it returns the zero value, which every
// check ignores.
type reader struct {
	found   *findings
	at      places
	invalid map[string]bool // settings that are present but wrong
}

// section is one table being read. Each accessor notes that its key is known; done reports all other keys.
type section struct {
	r     *reader
	path  string
	title string // as written in the file, for messages
	v     *value
	known []string
}

func (r *reader) section(path, title string, v *value) *section {
	if v == nil {
		v = &value{kind: kindTable}
	} else {
		r.at[path] = v.at
	}
	return &section{r: r, path: path, title: title, v: v}
}

// has reports whether the file has the setting, right or wrong.
func (s *section) has(key string) bool { return s.v.get(key) != nil }

func (s *section) find(key string) *value {
	s.known = append(s.known, key)
	f := s.v.get(key)
	if f == nil {
		return nil
	}
	s.r.at[s.path+"."+key] = f.value.at
	return f.value
}

// str reads a string. It returns def if the setting is missing, "" if it is wrong.
func (s *section) str(key, def, example string) string {
	v := s.find(key)
	if v == nil {
		return def
	}
	if v.kind != kindString {
		s.r.invalid[s.path+"."+key] = true
		s.r.found.add(v.at, fmt.Sprintf("%s is %s, not a string", key, v.kind), fmt.Sprintf("write %s = %s", key, tomlString(example)))
		return ""
	}
	return v.text
}

// word reads a string that must be one of a few.
func (s *section) word(key, def string, words []string) string {
	w := s.str(key, def, words[0])
	if w == "" && !s.has(key) {
		return ""
	}
	if slices.Contains(words, w) {
		return w
	}
	if v := s.v.get(key).value; v.kind == kindString {
		s.r.found.add(v.at, fmt.Sprintf("%s = %q is not known", key, w), suggest(w, words))
	}
	return ""
}

// integer reads a number in a range. It returns def if the setting is missing or wrong.
func (s *section) integer(key string, def, least, most int) int {
	v := s.find(key)
	if v == nil {
		return def
	}
	example := fmt.Sprintf("write %s = %d, or another number from %d to %d", key, def, least, most)
	if v.kind != kindInt {
		s.r.found.add(v.at, fmt.Sprintf("%s is %s, not a whole number", key, v.kind), example)
		return def
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(v.text, "_", ""), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		s.r.found.add(v.at, fmt.Sprintf("%s = %s is not a plain number", key, v.text), example)
		return def
	}
	if err != nil || n < int64(least) || n > int64(most) {
		s.r.found.add(v.at, fmt.Sprintf("%s = %s is outside %d to %d", key, v.text, least, most), example)
		return def
	}
	return int(n)
}

// list reads an array of strings, each of which must be one of the known words. It returns nil if the key is missing, and an empty list if
// something was wrong.
func (s *section) list(key string, known []string, sample string) []string {
	v := s.find(key)
	if v == nil {
		return nil
	}
	example := fmt.Sprintf("write %s = %s", key, sample)
	if v.kind != kindArray {
		s.r.found.add(v.at, fmt.Sprintf("%s is %s, not a list", key, v.kind), example)
		return []string{}
	}
	if len(v.items) == 0 {
		s.r.found.add(v.at, key+" is empty", example+", or leave it out for the default")
	}
	words, right := make([]string, 0, len(v.items)), true
	for i, item := range v.items {
		s.r.at[fmt.Sprintf("%s.%s.%d", s.path, key, i)] = item.at
		right = s.listItem(key, item, known) && right
		words = append(words, item.text)
	}
	if !right {
		return []string{}
	}
	return words
}

func (s *section) listItem(key string, item *value, known []string) bool {
	if item.kind != kindString {
		s.r.found.add(item.at, fmt.Sprintf("%s holds %s, not a string", key, item.kind), "write names in quotes")
		return false
	}
	if slices.Contains(known, item.text) {
		return true
	}
	s.r.found.add(item.at, fmt.Sprintf("%q in %s is not known", item.text, key), suggest(item.text, known))
	return false
}

// scalar reads one entry of the settings table into t, which already holds the default.
func (s *section) scalar(set setting, t *Topology) {
	v := s.find(set.name)
	if v == nil {
		return
	}
	wants := set.kind()
	if v.kind != wants {
		s.r.found.add(v.at, fmt.Sprintf("%s is %s", set.name, v.kind), set.want())
		return
	}
	text := v.text
	if wants == kindInt {
		text = strings.ReplaceAll(text, "_", "")
	}
	err := set.set(t, text)
	if errors.Is(err, errUnknownWord) {
		s.r.found.add(v.at, fmt.Sprintf("%s = %q is not known", set.name, text), suggest(text, set.words))
		return
	}
	if err != nil {
		s.r.found.add(v.at, fmt.Sprintf("%s: %v", set.name, err), set.want())
	}
}

// done reports the keys that no accessor has read.
func (s *section) done() {
	for _, f := range s.v.fields {
		if slices.Contains(s.known, f.name) {
			continue
		}
		s.r.found.add(f.at, fmt.Sprintf("%s has no setting %q", s.title, f.name), insteadOf(s.path+"."+f.name, f.name, s.known))
	}
}

// noServer is the advice for settings of the NATS server that earlier versions contained.
const noServer = "Posta contains no NATS server any more: delete this line, run nats-server -js yourself, and write its address as url"

// removed are the settings that earlier versions had, with what to do instead.
var removed = map[string]string{"nats.embedded": noServer, "nats.data": noServer, "nats.sync": noServer}

// insteadOf returns what to write instead of a setting that does not exist.
func insteadOf(key, word string, known []string) string {
	if advice, ok := removed[key]; ok {
		return advice
	}
	return suggest(word, known)
}

// kind returns the TOML type of a valid value.
func (s setting) kind() kind {
	switch s.field(new(Topology)).(type) {
	case *int:
		return kindInt
	case *bool:
		return kindBool
	}
	return kindString
}

func (k kind) String() string {
	return [...]string{"a string", "a whole number", "true or false", "a fraction or a date", "a list", "a section",
		"a [[list]] of sections"}[k]
}
