package question

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"posta.dev/posta/client"
)

// notUTF8 returns a note about the first bytes of a sample that are not UTF-8; "" if there are none. It names the encoding that such files
// have most often: of the two that are common, only Windows-1252 has characters between 0x80 and 0x9f.
func notUTF8(s *client.Sample) string {
	for i, records := range append([][]byte{s.Header}, s.Records...) {
		if utf8.Valid(records) {
			continue
		}
		at := 0
		for r, n := utf8.DecodeRune(records); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(records[at:]) {
			at += n
		}
		place, effect := "", "They stay as they are, and become U+FFFD in JSON, Parquet and PostgreSQL"
		switch {
		case i == 0:
			place, effect = "its header", "They become U+FFFD in the names of columns"
		case i == 1:
			place = fmt.Sprintf("line %d", s.Line+uint64(bytes.Count(records[:at], []byte{'\n'})))
		case i > 1 && s.Offsets[i-1] > 0:
			place = fmt.Sprintf("byte %d", s.Offsets[i-1]+int64(at))
		case i > 1:
			place = "a later line"
		}
		encoding := "ISO-8859-1"
		if windows(records) {
			encoding = "WINDOWS-1252"
		}
		return fmt.Sprintf("%s: %s has bytes that are not UTF-8. %s. The file may be %s: convert it with iconv -f %[4]s -t UTF-8",
			s.Path, place, effect, encoding)
	}
	return ""
}

// windows reports whether there are bytes that are control characters in ISO 8859-1 and letters or signs in Windows-1252.
func windows(p []byte) bool {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 && p[0] >= 0x80 && p[0] <= 0x9f {
			return true
		}
		p = p[n:]
	}
	return false
}
