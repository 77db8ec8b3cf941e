package gen

import (
	"bytes"
	"math/rand/v2"
	"strconv"
)

// oddPeople are names that are hard to write as a literal: first as Python writes them, then some as others do.
var oddPeople = []string{
	`"Conan O'Hara"`, `'Dwayne "The Brick" Jones'`, `'It\'s "Both"'`, `'Back\\slash'`, `'Zoë Núñez'`, `'中村 光'`, `'Tab\tNewline\n'`,
	`'\xc9mile \u017dupan'`, `u'Ulla'`, `'Al\141n'`, `'\U0001f3ac Films'`, `"D'Arcy, Jr."`, `'Unknown \q'`, `''`,
}

var (
	givenNames = []string{"Ana", "Luis", "Marta", "Jorge", "Elena", "Pablo", "Irene", "Hugo", "Clara", "Mateo", "Julia", "Oscar", "Nora",
		"Ivan"}
	familyNames = []string{"Suárez", "Molina", "Vega", "Romero", "Ortiz", "Campos", "Luna", "Ferrari", "Costa", "Blanco", "Peralta",
		"Quiroga", "Bravo"}
)

func personName(r *rand.Rand, n int) []byte {
	if n%29 == 7 {
		return []byte(oddPeople[n/29%len(oddPeople)])
	}
	name := "'" + pick(r, givenNames) + " " + pick(r, familyNames)
	if n%3 > 0 { // the others share their name with another person
		name += " " + strconv.Itoa(n)
	}
	return []byte(name + "'")
}

var filmGenres = []string{"'Drama'", "'Comedy'", "'Thriller'", "'Action'", "'Romance'", "'Crime'", "'Horror'", "'Documentary'",
	"'Science Fiction'",
	"'Children\\'s'", `"Director's Cut"`}

var filmCountries = []string{"'Argentina'", "'Spain'", "'United States of America'", "'France'", "'Germany'", "'Italy'", "'Japan'",
	"'Brazil'",
	`"Lao People's Democratic Republic"`, "'C\\xf4te d\\'Ivoire'", "'Åland'"}

// appendNames appends a list of dicts with a name.
func appendNames(b []byte, key string, names ...string) []byte {
	b = append(b, '[')
	for i, n := range names {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, "{'"...), key...)
		b = strconv.AppendInt(append(b, "': "...), int64(len(n)), 10)
		b = append(append(b, ", 'name': "...), n...)
		b = append(b, '}')
	}
	return append(b, ']')
}

// badLiterals are texts that are not a list of names.
var badLiterals = []string{
	"", "False", "[{'id': 1, 'name': 'Open]", "[{'id': 1, 'name': None}]", "{'id': 1, 'name': 'Dict'}", "[{'id': 1}]", "[1, 2]",
	"[{'id': 1, 'name': 'x'}, {'id': 2 'name': 'y'}]", "[{'name': 'x', 'id': 1}] and", "[{'name': 'x', 'id': '1'}, {'name': '\\x4'}]",
	"[{'name': b'x', 'id': 1}]", "[{'name': 'x', 'id': 007}]", "[{'id': 1, 'name': 'x'}",
}

// appendValue appends a field of a CSV, in quotes where it needs them.
func appendValue(b, v []byte) []byte {
	if !bytes.ContainsAny(v, ",\"\n") {
		return append(b, v...)
	}
	b = append(b, '"')
	for _, c := range v {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
