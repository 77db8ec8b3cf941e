package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// number decodes the first JSON value.
func number(t *testing.T, b []byte) (v any) {
	t.Helper()
	line := b
	for i := range b {
		if json.Valid(b[:i]) && b[i] == '\n' && i > 0 {
			line = b[:i]
			break
		}
	}
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("not JSON: %v: %.100s", err, b)
	}
	return v
}

// differ returns where two answers differ. Numbers may differ by 1e-9 of their size.
func differ(at string, want, got any) string {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		if ok && (w == g || math.Abs(w-g) <= 1e-9*max(math.Abs(w), math.Abs(g)) || math.Abs(w-g) <= 1e-12) {
			return ""
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %d values, want %d", at, len(g), len(w))
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %d keys, want %d", at, len(g), len(w))
		}
		for k := range w {
			if d := differ(at+"."+k, w[k], g[k]); d != "" {
				return d
			}
		}
		return ""
	default:
		if reflect.DeepEqual(want, got) {
			return ""
		}
	}
	return fmt.Sprintf("%s: %v, want %v", at, got, want)
}
