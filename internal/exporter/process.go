package exporter

import (
	"runtime/metrics"
	"syscall"
	"time"
)

// Metrics of each process, under the names that exporters in Go use for them.
var (
	cpuSeconds = Metric{Name: "process_cpu_seconds_total", Help: "Processor time of the process, in user and in system mode."}
	goroutines = Metric{Name: "go_goroutines", Help: "Goroutines that exist."}
	heapBytes  = Metric{Name: "go_heap_objects_bytes", Help: "Memory of objects on the heap, those that are not collected yet included."}
)

func processMetrics(p *Page) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		p.Counter(&cpuSeconds, time.Duration(r.Utime.Nano()+r.Stime.Nano()).Seconds())
	}
	read := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(read) // unlike runtime.ReadMemStats, this does not stop the program
	for i, m := range []*Metric{&goroutines, &heapBytes} {
		if read[i].Value.Kind() == metrics.KindUint64 {
			p.Gauge(m, float64(read[i].Value.Uint64()))
		}
	}
}
