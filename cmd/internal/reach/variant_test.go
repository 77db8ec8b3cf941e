package reach

import (
	"strings"
	"testing"
)

func TestReplicas(t *testing.T) {
	stages := []string{"input", "joiner"}
	for text, want := range map[string]string{
		"": "", "joiner=3": "joiner=3", "all=2": "input=2 joiner=2", "all=2,joiner=3": "input=2 joiner=3", "joiner=3,all=2": "input=2 joiner=3",
	} {
		got, err := replicas(text, stages)
		var all []string
		for _, s := range stages {
			if got[s] != 0 {
				all = append(all, s+"="+string(rune('0'+got[s])))
			}
		}
		if strings.Join(all, " ") != want || err != nil {
			t.Errorf("%q becomes %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"joiner", "joiner=", "joiner=x", "joiner=0", "joiner=-1", "nobody=1", "=1"} {
		if got, err := replicas(text, stages); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
