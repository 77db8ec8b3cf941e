// Package postgres writes the answers of a session to tables of a PostgreSQL database, each row once however often it is asked to.
//
// All of an answer is copied in one transaction, together with rows of the table posta_sessions that say what was written. A session that is
// found there is not written again. So whoever is killed, here or there, can run it again: the transaction was committed, or nothing of
// it is there.
//
//	target, err := postgres.Parse("postgres://me@db.example/stats/trips")
//	err = target.Prepare(ctx)                        is there a database, and does it let us in?
//	written, err := target.Write(ctx, answer)
//
// Passwords are found where libpq finds them. None is part of an error.
package postgres
