package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// setting is one scalar of [medics] or [limits]: its default and its range, both in the file's own notation, and the
// field it fills. The table below is the only place that knows them; the reader, the generated page and the tests use it.
type setting struct {
	section, name    string
	def, least, most string
	field            func(*Topology) any // *int, *Size or *time.Duration
}

func (s setting) key() string { return s.section + "." + s.name }

var settings = []setting{
	{"medics", "replicas", "3", "0", "16", func(t *Topology) any { return &t.Medics.Replicas }},
	{"medics", "heartbeat", "100ms", "10ms", "1m", func(t *Topology) any { return &t.Medics.Heartbeat }},
	{"medics", "suspect_after", "800ms", "30ms", "10m", func(t *Topology) any { return &t.Medics.SuspectAfter }},

	{"limits", "sessions", "8", "1", "1024", func(t *Topology) any { return &t.Limits.Sessions }},
	{"limits", "window", "16MiB", "64KiB", "1GiB", func(t *Topology) any { return &t.Limits.Window }},
	{"limits", "chunk", "1MiB", "4KiB", "64MiB", func(t *Topology) any { return &t.Limits.Chunk }},
	{"limits", "frame", "16MiB", "64KiB", "1GiB", func(t *Topology) any { return &t.Limits.Frame }},
	{"limits", "commit", "4MiB", "64KiB", "1GiB", func(t *Topology) any { return &t.Limits.Commit }},
	{"limits", "segment", "32MiB", "1MiB", "1GiB", func(t *Topology) any { return &t.Limits.Segment }},
	{"limits", "snapshot", "64MiB", "1MiB", "64GiB", func(t *Topology) any { return &t.Limits.Snapshot }},
	{"limits", "client_timeout", "30s", "1s", "24h", func(t *Topology) any { return &t.Limits.ClientTimeout }},
	{"limits", "results_ttl", "1h", "1s", "8760h", func(t *Topology) any { return &t.Limits.ResultsTTL }},
	{"limits", "drain", "5s", "0s", "10m", func(t *Topology) any { return &t.Limits.Drain }},
	{"limits", "handshake", "2s", "100ms", "1m", func(t *Topology) any { return &t.Limits.Handshake }},
	{"limits", "retry_after", "1s", "10ms", "10m", func(t *Topology) any { return &t.Limits.RetryAfter }},
}

var (
	errDurationForm = errors.New("a time is numbers with units: ms, s, m, h")
	errNumberForm   = errors.New("a number here is at most nineteen digits")
)

// number is a setting's value as a number of its own unit (ones, bytes, nanoseconds), for comparing with the range.
func (s setting) number(text string) (int64, error) {
	switch s.field(new(Topology)).(type) {
	case *Size:
		n, err := ParseSize(text)
		return int64(n), err
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", text, errDurationForm)
		}
		return int64(d), nil
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", text, errNumberForm)
		}
		return n, nil
	}
}

// set puts text into the field, or says why it cannot.
func (s setting) set(t *Topology, text string) error {
	n, err := s.number(text)
	if err != nil {
		return err
	}
	least, _ := s.number(s.least) // the table's own texts: TestSettingsTable
	most, _ := s.number(s.most)
	if n < least || n > most {
		return fmt.Errorf("%s is outside %s to %s", text, s.least, s.most)
	}
	switch f := s.field(t).(type) {
	case *Size:
		*f = Size(n)
	case *time.Duration:
		*f = time.Duration(n)
	case *int:
		*f = int(n)
	}
	return nil
}

// text is the field's value in the file's notation.
func (s setting) text(t *Topology) string {
	switch f := s.field(t).(type) {
	case *Size:
		return f.String()
	case *time.Duration:
		return durationText(*f)
	case *int:
		return strconv.Itoa(*f)
	}
	return ""
}

// literal is text as TOML: numbers bare, the rest quoted.
func (s setting) literal(text string) string {
	if _, isInt := s.field(new(Topology)).(*int); isInt {
		return text
	}
	return tomlString(text)
}

// want tells what a right value looks like.
func (s setting) want() string {
	return fmt.Sprintf("write %s = %s, or another value from %s to %s", s.name, s.literal(s.def), s.least, s.most)
}

// durationText writes 1h as "1h", not "1h0m0s".
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
