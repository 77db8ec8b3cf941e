package flights_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/test/analysistest"
)

const (
	portsHead = "Airport Code;Airport Name;Latitude;Longitude\n"
	faresHead = "segmentsArrivalAirportCode,legId,startingAirport,destinationAirport,travelDuration,totalFare,totalTravelDistance,isNonStop\n"
)

// ports are four airports on the equator, one degree (69.09 miles) apart, and one far north.
const ports = "AAA;A;0;0\nBBB;B;0;1\nCCC;C;0;2\nDDD;D;0;3\nNNN;N;80;0\n"

func written(t *testing.T, airports, itineraries string) string {
	t.Helper()
	return analysistest.Files{"airports-codepublic.csv": portsHead + airports, "itineraries.csv": faresHead + itineraries}.Write(t)
}

func TestARepeatedRowIsThereAsOftenAsItOccurs(t *testing.T) {
	a := subject.Both(t, written(t, ports,
		"B||C||D||E,leg,A,E,PT1H,1.5,,\nB||C||D||E,leg,A,E,PT1H,1.50,,\nB||C||D||E,leg,A,E,PT1H,1,,\nB||C||D,leg,A,E,PT1H,1,,\n"+
			"B||C||D||E||F,leg,A,E,PT1H,-0.01,,\n"), nil)
	analysistest.Expect(t, a, "stopovers",
		"leg A||B||C||D||E 1 3\nleg A||B||C||D||E 1.5 3\nleg A||B||C||D||E 1.5 3\nleg A||B||C||D||E||F -0.01 4")
}

func TestDetoursTakeTheGivenDistanceOrTheSumOfTheRoute(t *testing.T) {
	a := subject.Both(t, written(t, ports, ""+
		"CCC||BBB,sum3,AAA,BBB,PT1H,1,,\n"+ // 3 degrees for a direct distance of 1: no detour
		"DDD||BBB,sum5,AAA,BBB,PT1H,1,,\n"+ // 5 degrees for a direct distance of 1
		"DDD||BBB,sum0,AAA,BBB,PT1H,1,0.0,\n"+ // a distance of 0 counts as missing
		"DDD||BBB,sum-,AAA,BBB,PT1H,1,-5,\n"+ // so does a negative one
		"DDD||BBB,given,AAA,BBB,PT1H,1,276,\n"+ // a given distance is used without checking it against the route
		"BBB,given5,AAA,BBB,PT1H,1,276.5,\n"+
		"XXX||BBB,givenX,AAA,BBB,PT1H,1,1000,\n"+ // a given distance does not need the unknown stop
		"XXX||BBB,sumX,AAA,BBB,PT1H,1,,\n"+ // the sum does
		"BBB,startX,XXX,BBB,PT1H,1,1000,\n"+
		"BBB,endX,AAA,XXX,PT1H,1,1000,\n"+
		"NNN||AAA,round,AAA,AAA,PT1H,1,,\n"+ // any distance is more than four times 0
		"AAA,none,AAA,AAA,PT1H,1,,\n"), nil) // but 0 is not
	want := []string{"given5 AAA||BBB 276.5 69.09", "givenX AAA||XXX||BBB 1000 69.09", "round AAA||NNN||AAA 11054.9",
		"sum- AAA||DDD||BBB 345.4",
		"sum0 AAA||DDD||BBB 345.4", "sum5 AAA||DDD||BBB 345.4"}
	got := strings.Split(analysistest.Rows(a, "detours", "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d detours: %q", len(got), got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s…", got[i], want[i])
		}
	}
}

func TestTheLastRowOfAnAirportWins(t *testing.T) {
	a := subject.Both(t, written(t, "AAA;A;50;50\nAAA;A;-50;-50\n"+ports, "BBB,leg,AAA,BBB,PT1H,1,276.5,\n"), nil)
	if got := analysistest.Rows(a, "detours", "\n"); !strings.HasPrefix(got, "leg AAA||BBB 276.5 69.09") {
		t.Errorf("detours: %s", got)
	}
}

