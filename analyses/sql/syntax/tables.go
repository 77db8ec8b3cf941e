package syntax

import (
	"reflect"
	"strings"
)

// Tables returns the tables that a script names in FROM, in their order, each name once. Some may be names of WITH or of views.
func Tables(s *Script) (tables []*Table) {
	w := &tableFinder{names: map[[2]any]bool{}, seen: map[any]bool{}}
	w.walk(reflect.ValueOf(s))
	return w.tables
}

// tableFinder walks a tree by reflection, so that it also finds tables in kinds of nodes that are added later.
type tableFinder struct {
	tables []*Table
	names  map[[2]any]bool
	seen   map[any]bool // pointers that were visited
}

func (w *tableFinder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		if t, ok := v.Interface().(*Table); ok {
			key := [2]any{t.Name.Name, t.File}
			if !t.File {
				key[0] = strings.ToLower(t.Name.Name)
			}
			if !w.names[key] {
				w.names[key] = true
				w.tables = append(w.tables, t)
			}
		}
		w.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	}
}
