package jsonl

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/rows/csv"
)

// TestC1_HardJSON: each kind of text that parsers of JSON differ about, as a value of an object, where it is needed and where it is not.
// What RFC 8259 allows is read with its value, and nothing else is: it is rejected where it is, and the lines around it are read.
func TestC1_HardJSON(t *testing.T) {
	const bad = "\x00bad" // marks a text that is rejected
	deep := func(open, in, end string, n int) string { return strings.Repeat(open, n) + in + strings.Repeat(end, n) }
	values := map[string]string{
		// numbers
		"0": "0", "-0": "-0", "-0.0": "-0.0", "123456789": "123456789", "0e1": "0e1", "0e+1": "0e+1", "1E22": "1E22", "1E+2": "1E+2",
		"1E-2": "1E-2", "1.5e-7": "1.5e-7", "123e65": "123e65",
		"18446744073709551616": "18446744073709551616", "1e999999999999": "1e999999999999", "-1e-999999999999": "-1e-999999999999",
		strings.Repeat("9", 5000):              strings.Repeat("9", 5000),
		"-0." + strings.Repeat("0", 500) + "1": "-0." + strings.Repeat("0", 500) + "1",
		"1.":                                   bad, "-": bad, "+1": bad, ".5": bad, "-.5": bad, "01": bad, "-01": bad, "00": bad, "1.e1": bad,
		"1e": bad, "1e+": bad, "1eE2": bad, "0.3e": bad, "0x1": bad, "1_000": bad, "1 000": bad,
		"--1": bad, "++1": bad, "1+2": bad, "-1x": bad, "1.2.3": bad, "1e1.5": bad, "NaN": bad, "-NaN": bad, "Infinity": bad, "-Infinity": bad,
		"inf": bad, "-1.0.": bad, "2.e-3": bad, "0E+": bad, "-foo": bad,
		"\uff11": bad, "1\u00a0": bad, "123\xe5": bad, "1ea": bad, "1,": bad, "\u22121": bad,
		// words
		"true": "true", "false": "false", "null": "",
		"True": bad, "nul": bad, "truth": bad, "nulll": bad, "fals": bad, "undefined": bad, "a": bad, "\xe5": bad, "'x'": bad, "": bad, "*": bad,
		"\u2028": bad,
		// strings
		`""`: "", `"a"`: "a", `"\""`: `"`, `"\\\/\b\f\n\r\t"`: "\\/\b\f\n\r\t", `"\u0041"`: "A", `"\u00e9"`: "é", `"\uD83D\uDE00"`: "😀",
		`"\ud83d\ude00x"`: "😀x", `"\u0000"`: "\x00", `"\u0022"`: `"`,
		`"\uFFFF"`: "\uffff", `"\uDBFF\uDFFF"`: "\U0010ffff", "\"\x7f\"": "\x7f", "\"\u2028\"": "\u2028", "\"é😀\"": "é😀",
		`"\u005Cn"`: `\n`, `"a/*b*/c"`: "a/*b*/c", "\"\ufeff\"": "\ufeff", `"new\u000Aline"`: "new\nline",
		"\"\xff\xc0\x80\xed\xa0\x80\"": "\xff\xc0\x80\xed\xa0\x80", // bytes that are not UTF-8 stay as they are, as in CSV
		`"\ud800"`:                     bad, `"\udc00"`: bad, `"\ud800\ud800"`: bad, `"\ud800x"`: bad, `"\ud800\n"`: bad, `"\udc00\ud800"`: bad,
		`"\ud800\u"`: bad, `"\u12"`: bad, `"\u"`: bad, `"\u{41}"`: bad, `"\U0041"`: bad,
		`"\u00g0"`: bad, `"\u+123"`: bad, `"\u 123"`: bad, `"\x41"`: bad, `"\0"`: bad, `"\a"`: bad, `"\'"`: bad, `"\`: bad, `"\"`: bad, `"`: bad,
		`"a`: bad, "\"\t\"": bad, "\"\x00\"": bad, "\"\x1f\"": bad, "\"\\\t\"": bad,
		`"a" "b"`: bad, `"a"b`: bad, "\"\\\xe5\"": bad, "\"\\u\xe5\"": bad, `"\😀"`: bad,
		// arrays
		"[]": "[]", "[ ]": "[ ]", "[1, [2], {}]": "[1, [2], {}]", "[null,true]": "[null,true]", deep("[", "", "]", 500): deep("[", "", "]", 500),
		"[": bad, "]": bad, "[1": bad, "[1,": bad, "[1,]": bad, "[,1]": bad, "[1,,2]": bad, "[,]": bad, "[1 2]": bad, "[1}": bad, "[1:2]": bad,
		"[\"a\",4": bad, "[]]": bad, "[1]x": bad, "[\v]": bad, "[\f]": bad, "[*]": bad,
		"[\x00]": bad, "[\u2060]": bad, "[\ufeff]": bad, "[<null>]": bad, "[1]//": bad, "[a\xe5]": bad, "[\"": bad, deep("[", "", "]", 600): bad,
		strings.Repeat("[", 100_000): bad,
		// objects
		"{}": "{}", `{"a":1}`: `{"a":1}`, `{"a":1,"a":2}`: `{"a":1,"a":2}`, `{"":0}`: `{"":0}`, `{"a":{"n":1}}`: `{"a":{"n":1}}`,
		`{ "a" : [ ] }`: `{ "a" : [ ] }`, `{"\u0041":1}`: `{"\u0041":1}`,
		"{": bad, "}": bad, `{"a"`: bad, `{"a":`: bad, `{"a":1`: bad, `{"a":1,}`: bad, `{"a":1,,}`: bad, `{,}`: bad, `{a:1}`: bad,
		`{'a':1}`: bad, `{1:1}`: bad, `{"a" 1}`: bad, `{"a"::1}`: bad, `{"a":1 "b":2}`: bad,
		`{"a":1]`: bad, `{"a":1}}`: bad, `{"a":1}#`: bad, `{"a":1}/**/`: bad, `{"a":/*1*/1}`: bad, `{null:1}`: bad, `{"a":}`: bad, `{:1}`: bad,
		`{"a","b"}`: bad, `{[`: bad, `{"\ud800":1}`: bad,
		deep(`{"a":`, "1", "}", 500): deep(`{"a":`, "1", "}", 500), strings.Repeat(`{"a":`, 100_000): bad, strings.Repeat(`[{"":`, 50_000): bad,
	}
	optional := []csv.Column{{Name: "n", Optional: true}, {Name: "m", Optional: true}}
	for text, want := range values {
		for _, form := range []string{`{"n":%s,"m":1}`, `{"m":1,"other":%s}`, `{"m":1,"list":[0,%s]}`} {
			needed := form[2] == 'n'
			data := "{\"m\":0}\n" + fmt.Sprintf(form, text) + "\n{\"m\":2}\n"
			got, err := rows(t, strings.NewReader(data), 1<<20, optional)
			if err != nil || len(got) != 3 || got[0].text != "~0" || got[2].text != "~2" {
				t.Errorf("%.60q: %d rows, %v", data, len(got), err)
				continue
			}
			is := got[1]
			switch {
			case is.line != 2:
				t.Errorf("%.60q is in line %d", text, is.line)
			case want == bad && !strings.Contains(is.text, "the line is not a JSON object: character "):
				t.Errorf("%.60q is read as %.60q", text, is.text)
			case want != bad && needed && is.text != want+"~1", want != bad && !needed && is.text != "~1":
				t.Errorf("%.60q is read as %.60q", text, is.text)
			}
		}
	}
	for _, line := range []string{"1", "null", `"x"`, "[]", "[{}]", "{}{}", "{} {}", "{},{}", "{};", "x{}", "\ufeff{}", "\x00{}", "{}\x00",
		"\f", "\v", "\u00a0", "\u2060", "\x00", "\xef\xbb{}", "/**/{}", "#"} {
		got, err := rows(t, strings.NewReader("{\"n\":0}\n"+line+"\n{\"n\":2}"), 1<<20, columns("n"))
		if err != nil || len(got) != 3 || !strings.HasPrefix(got[1].text, "the line is not a JSON object") || got[2].text != "2" {
			t.Errorf("%q: %q, %v", line, fmt.Sprint(got), err)
		}
	}
}
