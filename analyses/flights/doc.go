// Package flights is the analysis of fare searches: legs with many stopovers, the fastest of these, legs with long detours, and
// the mean and maximum of those fares of a journey that are above the journey's mean.
//
// Data: DIR/airports-codepublic.csv (separated by semicolons) is the reference, DIR/itineraries.csv the facts. A leg occurs
// once for each search that found it, so each row is a fare.
//
//	route      startingAirport||every arrival airport
//	stopovers  arrival airports - 1
//	journey    startingAirport-destinationAirport, compared as this text. The destination is taken as it is written: it may
//	           be another airport of the city that the last segment arrives in
//
// If an airport occurs twice, its last row wins, as in analysis bikes.
//
// A row is rejected if one of these is missing or does not parse; other columns are not read:
//
//	airports      Airport Code (not empty), Latitude and Longitude (finite decimal numbers of at most ±90 and ±360)
//	itineraries   legId, startingAirport, destinationAirport (not empty), travelDuration (see duration.go), totalFare (a
//	              decimal number of whole cents, with any sign: 0 and less is left out of fares alone),
//	              segmentsArrivalAirportCode (a list joined by ||, without empty elements), totalTravelDistance (empty, or a
//	              finite decimal number; one that is not above 0 counts as empty)
//
// Fares are integers of cents from the text to the answer, and are compared with their mean as fractions. Only the values of
// the answer are rounded, once. Distances are float64. A given distance is the float64 nearest to its text. A missing
// distance is the sum of the route's legs, in their order. Both are compared as they are shown.
//
// The main loop is Joiner.Facts. What a batch's dictionary entries mean (journeys, numbers of stopovers) is looked up once per
// batch. Then each row costs a few reads of small arrays, and one append of its fare. The few rows that a query shows are
// copied. Flush folds everything into the tables.
package flights
