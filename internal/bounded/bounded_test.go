package bounded

import (
	"slices"
	"testing"
)

func TestR16_TheOldestGoes(t *testing.T) {
	m := NewMap[string, int](2)
	m.Put("a", 1)
	m.Put("b", 2)
	m.Put("a", 3) // keeps its place
	m.Put("c", 4)
	if _, ok := m.Get("a"); ok || !slices.Equal(m.Keys(), []string{"b", "c"}) {
		t.Fatalf("keys %v, want b c", m.Keys())
	}
	if v, ok := m.Get("b"); !ok || v != 2 {
		t.Fatalf("b is %d %v", v, ok)
	}
	m.Put("a", 5)
	if v, _ := m.Get("a"); v != 5 || len(m.Keys()) != 2 {
		t.Fatalf("a is %d, keys %v", v, m.Keys())
	}
	m.Delete("c")
	m.Delete("z")
	if _, ok := m.Get("c"); ok || !slices.Equal(m.Keys(), []string{"a"}) {
		t.Fatalf("keys %v, want a", m.Keys())
	}
}
