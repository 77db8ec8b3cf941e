package jsonl

import "bytes"

// Keys returns the keys of the objects in some lines, in the order in which they are found. Lines that are not whole objects are skipped.
func Keys(lines []byte) (keys []string) {
	o, seen := newObject(nil), map[string]bool{}
	o.gather = true
	for line := range bytes.Lines(lines) {
		o.keys = o.keys[:0]
		if o.read(bytes.TrimRight(line, "\r\n")) != nil {
			continue
		}
		for _, k := range o.keys {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}
