// Package brokers starts real brokers for tests and benchmarks: with ports that are free, data of their own, on loopback, and
// nothing left when they are closed. They can be killed, started again on the same data, and paused. RabbitMQ has to be installed;
// NATS, and DuckDB, are built from the module bench/rivals, which keeps them out of Posta's own requirements.
package brokers
