package csv

import (
	"math/rand/v2"
	"regexp"
	"testing"
	"time"
)

func TestParseDateAgreesWithTimeOnEveryDay(t *testing.T) {
	// Leap years repeat after 400 years. Test the first 400, then years around today and the last ones.
	for _, years := range [][2]int{{0, 401}, {1890, 2110}, {9890, 10000}} {
		day := time.Date(years[0], 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
		end := time.Date(years[1], 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
		var text, back []byte
		for ; day < end; day++ {
			text = time.Unix(day*86400, 0).UTC().AppendFormat(text[:0], "2006-01-02")
			if got, ok := ParseDate(text); !ok || got != day {
				t.Fatalf("ParseDate(%s) = %d, %v; want %d", text, got, ok, day)
			}
			if back = FormatDate(back[:0], day); string(back) != string(text) {
				t.Fatalf("FormatDate(%d) = %s, want %s", day, back, text)
			}
		}
	}
}

func TestParseDateRefusesWhatTimeRefuses(t *testing.T) {
	for _, text := range []string{
		"", "2015-01-0", "2015-01-001", "2015-00-01", "2015-13-01", "2015-99-01", "2015-01-00", "2015-01-32", "2015-02-29",
		"1900-02-29", "2015-04-31", "2015/01/01", "2015-01:01", "201a-01-01", "2015-0 -01", "-015-01-01", "2015-01-0\xb0",
		"\xb2015-01-01", "2015\xad01-01", ":015-01-01", "2015-01-1:",
	} {
		if got, ok := ParseDate([]byte(text)); ok {
			t.Errorf("ParseDate(%q) = %d, want a refusal", text, got)
		}
		if _, err := time.Parse("2006-01-02", text); err == nil {
			t.Errorf("time.Parse takes %q", text)
		}
	}
}

// mutate changes a few bytes, most often to others that occur in numbers and dates.
func mutate(rng *rand.Rand, p []byte) []byte {
	const likely = "0123456789-:. +eE/\x00\xb0\xff"
	for n := rng.IntN(3); n > 0 && len(p) > 0; n-- {
		at := rng.IntN(len(p))
		switch rng.IntN(8) {
		case 0:
			p[at] = byte(rng.Uint32())
		case 1:
			p = append(p[:at], p[at+1:]...)
		default:
			p[at] = likely[rng.IntN(len(likely))]
		}
	}
	return p
}

// strictDateTime excludes what time.Parse accepts beyond the layout: one digit for the hour, several spaces, fractions.
var strictDateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)

func checkDate(t *testing.T, text []byte) {
	t.Helper()
	got, ok := ParseDate(text)
	want, err := time.Parse("2006-01-02", string(text))
	if ok != (err == nil) || ok && got != want.Unix()/86400 {
		t.Fatalf("ParseDate(%q) = %d, %v; time.Parse says %v, %v", text, got, ok, want, err)
	}
	seconds, ok := ParseDateTime(text)
	want, err = time.Parse("2006-01-02 15:04:05", string(text))
	if valid := err == nil && strictDateTime.Match(text); ok != valid || ok && seconds != want.Unix() {
		t.Fatalf("ParseDateTime(%q) = %d, %v; time.Parse says %v, %v", text, seconds, ok, want, err)
	}
}

func TestParseDatesAgreeWithTimeOnMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		moment := time.Unix(rng.Int64N(10*365*86400*10), 0).UTC()
		checkDate(t, mutate(rng, []byte(moment.Format("2006-01-02"))))
		checkDate(t, mutate(rng, []byte(moment.Format("2006-01-02 15:04:05"))))
	}
}

func TestParseDateTimeTakesEverySecondOfADay(t *testing.T) {
	start := time.Date(2016, 2, 29, 0, 0, 0, 0, time.UTC)
	for s := range int64(86400) {
		text := start.Add(time.Duration(s) * time.Second).Format("2006-01-02 15:04:05")
		if got, ok := ParseDateTime([]byte(text)); !ok || got != start.Unix()+s {
			t.Fatalf("ParseDateTime(%s) = %d, %v; want %d", text, got, ok, start.Unix()+s)
		}
	}
}

func FuzzDates(f *testing.F) {
	f.Add([]byte("2015-05-05"))
	f.Add([]byte("2016-02-29 23:59:59"))
	f.Fuzz(func(t *testing.T, text []byte) { checkDate(t, text) })
}
