// Package jsonl is the format JSON Lines: one object in each line.
//
// A column is found by its name: as a key of the object, or as a path into it. The path "a.b[0]" is the first item of the array "b" in the
// object "a". A string becomes its text; numbers, true and false stay as they are written; null and a missing value become an empty field;
// an object or an array becomes its JSON text. If the key of a column occurs twice in an object, the row is rejected, because the column
// has no single value.
package jsonl
