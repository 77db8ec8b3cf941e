// Package syntax turns the text of SQL statements into trees, and trees into text. It knows the grammar alone: whether a table, a
// column or a function exists is decided by package bind.
//
//	script, err := syntax.Parse(text)      every statement, or an *Error with line, column and a caret
//	for _, s := range script.Statements {  s.Node is a *Query, *CreateTable, *CreateView, *Describe or *ShowTables
//		…
//	}
//	text = syntax.Print(script)            normal form: Parse of it gives an equal tree
//
// The dialect is DuckDB's. The parser is written by hand: operators by precedence climbing (expr.go), statements by recursive descent
// (query.go, from.go). The rejected way is a grammar in struct tags: it needs one type for each of ten levels of precedence, bounds
// neither depth nor backtracking, and its errors name the expected token but not what to write instead.
//
// Several spellings of one construct become the same tree, so no later step sees the difference: CAST and ::, DATE '…', extract(f
// FROM x), the forms of substring, position and trim with keywords, x IS TRUE, FROM before SELECT, a frame without BETWEEN.
//
// What DuckDB's dialect has and Posta lacks is refused with what to write instead (refuse.go). Nothing is skipped.
//
// # Bounds
//
// A text has at most [MaxText] bytes and is valid UTF-8. Parentheses, calls, subqueries and prefix operators are nested at most
// [MaxDepth] deep. The time is linear in the text: no rule is tried twice on the same tokens. No text makes the package panic
// (FuzzParse).
package syntax
