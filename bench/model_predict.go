package bench

// modelPart is work of a cluster that has a bound of its own: what one goroutine does, or a pool of goroutines.
type modelPart struct {
	name  string
	cost  float64 // CPU time per row in ns, of all its instances together
	most  float64 // how many cores it can use at once; 0: any number
	after bool    // it begins when all rows have been read
}

// prediction is what a model says about a number of cores.
type prediction struct {
	perRow float64 // wall time per row in ns
	first  string  // the part for which cores wait longest; "" if all cores are busy
}

// predict computes the time per row on a number of cores. The work while rows are read takes as long as all of it on all cores, or as the
// part of it that takes longest on the cores that this part can use. The work after that follows, and is computed in the same way. The
// result is a lower bound: waiting for a disk, for memory or for another part is not in it.
func predict(parts []modelPart, cores int) (p prediction) {
	waste := 0.0
	for _, after := range []bool{false, true} {
		busy, slowest, name := 0.0, 0.0, ""
		for _, x := range parts {
			if x.after != after {
				continue
			}
			busy += x.cost / float64(cores)
			if x.most > 0 && x.cost/x.most > slowest {
				slowest, name = x.cost/x.most, x.name
			}
		}
		p.perRow += max(busy, slowest)
		if slowest-busy > waste {
			waste, p.first = slowest-busy, name
		}
	}
	return p
}

func totalCost(parts []modelPart) (total float64) {
	for _, x := range parts {
		total += x.cost
	}
	return total
}