func TestFastestLegsAreDifferentAndAsFastAsTheyGet(t *testing.T) {
	long := "B||C||D||Z"
	a := subject.Both(t, written(t, ports, ""+
		long+",c,A,Z,P1DT9M,1,,\n"+long+",c,A,Z,PT10H,1,,\n"+long+",b,A,Z,PT10H,1,,\n"+long+",a,A,Z,PT10H1M,1,,\n"+long+",a,A,Z,PT9H,1,,\n"+
		"B||D||C||Z,a,A,Z,PT9H,1,,\n"+"B||A||C||D||Z,a,A,Z,PT9H,1,,\n"+"B||A,a,A,Z,PT1H,1,,\n"+
		long+",x,A,Y,P2D,1,,\n"+long+",x,A,Y,P2D,1,,\n"), nil)
	analysistest.Expect(t, a, "fastest", "A-Y x A||B||C||D||Z 3 2880\nA-Z a A||B||A||C||D||Z 4 540\nA-Z b A||B||C||D||Z 3 600")
}

// TestFaresAreComparedWithTheirMeanExactly: the mean of 0.01, 0.02 and 0.02 is below 0.02, but the mean of three times 0.02 is not,
// nor is it as a float64.
func TestFaresAreComparedWithTheirMeanExactly(t *testing.T) {
	a := subject.Both(t, written(t, ports,
		"Z,a,A,Z,PT1H,.02,,\nZ,a,A,Z,PT1H,0.020,,\nY,a,A,Y,PT1H,+0.02,,\nZ,a,A,Z,PT1H,0,,\nZ,a,A,Z,PT1H,-7,,\n"), nil)
	analysistest.Expect(t, a, "fares", "")
	a = subject.Both(t, written(t, ports, "Z,a,A,Z,PT1H,.01,,\nZ,a,A,Z,PT1H,0.02,,\nY,a,A,Y,PT1H,0.02,,\n"), nil)
	analysistest.Expect(t, a, "fares", "A-Y 0.02 0.02 1\nA-Z 0.02 0.02 1")
	// Sums of large amounts take more than 64 bits, and the mean needs more digits than a float64 has.
	a = subject.Both(t, written(t, ports, strings.Repeat("Z,a,A,Z,PT1H,9223372036854775.8,,\n", 4)+"Y,a,A,Y,PT1H,9223372036854775.81,,\n"),
		nil)
	analysistest.Expect(t, a, "fares", "A-Y 9.223372036854776e+15 9.223372036854776e+15 1")
}

// TestAirportsWithDashes: a journey is identified by its text; its direct distance is that of its airports.
func TestAirportsWithDashes(t *testing.T) {
	a := subject.Both(t, written(t, "A-B;;0;0\nC;;0;1\nA;;0;0\nB-C;;0;3\n",
		"C,one,A-B,C,PT1H,1,300,\nB-C,two,A,B-C,PT1H,3,300,\nB-C,three,A,B-C,PT1H,3,,\n"), nil)
	if got := analysistest.Rows(a, "detours", "\n"); !strings.HasPrefix(got, "one A-B||C 300 69.09") || strings.Contains(got, "\n") {
		t.Errorf("detours: %s", got)
	}
	analysistest.Expect(t, a, "fares", "A-B-C 3 3 2")
}

