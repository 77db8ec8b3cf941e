package client

import (
	"fmt"
	"testing"
)

// StartFakeCluster starts a cluster of two nodes for an example, which has no testing.T. Its answer to the analysis bikes is the number of
// records it has received.
func StartFakeCluster() (entry string, stop func()) {
	t := &exampleTB{}
	f := newFakeCluster(t, 1, 1)
	return f.inputs[0].endpoint, t.end
}

// exampleTB has the methods of testing.TB that a fake cluster needs. A fault of the cluster ends the example.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (t *exampleTB) Helper()                           {}
func (t *exampleTB) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *exampleTB) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (t *exampleTB) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (t *exampleTB) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *exampleTB) end() {
	for _, f := range t.cleanups {
		f()
	}
}
