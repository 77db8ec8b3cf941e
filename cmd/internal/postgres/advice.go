package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Advice returns what to do about an error that would come again if the same were tried again; "" for an error that may pass, such as a
// lost connection.
func Advice(err error) string {
	var server *pgconn.PgError
	switch {
	case errors.Is(err, ErrUse):
		return "change the statement or the table, or give another table"
	case !errors.As(err, &server) || len(server.Code) != 5:
		return ""
	case server.Code == "42501":
		return "the user of the URL may not do this; GRANT it, or give another user"
	}
	switch server.Code[:2] {
	case "22", "23", "44":
		return "a column or a constraint of the table does not take a value; change the table or the statement, or give another table"
	case "28":
		return "the server does not admit this user; see its pg_hba.conf, and give the right user and password"
	case "3D", "3F":
		return "create the database or the schema, or give another one"
	case "0A", "25", "42", "54", "P0":
		return "the server or a trigger of the table refuses it; change the table, or give another one"
	}
	return ""
}
