package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one scalar of the file: its default and its range, both in the file's own notation, and the field it fills. Only the table
// below contains them; the reader, the generated page and the tests use it.
type setting struct {
	section, name    string
	def, least, most string
	field            func(*Topology) any // *int, *bool, *Size, *time.Duration, or *string: one of words, or a text that check accepts
	words            []string
	check            func(string) error
	example          string // for a setting whose default is ""
}

func (s setting) key() string { return s.section + "." + s.name }

var settings = []setting{
	word("cluster", "transport", transports, func(t *Topology) *string { return &t.Transport }),

	free("rabbitmq", "url", "amqp://guest:guest@127.0.0.1:5672/", checkAMQP, func(t *Topology) *string { return &t.RabbitMQ.URL }),
	word("rabbitmq", "queue", queueWords, func(t *Topology) *string { return &t.RabbitMQ.Queue }),
	number("rabbitmq", "batch", "64KiB", "0B", "16MiB", func(t *Topology) any { return &t.RabbitMQ.Batch }),

	free("nats", "url", "nats://127.0.0.1:4222", checkNATS, func(t *Topology) *string { return &t.NATS.URL }),
	number("nats", "batch", "64KiB", "0B", "16MiB", func(t *Topology) any { return &t.NATS.Batch }),

	toggle("security", "insecure", func(t *Topology) *bool { return &t.Security.Insecure }),
	free("security", "keys", "keys", checkDirectory, func(t *Topology) *string { return &t.Security.Keys }),
	toggle("security", "trust_broker", func(t *Topology) *bool { return &t.Security.TrustBroker }),
	toggle("security", "open_metrics", func(t *Topology) *bool { return &t.Security.OpenMetrics }),

	number("medics", "replicas", "3", "0", "16", func(t *Topology) any { return &t.Medics.Replicas }),
	number("medics", "heartbeat", "100ms", "10ms", "1m", func(t *Topology) any { return &t.Medics.Heartbeat }),
	number("medics", "suspect_after", "800ms", "30ms", "10m", func(t *Topology) any { return &t.Medics.SuspectAfter }),
	number("medics", "stuck_after", "30s", "300ms", "24h", func(t *Topology) any { return &t.Medics.StuckAfter }),
	{section: "medics", name: "console", check: checkConsole, example: consoleExample,
		field: func(t *Topology) any { return &t.Medics.Console }},

	number("limits", "sessions", "8", "1", "1024", func(t *Topology) any { return &t.Limits.Sessions }),
	number("limits", "window", "16MiB", "64KiB", "1GiB", func(t *Topology) any { return &t.Limits.Window }),
	number("limits", "chunk", "1MiB", "4KiB", "64MiB", func(t *Topology) any { return &t.Limits.Chunk }),
	number("limits", "frame", "16MiB", "64KiB", "256MiB", func(t *Topology) any { return &t.Limits.Frame }),
	number("limits", "commit", "4MiB", "64KiB", "256MiB", func(t *Topology) any { return &t.Limits.Commit }),
	number("limits", "memory", "1GiB", "1MiB", "1024GiB", func(t *Topology) any { return &t.Limits.Memory }),
	number("limits", "node_memory", "4GiB", "1MiB", "1024GiB", func(t *Topology) any { return &t.Limits.NodeMemory }),
	number("limits", "tables", "48MiB", "1MiB", "1024GiB", func(t *Topology) any { return &t.Limits.Tables }),
	number("limits", "client_share", "50", "1", "100", func(t *Topology) any { return &t.Limits.ClientShare }),
	number("limits", "segment", "32MiB", "64KiB", "1GiB", func(t *Topology) any { return &t.Limits.Segment }),
	number("limits", "snapshot", "64MiB", "64KiB", "64GiB", func(t *Topology) any { return &t.Limits.Snapshot }),
	number("limits", "client_timeout", "30s", "1s", "24h", func(t *Topology) any { return &t.Limits.ClientTimeout }),
	number("limits", "results_ttl", "1h", "1s", "8760h", func(t *Topology) any { return &t.Limits.ResultsTTL }),
	number("limits", "results", "1024", "1", "4096", func(t *Topology) any { return &t.Limits.Results }),
	number("limits", "results_size", "16GiB", "1MiB", "1024GiB", func(t *Topology) any { return &t.Limits.ResultsSize }),
	number("limits", "drain", "5s", "0s", "10m", func(t *Topology) any { return &t.Limits.Drain }),
	number("limits", "handshake", "2s", "100ms", "1m", func(t *Topology) any { return &t.Limits.Handshake }),
	number("limits", "retry_after", "1s", "10ms", "10m", func(t *Topology) any { return &t.Limits.RetryAfter }),
}

