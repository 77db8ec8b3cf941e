// Package pyliteral reads Python literals, as repr writes them and files of the Python world hold them where others have JSON:
//
//	[{'id': 16, 'name': "D'Arcy", 'path': None}, {'id': 35, 'name': 'Comedy\n', 'path': 'x'}]
//
// A Reader walks over a literal and hands out what its caller asks for, without building values:
//
//	var r pyliteral.Reader
//	r.Reset(p)
//	if !r.List() { … it is something else, or nothing … }
//	for r.Next() {
//		if !r.Dict() { … an element that is something else … }
//		for r.NextKey() {
//			if string(r.Key()) == "name" {
//				name, ok := r.Text()
//			}
//		}
//	}
//	if err := r.End(); err != nil { … }
//
// A value that nobody asks for is skipped, and so is one that is asked for as something it is not. Skipping checks the
// syntax as reading does: what End finds no fault with is a literal as a whole.
//
// What is read: lists, tuples, dicts, strings in either quotes with all escapes but \N{…}, also with prefix u, integers,
// decimal numbers with and without exponent, None, True and False; white space between them. Python has more: sets, bytes,
// raw strings, three quotes, strings side by side, comments, other bases, underscores, complex numbers, values in
// parentheses, keys that are tuples, and deeper nesting. Those are refused, with an error. What is accepted has the value
// that Python's ast.literal_eval gives, but for surrogates, which UTF-8 has no form for: they become U+FFFD.
//
// A string's bytes are handed on as they are, be they UTF-8 or not. Nothing is allocated but room for a string with escapes,
// once; no input makes the package panic or recurse.
package pyliteral
