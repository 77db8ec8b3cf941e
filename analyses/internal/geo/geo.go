// Package geo computes distances on the earth, to the same bits on every machine.
package geo

import "math"

const earthRadiusKm = 6371.0088

// Point holds coordinates in radians, and the cosine of the latitude, which the haversine formula needs.
type Point struct{ lat, lon, cosLat float64 }

// At returns the point at coordinates in degrees.
func At(lat, lon float64) Point {
	rad := lat * math.Pi / 180
	return Point{rad, lon * math.Pi / 180, math.Cos(rad)}
}

// Km returns the great-circle distance by the haversine formula. The conversions to float64 keep the compiler from fusing products
// and sums on processors that can: all hosts of a session must compute the same bits (D1).
func Km(a, b *Point) float64 {
	lat, lon := math.Sin((b.lat-a.lat)/2), math.Sin((b.lon-a.lon)/2)
	h := float64(lat*lat) + float64(float64(a.cosLat*b.cosLat)*float64(lon*lon))
	return 2 * earthRadiusKm * math.Asin(min(1, math.Sqrt(h)))
}
