package protocol

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// TestTheLibraryReadsAndWritesTheSame compares the codec with a general msgpack library, as clients in other languages have. The
// library must read every frame, and the codec must read the library's version of it as the same message.
func TestTheLibraryReadsAndWritesTheSame(t *testing.T) {
	for name, q := range requests() {
		got, err := DecodeRequest(throughTheLibrary(t, name, q.Append(nil)))
		if err != nil || !reflect.DeepEqual(got, q) {
			t.Errorf("request %s: %+v, want %+v (%v)", name, got, q, err)
		}
	}
	for name, p := range replies(t) {
		got, err := DecodeReply(throughTheLibrary(t, name, p.Append(nil)))
		for i := range got.Parts { // rows keep their wire form, so they are compared by content
			compareRows(t, name, got.Parts[i].Rows, p.Parts[i].Rows)
			got.Parts[i].Rows = p.Parts[i].Rows
		}
		if err != nil || !bytes.Equal(got.Append(nil), p.Append(nil)) {
			t.Errorf("reply %s: %+v, want %+v (%v)", name, got, p, err)
		}
	}
}

// throughTheLibrary decodes a frame with the library, and returns how the library encodes the result: with other forms of numbers and
// lengths, and another order of keys.
func throughTheLibrary(t *testing.T, name string, frame []byte) []byte {
	t.Helper()
	in := bytes.NewReader(frame)
	v, err := msgpack.NewDecoder(in).DecodeInterface()
	if err != nil || in.Len() > 0 {
		t.Fatalf("%s: the library leaves %d bytes: %v", name, in.Len(), err)
	}
	var again bytes.Buffer
	out := msgpack.NewEncoder(&again)
	out.SetSortMapKeys(true) // for the same order in every run
	if err := out.Encode(v); err != nil {
		t.Fatal(err)
	}
	return again.Bytes()
}

// TestEveryMessageIsCompared finds the types of requests and replies in the source, so that the test above also covers new ones.
func TestEveryMessageIsCompared(t *testing.T) {
	have := map[string]bool{}
	for _, q := range requests() {
		have["RequestType "+string(q.Type)] = true
	}
	for _, p := range replies(t) {
		have["ReplyType "+string(p.Type)] = true
	}
	for _, file := range []string{"request.go", "reply.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			c, ok := n.(*ast.ValueSpec)
			if !ok || len(c.Values) != 1 {
				return true
			}
			kind, _ := c.Type.(*ast.Ident)
			word, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if kind == nil || err != nil || !have[kind.Name+" "+word] {
				t.Errorf("%s is not compared with the library", c.Names[0])
			}
			delete(have, kind.Name+" "+word)
			return true
		})
	}
	if len(have) > 0 {
		t.Errorf("the source does not have %v", have)
	}
}
