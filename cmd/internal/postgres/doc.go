// Package postgres writes the answers of a session to tables of a PostgreSQL database. It writes each row once, however often it is called.
//
// It copies an answer in one transaction, together with rows of the table posta_sessions that say which session was written. It does not
// write a session again that is listed there. So a user can repeat a write after this process or the server was killed: either the
// transaction was committed, or nothing was written.
//
//	target, err := postgres.Parse("postgres://me@db.example/stats/trips")
//	err = target.Prepare(ctx)                        checks that the database exists and admits us
//	written, err := target.Write(ctx, answer)
//
// Passwords are found where libpq finds them. No error contains one.
package postgres
