package bind

import "posta.dev/posta/analyses/sql/plan"

// Program is a bound text.
type Program struct {
	Statements []Statement
	IDs        *plan.IDs // gives out numbers for further columns
}

// Statement is one answer. Plan is nil for SHOW TABLES.
type Statement struct {
	Name string
	Kind StatementKind
	Plan plan.Node
}

type StatementKind uint8

const (
	Rows        StatementKind = iota // the rows of Plan
	Description                      // the columns of Plan
	Tables                           // the tables of the catalogue
)
