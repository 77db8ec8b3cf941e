package protocol

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/internal/wire"
)

// TestFieldsOfAnError: fields of all errors of a chain count, the innermost one knows best, and of several errors side by side the first.
func TestFieldsOfAnError(t *testing.T) {
	inner := &Error{Code: ErrFailed, Fields: Fields{"line": "2", "cause": "x"}}
	other := With(errors.New("other"), Fields{"line": "9", "node": "n"})
	err := With(fmt.Errorf("around: %w", errors.Join(inner, other)), Fields{"line": "7", "file": "f"})
	want := Fields{"line": "2", "cause": "x", "node": "n", "file": "f"}
	if got := FieldsOf(err); !reflect.DeepEqual(got, want) || !errors.Is(err, ErrFailed) || !strings.HasPrefix(err.Error(), "around: failed") {
		t.Errorf("%v has the fields %v", err, got)
	}
	for _, none := range []error{nil, errors.New("x"), With(nil, want)} {
		if got := FieldsOf(none); got != nil {
			t.Errorf("%v has the fields %v", none, got)
		}
	}
	many := Fields{"long": strings.Repeat("x", MaxFieldBytes)}
	for i := range 3 * MaxFields {
		many["a"+strconv.Itoa(i)] = "1"
	}
	got := FieldsOf(With(errors.New("x"), many))
	if _, long := got["long"]; len(got) != MaxFields || long {
		t.Errorf("%d fields are kept", len(got))
	}
}

func TestAReasonComesBackAsItWas(t *testing.T) {
	for _, f := range []Fields{nil, {"cause": "x"}, {"column": "\xff", "cause": ""}} {
		b := AppendReason(nil, "because", f)
		d := wire.NewReader(b)
		if reason, got := ReadReason(&d); reason != "because" || !reflect.DeepEqual(got, f) || d.Done() != nil {
			t.Errorf("%v comes back as %q, %v, %v", f, reason, got, d.Done())
		}
		for n := range b {
			d := wire.NewReader(b[:n])
			if ReadReason(&d); d.Err() == nil {
				t.Errorf("%v: the first %d bytes are a reason", f, n)
			}
		}
	}
	old := wire.AppendString(nil, "an older program's")
	d := wire.NewReader(old)
	if reason, f := ReadReason(&d); reason != "an older program's" || f != nil || d.Done() != nil {
		t.Errorf("what older programs have written is %q, %v, %v", reason, f, d.Done())
	}
	if err := ReadFailure([]byte("plain text")); err.Error() != "plain text" || FieldsOf(err) != nil {
		t.Errorf("a text that older programs have kept is %v", err)
	}
	failed := With(errors.New("why"), Fields{"cause": "x"})
	if err := ReadFailure(AppendFailure(nil, failed)); err.Error() != "why" || FieldsOf(err)["cause"] != "x" {
		t.Errorf("%v, %v", err, FieldsOf(err))
	}
}

func FuzzReadReason(f *testing.F) {
	f.Add(AppendReason(nil, "because", nil))
	f.Add(AppendReason(nil, "because", Fields{"cause": "x", "column": "\xff"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := wire.NewReader(b)
		reason, fields := ReadReason(&d)
		if d.Err() != nil {
			return
		}
		if len(fields) > MaxFields {
			t.Fatalf("%d fields", len(fields))
		}
		d = wire.NewReader(AppendReason(nil, reason, fields))
		if again, f := ReadReason(&d); again != reason || !reflect.DeepEqual(f, fields) || d.Done() != nil {
			t.Fatalf("%q, %v comes back as %q, %v", reason, fields, again, f)
		}
	})
}
