// Package field reads the fields of files as values of SQL's types, and says which type the text of a field has.
//
//	k := field.KindOf([]byte("2024-02-29"))        types.Date: the narrowest type that holds it
//	days, ok := field.Date([]byte("2024-02-29"))
//
// KindOf returns a type as which the text can be read, so the type that samples give a column holds the samples. The reading
// functions accept a few more forms, as DuckDB does (" 7", "yes" for a BOOLEAN, "inf"). These matter for a declared column.
//
// A field that is empty and not quoted is NULL, which is [IsNull]. The package keeps nothing and allocates nothing.
package field
