// Package pyliteral reads Python literals as repr writes them. Files written by Python programs often hold such literals
// instead of JSON:
//
//	[{'id': 16, 'name': "D'Arcy", 'path': None}, {'id': 35, 'name': 'Comedy\n', 'path': 'x'}]
//
// A Reader walks over a literal and returns what its caller asks for, without building values:
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
// A value is skipped if the caller does not ask for it, or asks for another kind of value. Skipping checks the syntax as
// reading does. So if End finds no fault, the whole text is a literal.
//
// The package reads lists, tuples, dicts, strings in either quotes with all escapes but \N{…}, also with prefix u, integers,
// decimal numbers with and without exponent, None, True and False, with white space between them. Python has more: sets, bytes,
// raw strings, three quotes, strings side by side, comments, other bases, underscores, complex numbers, values in parentheses,
// keys that are tuples, and deeper nesting. These are refused with an error. An accepted literal has the value that Python's
// ast.literal_eval gives. The only exception is surrogates: they have no form in UTF-8 and become U+FFFD.
//
// A string's bytes are returned as they are, even if they are not UTF-8. A Reader allocates only a buffer for strings with
// escapes, once. No input makes the package panic or recurse.
package pyliteral
