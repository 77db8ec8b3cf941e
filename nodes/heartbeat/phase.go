package heartbeat

import "time"

// Next returns the time until the wall clock shows the next multiple of every: more than 0, and at most every. All processes of a machine
// send heartbeats and tick at these moments. So their messages arrive together and wake each process once; before, they woke a medic with
// ten processes 200 times a second. The wall clock only chooses the moment: even if it is wrong, the pause is never longer than every
// (M10).
func Next(now time.Time, every time.Duration) time.Duration {
	if every <= 0 {
		return 0
	}
	past := time.Duration(now.UnixNano() % int64(every))
	if past < 0 { // before 1970
		past += every
	}
	return every - past
}
