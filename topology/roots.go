package topology

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// MaxRoots is how many directories a host may have for files that are read in place. Each path is compared with all of them.
const MaxRoots = 64

// data reads [data].
func (r *reader) data(t *Topology, v *value) {
	s := r.section("data", "[data]", v)
	t.Roots = s.roots()
	s.done()
}

// roots reads the directories below which inputs read files in place (S8). It returns nil if the file does not set them; an empty list
// means no directory.
func (s *section) roots() []string {
	v := s.find("roots")
	if v == nil {
		return nil
	}
	const example = `write roots = ["/srv/data"], or leave it out: then clients send all files`
	if v.kind != kindArray || len(v.items) > MaxRoots {
		s.r.found.add(v.at, fmt.Sprintf("roots is %s, and should be a list of at most %d directories", v.kind, MaxRoots), example)
		return nil
	}
	roots := make([]string, 0, len(v.items))
	for _, item := range v.items {
		switch {
		case item.kind != kindString:
			s.r.found.add(item.at, fmt.Sprintf("roots holds %s, not a string", item.kind), example)
		case !filepath.IsAbs(item.text) || filepath.Clean(item.text) != item.text || strings.ContainsRune(item.text, 0):
			s.r.found.add(item.at, fmt.Sprintf("%q in roots is not an absolute directory, or has superfluous parts", item.text), example)
		case filepath.Dir(item.text) == item.text:
			s.r.found.add(item.at, fmt.Sprintf("%q in roots is the whole file system: every client with the role submit could have any file read",
				item.text), "name the directories that hold data")
		default:
			roots = append(roots, item.text)
		}
	}
	return roots
}

// RootsAt returns the directories that the container of a node needs: those below which an input reads files in place.
func (t *Topology) RootsAt(n Node) []string {
	if !n.Holds(Input) {
		return nil
	}
	return t.RootsOf(n.Host)
}

// ConsoleRoots returns the directories that the container of a medic's console needs, because it answers SQL over them. Inputs have them on
// their hosts, and an engine refuses to mount a directory that is not there, so consoles on other hosts do without. keys says whether the
// cluster has keys: then a console answers nothing, because a medic's key opens no session.
func (t *Topology) ConsoleRoots(medic Node, keys bool) []string {
	if keys || !slices.ContainsFunc(t.Holding(Input), func(in Node) bool { return in.Host == medic.Host }) {
		return nil
	}
	return t.RootsOf(medic.Host)
}

// RootsOf returns the directories below which the inputs on a host read files in place, and over which its medics' consoles answer SQL.
func (t *Topology) RootsOf(host string) []string {
	for _, h := range t.Hosts {
		if h.Name == host && h.Roots != nil {
			return h.Roots
		}
	}
	return t.Roots
}
