package board

import (
	"context"
	"io"
	"unicode/utf8"
)

// sequences maps what terminals send for keys that are not characters to names.
var sequences = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "OA": "up", "OB": "down", "OC": "right", "OD": "left", "[Z": "shift+tab",
	"[5~": "pgup", "[6~": "pgdown", "[H": "home", "[F": "end", "OH": "home", "OF": "end", "[1~": "home", "[4~": "end", "[7~": "home",
	"[8~": "end",
}

// readKeys sends the keys that are pressed, until in or ctx ends.
func readKeys(ctx context.Context, in io.Reader, keys chan<- string) {
	b := make([]byte, 256)
	for {
		n, err := in.Read(b)
		for typed := b[:n]; len(typed) > 0; {
			var key string
			if key, typed = cutKey(typed); key == "" {
				continue
			}
			select {
			case keys <- key:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cutKey cuts the first key off what was typed. It returns "" for a key that it does not know. A terminal sends a sequence at once, so an
// ESC with nothing after it is the key of that name.
func cutKey(typed []byte) (key string, rest []byte) {
	switch c := typed[0]; {
	case c == 0x1b && len(typed) == 1:
		return "esc", nil
	case c == 0x1b:
		n := 2
		if typed[1] == '[' || typed[1] == 'O' {
			for n < len(typed) && (typed[n] < '@' || typed[n] > '~') {
				n++
			}
			n = min(n+1, len(typed))
		}
		return sequences[string(typed[1:n])], typed[n:]
	case c == 3:
		return "ctrl+c", typed[1:]
	case c == '\t':
		return "tab", typed[1:]
	case c < ' ' || c == 0x7f:
		return "", typed[1:]
	}
	_, n := utf8.DecodeRune(typed)
	return string(typed[:n]), typed[n:]
}
