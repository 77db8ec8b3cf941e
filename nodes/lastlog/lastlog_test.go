package lastlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock returns a clock that a test moves.
func clock() (now func() time.Time, move func(time.Duration)) {
	at := time.Date(2016, 3, 1, 12, 0, 0, 0, time.UTC)
	return func() time.Time { return at }, func(d time.Duration) { at = at.Add(d) }
}

// TestR16_TheRingIsBounded: neither many lines nor long ones make it grow, and the newest lines stay.
func TestR16_TheRingIsBounded(t *testing.T) {
	now, _ := clock()
	for _, length := range []int{0, 1, 300, maxLine, maxLine + 1, 9 << 20} {
		r := NewRing(now)
		n := 3 * MaxLines
		if length > 1<<20 {
			n = 20
		}
		for i := range n {
			fmt.Fprintf(r, "level=INFO msg=%d %s\n", i, strings.Repeat("ü", length/2))
		}
		lines, size := r.Lines(), 0
		for _, l := range lines {
			size += len(l.Text)
			if len(l.Text) > maxLine+len("…") || strings.ToValidUTF8(l.Text, "?") != l.Text {
				t.Fatalf("with %d bytes a line has %d", length, len(l.Text))
			}
		}
		if len(lines) > MaxLines || len(lines) < 18 || size > maxBytes || size != r.bytes {
			t.Errorf("with %d bytes in a line, %d lines with %d bytes are kept", length, len(lines), size)
		}
		if last := lines[len(lines)-1].Text; !strings.HasPrefix(last, fmt.Sprintf("msg=%d", n-1)) {
			t.Errorf("the last line is %.30q", last)
		}
	}
}

// TestSecretsAreHidden: no line that is kept has a password, a token, or a key.
func TestSecretsAreHidden(t *testing.T) {
	var out bytes.Buffer
	log, ring := In(slog.New(slog.NewTextHandler(&out, nil)))
	for _, text := range []string{
		"dial amqp://ann:hush@host:5672/x", "dial nats://hush@host", "dial postgres://ann:hush@host",
		"GET https://bucket.s3.example/a.csv?X-Amz-Signature=hush&b=hush: 403", "password=hush",
		`{"password":"hush hush"}`, "AWS_SECRET_ACCESS_KEY=hush", "Authorization: Bearer hush", "api-key: hush", `secret="hush \" hush"`,
		"-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----", "cookie: posta-console=hush", "access_key=hush, and so on",
	} {
		log.Warn(text, "err", text, "token", "hush", "db.password", slog.GroupValue(slog.String("secret", "hush")))
	}
	log.With("token", "hush").WithGroup("api_key").Error("no", "value", "fine")
	for _, l := range ring.Lines() {
		if strings.Contains(l.Text, "hush") {
			t.Errorf("kept: %s", l.Text)
		}
	}
	if !strings.Contains(out.String(), "hush") {
		t.Error("the log itself has lost something")
	}
	for _, plain := range []string{"msg=running log=0af3 incarnation=3", `msg="frames were dropped" frames=12 last="to joiner-1: 3"`,
		"msg=x at=https://host:1/a/b.csv", "err=a@b"} {
		if got := hide(plain); got != plain {
			t.Errorf("%q is kept as %q", plain, got)
		}
	}
}

// What a logger drops is not kept, debug lines are never kept, and a logger that has a ring keeps it.
func TestTheHandler(t *testing.T) {
	var out bytes.Buffer
	log, ring := In(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	again, same := In(log)
	if again != log || same != ring {
		t.Error("a second ring")
	}
	log.With("node", "joiner-1").WithGroup("g").Debug("small", "a", 1)
	log.With("node", "joiner-1").WithGroup("g").Warn("large thing", "a", 1)
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("the log has %d lines:\n%s", n, &out)
	}
	lines := ring.Lines()
	if len(lines) != 1 || lines[0].Level != "WARN" || lines[0].Text != `msg="large thing" node=joiner-1 g.a=1` {
		t.Errorf("kept: %+v", lines)
	}
	quiet, ring := In(slog.New(slog.DiscardHandler))
	quiet.Info("kept")
	if got := ring.Lines(); len(got) != 1 {
		t.Errorf("kept of a logger that writes nothing: %+v", got)
	}
}

// Lines of an earlier process come from its file, with its time, and only what the logger wrote.
func TestFormerLines(t *testing.T) {
	now, _ := clock()
	r := NewRing(now)
	r.Former([]byte("f a line begins before this\ntime=2016-03-01T11:59:00.000Z level=WARN msg=\"was here\" token=hush\npanic: somebody's " +
		"data\n\ngoroutine 1 [running]:\ntime=2016 level=INFO msg=x\ntime=2016-03-01T13:00:00Z level=INFO " +
		"msg=later\ntime=2016-03-01T11:59:30Z level=ERR"))
	got := r.Lines()
	if want := []Line{{time.Minute, "WARN", `msg="was here" token=` + hidden}, {0, "INFO", "msg=later"}}; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestReports(t *testing.T) {
	now, move := clock()
	r := NewRing(now)
	for i := range 3 * MaxLines {
		fmt.Fprintf(r, "level=INFO msg=%d\n", i)
		move(time.Second)
	}
	want := r.Lines()
	b := Append(nil, want)
	got, err := Decode(b)
	if err != nil || !slices.Equal(got, want) || got[0].Age != MaxLines*time.Second {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range b {
		if _, err := Decode(b[:i]); err == nil {
			t.Fatalf("%d of %d bytes are a report", i, len(b))
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("a byte too many is read")
	}
	if _, err := Decode(Append(nil, append(want, Line{}))); err == nil {
		t.Error("a line too many is read")
	}
	if _, err := Decode(make([]byte, maxReport+1)); err == nil {
		t.Error("any length is read")
	}
}

// Many goroutines log at once while others look.
func TestAtOnce(t *testing.T) {
	log, ring := In(slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 500 {
				log.Info("line", "i", i)
				if len(ring.Lines()) > MaxLines {
					t.Error("too many")
				}
			}
		}()
	}
	all.Wait()
}
