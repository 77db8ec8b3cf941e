package tracing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
)

// The parts of OTLP/JSON that Posta writes (opentelemetry-proto, trace/v1). Numbers of 64 bits are strings there. The SDK of OpenTelemetry
// was rejected: it records spans while they run, but these spans are made afterwards, from what nodes have kept. So only this document
// would be left of the SDK.
type (
	otlpTraces struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource   otlpAttributes `json:"resource"`
		ScopeSpans []otlpScope    `json:"scopeSpans"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes"`
		Status     *otlpStatus     `json:"status,omitempty"`
	}
	otlpStatus struct {
		Code int `json:"code"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

const (
	spanInternal = 1
	statusError  = 2
)

func text(key, v string) otlpAttribute {
	return otlpAttribute{key, map[string]any{"stringValue": v}}
}

func seconds(key string, d time.Duration) otlpAttribute {
	return otlpAttribute{key, map[string]any{"doubleValue": d.Seconds()}}
}

func count(key string, n uint64) otlpAttribute {
	return otlpAttribute{key, map[string]any{"intValue": strconv.FormatUint(n, 10)}}
}

// Spans returns the view as OTLP/JSON: a span for the session, one below it for each node, and one below that for each stage of the node.
// The trace id is the one that the session's client gave, else the session's id. A session has the same spans whenever they are made.
func (v *View) Spans(cluster string) ([]byte, error) {
	id, root := v.traceID(), spanID(v.Session, "", "")
	doc := otlpTraces{ResourceSpans: []otlpResource{resource(cluster, "", otlpSpan{
		TraceID: id, SpanID: root, Name: "session " + v.Analysis, Kind: spanInternal, Start: nanos(v.Begin), End: nanos(v.End),
		Status: v.status(v.State == session.Failed),
		Attributes: []otlpAttribute{text("posta.session", v.Session.String()), text("posta.analysis", v.Analysis),
			text("posta.state", string(v.State))},
	})}}
	for i := range v.Nodes {
		doc.ResourceSpans = append(doc.ResourceSpans, resource(cluster, string(v.Nodes[i].Node.ID), v.nodeSpans(&v.Nodes[i], id, root)...))
	}
	return json.Marshal(doc)
}

func (v *View) nodeSpans(x *monitor.Traced, id, root string) []otlpSpan {
	t, name := x.Report.Trace, string(x.Node.ID)
	node := otlpSpan{
		TraceID: id, SpanID: spanID(v.Session, name, ""), Parent: root, Name: name, Kind: spanInternal, Start: nanos(x.Begin()),
		End: nanos(x.End()), Status: v.status(t.Failed),
		Attributes: []otlpAttribute{
			count("posta.commits", t.Commits.Count), seconds("posta.fsync_seconds.p50", t.Syncs.P50),
			seconds("posta.fsync_seconds.p95", t.Syncs.P95),
			seconds("posta.fsync_seconds.max", t.Syncs.Max),
		},
	}
	for s, d := range t.States {
		node.Attributes = append(node.Attributes, seconds("posta."+trace.State(s).String()+"_seconds", d))
	}
	spans := []otlpSpan{node}
	for _, r := range t.Roles {
		spans = append(spans, otlpSpan{
			TraceID: id, SpanID: spanID(v.Session, name, r.Name), Parent: node.SpanID, Name: r.Name, Kind: spanInternal, Start: node.Start,
			End:        node.End,
			Attributes: []otlpAttribute{seconds("posta.working_seconds", r.Time), count("posta.calls", r.Calls)},
		})
	}
	return spans
}

func (v *View) status(failed bool) *otlpStatus {
	if !failed {
		return nil
	}
	return &otlpStatus{statusError}
}

func (v *View) traceID() string {
	for i := range v.Nodes {
		if id := v.Nodes[i].Report.Trace.ID; id != (session.Trace{}) {
			return hex.EncodeToString(id[:])
		}
	}
	return hex.EncodeToString(v.Session[:])
}

func resource(cluster, node string, spans ...otlpSpan) otlpResource {
	r := otlpResource{Resource: otlpAttributes{[]otlpAttribute{text("service.name", "posta"), text("service.namespace", cluster)}}}
	if node != "" {
		r.Resource.Attributes = append(r.Resource.Attributes, text("service.instance.id", node))
	}
	scope := otlpScope{Spans: spans}
	scope.Scope.Name = "posta"
	r.ScopeSpans = []otlpScope{scope}
	return r
}

// spanID derives a span's id, so that a collector recognises a span that it gets twice.
func spanID(id session.ID, node, role string) string {
	sum := sha256.Sum256([]byte(id.String() + "\x00" + node + "\x00" + role))
	return hex.EncodeToString(sum[:8])
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
