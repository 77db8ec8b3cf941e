package medicsim

import "testing"

// Seeds that have found something stay for ever.
func TestFoundSeeds(t *testing.T) {
	for seed, what := range map[uint64]string{
		4:       "nobody closed the incident of a leader under its predecessor",
		27:      "an order that was stored while its leader slept left before the leader noticed",
		36:      "an order that nobody could carry out was insisted on although the target was back",
		55:      "a wrong hint kept a process that hung alive: it was taken for its own successor",
		155:     "a target that was heard while its order was late was killed nevertheless",
		193:     "an order that was under way for long knew too short a silence",
		196:     "a target that came back to life by itself, out of reach, stayed ordered",
		687:     "the old process' last heartbeat came after the new one's start, which was then killed",
		1889:    "a process was taken for the one that had ended before it",
		2064:    "a medic that had heard of an election carried out an older order before it told the host",
		2140:    "an order that arrived seconds late killed who had come back meanwhile",
		2564:    "a leader that was still storing its term, and its followers, kept each other busy with the journal",
		4984:    "a nap during the hold after a sleep counted as waiting",
		4990:    "the report of another leader's order of the same number was taken for that of one's own",
		88:      "what a medic slept through counted as the life of others",
		103:     "a row of failures ended with a life that had failed already",
		307:     "who had been cut off acted on what it had missed, on the first sign of anybody",
		653:     "late signs of the life that failed were taken for the young process that was found",
		73:      "an order that was given on silence left although nobody was heard any more: a hint had come meanwhile",
		1980:    "a leader that had never heard the one it missed did not say which life it was",
		9584:    "the checker took the lives of two logs for lives of one: the first sign of a log may come after the end of that life",
		11721:   "the same, of a log that the only medic had not heard for a partition",
		17792:   "the checker wanted help from a leader that had heard who was cut off for one heartbeat",
		17856:   "a leader that nobody had heard of, and the next one of the same generation, had counted one row: the shorter one was read last",
		18062:   "signs of the right log were doubted, and did not end a silence",
		40123:   "a late hint on a life that was believed by mistake ended a silence that there was not",
		40509:   "who had been cut off ordered at once what it could not give before, for somebody that had not spoken since its start",
		46044:   "the checker did not know that the last sign of a life may take longer than the first",
		27408:   "a medic lost its disk before its host knew of its generation, and who else knew hung",
		51553:   "the checker wanted a leader to have heard of another 25 ms after they could hear each other",
		35044:   "the checker took copies of entries that a medic wrote before it lost its disk for new ones",
		39346:   "the checker did not wait until two leaders had heard each other",
		57142:   "an order was decided in the moment in which its target was heard, and left",
		11233:   "the checker did not know that late signs of a life end an incident that another leader has opened by mistake",
		2377:    "the checker did not leave a fence the time to hear of a term that had just been stored",
		13577:   "a note of a start was all that knew of a generation, and every order after it was taken for one that comes late",
		2376:    "a medic that had never heard anybody took others for dead before its own start was given up",
		1034890: "the checker did not know that a medic counts a silence from the tick before the last sign",
		1036176: "a leader that had slept did not count the failures that a leader of a lower generation had counted meanwhile",
		1055060: "the checker did not know that a medic believes late signs of the log before, once the later log has fallen silent",
		1059767: "the checker wanted help from a leader that had heard nobody itself for a while",
		1096229: "the checker took a medic for cut off that had slept for most of that time",
		1097092: "the same, with two medics",
		1034659: "the checker did not know that a leader may be stopped for a moment while it is sent the last sign of a life",
	} {
		for _, o := range []Options{{Steady: true}, {Steady: true, Unaimed: true}, {}} {
			o.Seed = seed
			if _, err := Run(o); err != nil {
				t.Errorf("%s: %v (unaimed: %v, steady: %v)", what, err, o.Unaimed, o.Steady)
			}
		}
	}
}
