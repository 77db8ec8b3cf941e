// Package bounded holds collections that never grow beyond a maximum, because they drop their oldest element (R16).
package bounded

import "slices"

// Map is a map that remembers the order in which its keys came. When it is full, a new key drops the oldest one.
type Map[K comparable, V any] struct {
	max    int
	keys   []K // all keys of values, oldest first
	values map[K]V
}

// NewMap returns an empty map of at most max keys.
func NewMap[K comparable, V any](max int) Map[K, V] { return Map[K, V]{max: max, values: map[K]V{}} }

// Get returns the value of a key.
func (m *Map[K, V]) Get(k K) (V, bool) {
	v, ok := m.values[k]
	return v, ok
}

// Full reports whether a new key would drop the oldest one.
func (m *Map[K, V]) Full() bool { return len(m.keys) == m.max }

// Put sets the value of a key. A key that the map already has keeps its place in the order.
func (m *Map[K, V]) Put(k K, v V) {
	if _, ok := m.values[k]; !ok {
		if m.Full() {
			delete(m.values, m.keys[0])
			m.keys = slices.Delete(m.keys, 0, 1)
		}
		m.keys = append(m.keys, k)
	}
	m.values[k] = v
}

// Delete removes a key if the map has it.
func (m *Map[K, V]) Delete(k K) {
	if _, ok := m.values[k]; ok {
		delete(m.values, k)
		m.keys = slices.DeleteFunc(m.keys, func(x K) bool { return x == k })
	}
}

// Keys returns the keys, oldest first. The slice is valid until the next Put.
func (m *Map[K, V]) Keys() []K { return m.keys }
