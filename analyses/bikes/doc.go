// Package bikes is the analysis of bike rides: how long people rode on rainy days, which stations doubled their trips, and to
// which stations people ride from afar.
//
// Data: DIR/<city>/{weather,stations,trips}.csv, any cities. The city of a row is the folder of its file.
//
// A station is (city, code, yearid), and a weather row dated D describes day D-1. If a station or a day occurs twice, the last
// row wins: within a file the last by line, among several files of a city the last by file name.
//
// A row is rejected if one of these is missing or does not parse; other columns are not read:
//
//	weather   date (YYYY-MM-DD), prectot (a finite decimal number)
//	stations  code, name (not empty), yearid (an integer); latitude and longitude may be empty, but if not they must be
//	          numbers of at most ±90 and ±360 degrees
//	trips     start_date (YYYY-MM-DD HH:MM:SS), both station codes (not empty), duration_sec (a finite decimal number),
//	          yearid (an integer)
//
// A number's value is the nearest float64. A mean is the exact sum of these divided by their count, rounded once. It is
// compared with its threshold after rounding, as it is shown. The factor of doubled is compared exactly.
//
// The main loop is Joiner.Facts. It looks up each dictionary entry once per batch. Then each trip costs a few reads of small
// arrays. The results are kept in dense counters until Flush, which touches only the counters that are not zero.
package bikes
