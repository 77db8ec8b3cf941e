// Package brokers starts real brokers for tests and benchmarks, on free ports of the loopback interface and with their
// own data. Close removes everything. A broker can be killed, started again on the same data, and paused. RabbitMQ has
// to be installed. NATS and DuckDB are built from the module bench/rivals, so that Posta itself does not require them.
package brokers
