package topology

// Source writes every setting, those of brokers included. Parse of it gives the same topology.
func (t *Topology) Source() string {
	return t.canonical(nil, "rabbitmq", "nats", "security", "medics", "limits")
}
