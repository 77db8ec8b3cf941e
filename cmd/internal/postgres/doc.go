// Package postgres writes the answers of a session to tables of a PostgreSQL database. It writes each row once, however often it is called.
//
// It copies all of an answer in one transaction, together with rows of the table posta_sessions that say what was written. It does not write a
// session that it finds there. So a user can repeat a write after this process or the server was killed: either the transaction was committed, or
// nothing of it is there.
//
//	target, err := postgres.Parse("postgres://me@db.example/stats/trips")
//	err = target.Prepare(ctx)                        is there a database, and does it let us in?
//	written, err := target.Write(ctx, answer)
//
// Passwords are found where libpq finds them. No error contains one.
package postgres