func TestN7_WhichRowsAreRejected(t *testing.T) {
	good := "B,leg,A,Z,%s,%s,%s,\n"
	var text strings.Builder
	taken := 0
	for _, d := range []string{"PT2H29M", "P1DT6H58M", "PT45M", "P1DT9M", "P2D", "PT3H", "PT000000009M", "P999999999DT999999999H999999999M"} {
		fmt.Fprintf(&text, good, d, "1", "")
		taken++
	}
	for _, d := range []string{"", "P", "PT", "P1DT", "PT1", "1H", "PT1H1D", "PT1M1H", "PT1H1H", "P1H", "PT1D", "PT1S", "P1W", "P1M", "pt1h",
		"PT-1H", "PT1.5H",
		"PTT1H", "PT1H ", " PT1H", "PT1HT1M", "PT0000000001M"} {
		fmt.Fprintf(&text, good, d, "1", "")
	}
	for _, fare := range []string{"0", "-1", "+1.10", ".5", "5.", "1.000", "9999999999999999", "0.01000000000000000"} {
		fmt.Fprintf(&text, good, "PT1H", fare, "")
		taken++
	}
	for _, fare := range []string{"", "x", "1_5", "1.005", "1e2", "NaN", "$5", "1.0000000000000000000", "99999999999999999.9", "."} {
		fmt.Fprintf(&text, good, "PT1H", fare, "")
	}
	for _, miles := range []string{"", "0", "-1", "1e3", "1234.5678", "9007199254740993", "12345678901234567890123", "-0.0", "1e-400"} {
		fmt.Fprintf(&text, good, "PT1H", "1", miles)
		taken++
	}
	for _, miles := range []string{"x", "inf", "NaN", "1e400", "0x10", "1 000", "."} {
		fmt.Fprintf(&text, good, "PT1H", "1", miles)
	}
	for _, list := range []string{"", "||", "A||", "||A", "A||||B", "A|||||B"} {
		text.WriteString(strings.Replace("@,leg,A,Z,PT1H,1,,\n", "@", list, 1))
	}
	for _, list := range []string{"A|B", "|", "A|||B", "A||B"} {
		text.WriteString(strings.Replace("@,leg,A,Z,PT1H,1,,\n", "@", list, 1))
		taken++
	}
	text.WriteString("B,,A,Z,PT1H,1,,\nB,leg,,Z,PT1H,1,,\nB,leg,A,,PT1H,1,,\nB,leg\n")
	dir := written(t, ports+";;1;1\nX;;;1\nX;;1;\nX;;91;1\nX;;1;361\nX;;1e0;+1\nX;;x;1\nX;;1;0x1\nX;;1\n", text.String())
	a := subject.Both(t, dir, map[string]string{"min_stopovers": "0"})
	if got := len(a.Query("stopovers").Rows); got != taken {
		t.Errorf("%d rows taken, want %d:\n%s", got, taken, analysistest.Rows(a, "stopovers", "\n"))
	}
	analysistest.ExpectRejected(t, a, 8, strings.Count(text.String(), "\n")-taken)
	if got := a.Rejected[1].First[0]; got.Line != 10 || got.File != "itineraries.csv" || got.Reason != "travelDuration is empty" {
		t.Errorf("%+v", got)
	}
}

func TestDamagedFiles(t *testing.T) {
	row := "BBB||CCC||DDD||AAA,leg,AAA,BBB,PT2H29M,100.10,2000,False\n"
	analysistest.Damage(t, flights.New(), analysistest.Files{
		"airports-codepublic.csv": portsHead + ports,
		"itineraries.csv":         faresHead + row + "BBB,other,AAA,BBB,PT2H,200.10,,True\n" + row,
	}, map[string][]string{
		"airports": {"AAA;A;north;0\n", "AAA;A;0;\n", ";A;0;0\n", "AAA,A,0,0\n"},
		"itineraries": {
			strings.Replace(row, "PT2H29M", "2 hours", 1), strings.Replace(row, "100.10", "n/a", 1), strings.Replace(row, "2000", "far", 1),
			strings.Replace(row, "leg", "", 1), strings.ReplaceAll(row, ",", ";"), strings.Replace(row, "BBB||", "||", 1),
		},
	})
}

func TestParametersAreChecked(t *testing.T) {
	analysistest.BadParams(t, flights.New(), map[string][]string{
		"min_stopovers": {"", "x", "-1", "2.5", "1e9", "9999999999"},
		"detour_factor": {"", "x", "-0.5", "NaN", "inf", "1e999"},
		"fastest_legs":  {"", "0", "-1", "two", "99999999999999999999"},
	})
	bad := []analyses.Args{nil, {"1"}, {"3", "-4", "2"}}
	analysistest.BadArgs(t, flights.New(), bad)
	for _, args := range bad {
		if err := flights.New().Reduce(args, 0, nil, nil); !errors.Is(err, analyses.ErrBadParam) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
