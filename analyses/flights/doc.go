// Package flights is the analysis of fare searches: legs with many stopovers, legs that go a long way round, the fastest of
// the former, and what the dearer half of the fares of a journey costs.
//
// Data: DIR/airports-codepublic.csv (separated by semicolons) is the reference, DIR/itineraries.csv the facts. A leg is there
// as often as it was searched for: each row is a fare.
//
//	route      startingAirport||every arrival airport
//	stopovers  arrival airports - 1
//	journey    startingAirport-destinationAirport, compared as this text. The destination is taken as it is written: it may
//	           be another airport of the city that the last segment arrives in
//
// An airport that is there twice is where its last row says, as in analysis bikes.
//
// A row is rejected if one of these is missing or does not parse; other columns are not looked at:
//
//	airports      Airport Code (not empty), Latitude and Longitude (finite decimal numbers of at most ±90 and ±360)
//	itineraries   legId, startingAirport, destinationAirport (not empty), travelDuration (see duration.go), totalFare (a
//	              decimal number of whole cents, with any sign: 0 and less is left out of fares alone),
//	              segmentsArrivalAirportCode (a list joined by ||, without empty elements), totalTravelDistance (empty, or a
//	              finite decimal number; one that is not above 0 counts as empty)
//
// Fares are integers of cents from the text to the answer, and are compared with their mean as fractions: nothing is rounded
// but what is shown, once. Distances are float64: one that is given is the float64 nearest to its text, one that is not is the
// sum of its legs in the order of the route, and both are compared as they are shown.
//
// The main loop is Joiner.Facts: what a batch's dictionary entries mean (journeys, numbers of stopovers) is looked up once per
// batch, then each row costs a few reads of small arrays and one append, of its fare. The few rows that a query shows are
// copied. Flush puts all of it into the tables, which is where it is folded.
package flights
