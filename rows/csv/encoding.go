package csv

import (
	"bytes"
	"fmt"
)

// encodingBytes is how many bytes checkEncoding looks at.
const encodingBytes = 64

// encodings has the byte order marks of encodings that are not supported. UTF-32 comes first, because its mark begins with that of
// UTF-16.
var encodings = []struct{ mark, name string }{
	{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"},
	{"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
}

// checkEncoding returns an error that wraps [ErrHeader] if the first bytes of a file are text in another encoding than UTF-8 (or one
// that contains ASCII). UTF-16 without a byte order mark is recognized by the zero bytes between the letters of the header.
func checkEncoding(head []byte) error {
	head = head[:min(len(head), encodingBytes)]
	for _, e := range encodings {
		if bytes.HasPrefix(head, []byte(e.mark)) {
			return notUTF8(e.name, e.name)
		}
	}
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 { // rows may contain any bytes
		head = head[:end]
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case zeros[0]+zeros[1] == 0:
		return nil
	case 4*zeros[1] > len(head) && zeros[0] == 0:
		return notUTF8("UTF-16", "UTF-16LE")
	case 4*zeros[0] > len(head) && zeros[1] == 0:
		return notUTF8("UTF-16", "UTF-16BE")
	}
	return fmt.Errorf("%w: there are zero bytes in it; is this a text file? CSV in UTF-8 is read", ErrHeader)
}

func notUTF8(name, from string) error {
	return fmt.Errorf("%w: the file is %s, and must be UTF-8; convert it with iconv -f %s -t UTF-8", ErrHeader, name, from)
}