// number returns a setting with a range.
func number(section, name, def, least, most string, field func(*Topology) any) setting {
	return setting{section: section, name: name, def: def, least: least, most: most, field: field}
}

// word returns a setting that is one of a few words; the first is the default.
func word(section, name string, words []string, field func(*Topology) *string) setting {
	return setting{section: section, name: name, def: words[0], words: words, field: func(t *Topology) any { return field(t) }}
}

// toggle returns a setting that is true or false; false is the default.
func toggle(section, name string, field func(*Topology) *bool) setting {
	return setting{section: section, name: name, def: "false", words: []string{"false", "true"},
		field: func(t *Topology) any { return field(t) }}
}

// free returns a setting that is any text which check accepts.
func free(section, name, def string, check func(string) error, field func(*Topology) *string) setting {
	return setting{section: section, name: name, def: def, check: check, field: func(t *Topology) any { return field(t) }}
}

var (
	errDurationForm = errors.New("a time is numbers with units: ms, s, m, h")
	errUnknownWord  = errors.New("not known")
	errNumberForm   = errors.New("a number here is at most nineteen digits")
)

// amount returns a setting's value as a number of its own unit (ones, bytes, nanoseconds), for comparing with the range.
func (s setting) amount(text string) (int64, error) {
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

// set puts text into the field, or returns why it cannot.
func (s setting) set(t *Topology, text string) error {
	if s.least == "" {
		if err := s.checkText(text); err != nil {
			return err
		}
		switch f := s.field(t).(type) {
		case *string:
			*f = text
		case *bool:
			*f = text == "true"
		}
		return nil
	}
	n, err := s.amount(text)
	if err != nil {
		return err
	}
	least, _ := s.amount(s.least) // texts of the table itself: TestSettingsTable
	most, _ := s.amount(s.most)
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

// checkText checks a text against the allowed words, or with the setting's own check.
func (s setting) checkText(text string) error {
	if s.words == nil {
		return s.check(text)
	}
	if !slices.Contains(s.words, text) {
		return fmt.Errorf("%q: %w", text, errUnknownWord)
	}
	return nil
}

// text returns the field's value in the file's notation.
func (s setting) text(t *Topology) string {
	switch f := s.field(t).(type) {
	case *Size:
		return f.String()
	case *time.Duration:
		return durationText(*f)
	case *int:
		return strconv.Itoa(*f)
	case *bool:
		return strconv.FormatBool(*f)
	case *string:
		return *f
	}
	return ""
}

// literal is text as TOML: numbers, true and false bare, the rest quoted.
func (s setting) literal(text string) string {
	if s.kind() != kindString {
		return text
	}
	return tomlString(text)
}

// want describes a valid value.
func (s setting) want() string {
	switch {
	case s.kind() == kindBool:
		return fmt.Sprintf("write %s = true or %[1]s = false", s.name)
	case s.least == "":
		return fmt.Sprintf("write %s = %s", s.name, s.literal(cmp.Or(s.def, s.example)))
	}
	return fmt.Sprintf("write %s = %s, or another value from %s to %s", s.name, s.literal(s.def), s.least, s.most)
}

// span returns the range and the default in words.
func (s setting) span() string {
	switch {
	case s.kind() == kindBool:
		return "true, false; default " + s.def
	case s.words != nil:
		return quoteAll(s.words) + "; default " + s.literal(s.def)
	case s.least == "":
		return "default " + s.literal(s.def)
	}
	return s.least + " to " + s.most + ", default " + s.def
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
