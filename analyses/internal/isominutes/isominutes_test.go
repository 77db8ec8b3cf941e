package isominutes

import (
	"fmt"
	"testing"
)

func TestDurationIsWhatItsPartsAreWorth(t *testing.T) {
	for days := range 3 {
		for hours := range 30 {
			for minutes := range 3 {
				text := fmt.Sprintf("P%dDT%dH%dM", days, hours, minutes)
				if got, ok := Parse([]byte(text)); !ok || got != int64(24*60*days+60*hours+minutes) {
					t.Fatalf("%s: %d %v", text, got, ok)
				}
			}
		}
	}
}
