package gen

import "math/bits"

// hitsColumn makes the values of a column: numbers, or texts, which it appends as they are within quotes. With neither, the column has the
// empty text in each row.
type hitsColumn struct {
	name, typ string
	number    func(*hits) int64
	text      func(*hits, []byte) []byte
}

// hitsColumns are in the order of the original. Values that statements of the benchmark do not look at are few, and often the same.
func hitsColumns() []hitsColumn {
	return []hitsColumn{
		{name: "WatchID", typ: "BIGINT", number: func(h *hits) int64 { return int64(scattered63(h.seed<<40 + uint64(h.row))) }},
		{name: "JavaEnable", typ: "SMALLINT", number: byUser(0, 1, 190, 0)},
		{name: "Title", typ: "TEXT", text: func(h *hits, b []byte) []byte { return h.appendTitle(b, h.url) }},
		{name: "GoodEvent", typ: "SMALLINT", number: always(1)},
		{name: "EventTime", typ: "TIMESTAMP", text: func(h *hits, b []byte) []byte { return appendTime(b, h.cal, h.day, h.second) }},
		{name: "EventDate", typ: "DATE", text: func(h *hits, b []byte) []byte { return append(b, h.cal.day(h.day)...) }},
		{name: "CounterID", typ: "INTEGER", number: func(h *hits) int64 { return h.counter }},
		{name: "ClientIP", typ: "INTEGER", number: func(h *hits) int64 { return int64(int32(scattered(h.seed + h.user*9/16))) }},
		{name: "RegionID", typ: "INTEGER", number: func(h *hits) int64 { return h.region }},
		{name: "UserID", typ: "BIGINT", number: userID},
		{name: "CounterClass", typ: "SMALLINT", number: byUser(1, 0, 230, 1)},
		{name: "OS", typ: "SMALLINT", number: byUser(2, 44, 90, 2, 70, 107, 20, 5, 20, 3, 12, 6, 12, 42, 8, 53, 8, 158, 6, 166, 4, 0)},
		{name: "UserAgent", typ: "SMALLINT", number: byUser(3, 7, 80, 5, 60, 3, 50, 17, 14, 82, 14, 10, 12, 42, 8, 58, 6,
			86, 4, 1, 4, 0)},
		{name: "URL", typ: "TEXT", text: func(h *hits, b []byte) []byte { return h.appendURL(b, h.url, 0) }},
		{name: "Referer", typ: "TEXT", text: referer},
		{name: "IsRefresh", typ: "SMALLINT", number: byRow(0, 1, 26, 0)},
		{name: "RefererCategoryID", typ: "SMALLINT", number: byRow(1, 0, 190, 9005, 10, 10813, 10, 16000, 10, 16465, 10,
			9727, 8, 13505, 8, 14550)},
		{name: "RefererRegionID", typ: "INTEGER", number: byRow(2, 0, 120, 229, 50, 2, 20, 225, 14, 158, 12, 32, 12, 47,
			10, 184, 8, 592)},
		{name: "URLCategoryID", typ: "SMALLINT", number: byRow(3, 0, 150, 9911, 30, 16000, 20, 13606, 16, 10813, 14, 16454, 12, 15013)},
		{name: "URLRegionID", typ: "INTEGER", number: byRow(4, 0, 100, 229, 60, 216, 30, 2, 20, 169, 18, 7, 12, 205)},
		{name: "ResolutionWidth", typ: "SMALLINT", number: func(h *hits) int64 { return h.width() }},
		{name: "ResolutionHeight", typ: "SMALLINT", number: func(h *hits) int64 { return h.height() }},
		{name: "ResolutionDepth", typ: "SMALLINT", number: byUser(5, 32, 120, 37, 70, 24, 50, 23, 8, 16)},
		{name: "FlashMajor", typ: "SMALLINT", number: byUser(6, 11, 120, 15, 60, 12, 30, 10, 20, 8, 8, 0)},
		{name: "FlashMinor", typ: "SMALLINT", number: byUser(7, 7, 150, 5, 30, 1, 30, 0)},
		{name: "FlashMinor2", typ: "TEXT", text: texts(7, `700`, 60, `202`, 20, `0`, 20, ``)},
		{name: "NetMajor", typ: "SMALLINT", number: byUser(8, 0, 150, 2, 40, 3, 40, 4)},
		{name: "NetMinor", typ: "SMALLINT", number: byUser(9, 0, 170, 5, 60, 8)},
		{name: "UserAgentMajor", typ: "SMALLINT", number: byUser(10, 17, 40, 28, 40, 22, 40, 21, 30, 12, 20, 10, 20, 9, 15, 7, 10, 5)},
		{name: "UserAgentMinor", typ: "TEXT", text: texts(11, `Dо`, 90, `pо`, 70, `nA`, 40, `Eh`, 20, `si`)},
		{name: "CookieEnable", typ: "SMALLINT", number: byUser(12, 1, 254, 0)},
		{name: "JavascriptEnable", typ: "SMALLINT", number: byUser(13, 1, 250, 0)},
		{name: "IsMobile", typ: "SMALLINT", number: func(h *hits) int64 { return h.mobile(1) }},
		{name: "MobilePhone", typ: "SMALLINT", number: func(h *hits) int64 { return h.mobile(h.brand()) }},
		{name: "MobilePhoneModel", typ: "TEXT", text: phoneModel},
		{name: "Params", typ: "TEXT"},
		{name: "IPNetworkID", typ: "INTEGER", number: func(h *hits) int64 { return int64(h.of[2] >> 44) }},
		{name: "TraficSourceID", typ: "SMALLINT", number: byRow(6, -1, 120, 0, 40, 1, 30, 2, 30, 3, 14, 6, 8, 4, 6, 5, 4, 7, 2, 8, 1, 9)},
		{name: "SearchEngineID", typ: "SMALLINT", number: func(h *hits) int64 { return h.engine() }},
		{name: "SearchPhrase", typ: "TEXT", text: searched},
		{name: "AdvEngineID", typ: "SMALLINT", number: func(h *hits) int64 { return h.advert() }},
		{name: "IsArtifical", typ: "SMALLINT", number: byRow(7, 0, 235, 1)},
		{name: "WindowClientWidth", typ: "SMALLINT",
			number: func(h *hits) int64 { return h.width() - int64(h.bits[2]&2047)%max(1, h.width()-100) }},
		{name: "WindowClientHeight", typ: "SMALLINT",
			number: func(h *hits) int64 { return h.height() - int64(h.bits[2]>>11&1023)%max(1, h.height()-100) }},
		{name: "ClientTimeZone", typ: "SMALLINT", number: byUser(14, 135, 150, 180, 40, 107, 30, 157, 12, 120, 8, -1)},
		{name: "ClientEventTime", typ: "TIMESTAMP", text: func(h *hits, b []byte) []byte {
			return appendTime(b, h.cal,
				h.day, int(h.bits[2]>>22)%86_400)
		}},
		{name: "SilverlightVersion1", typ: "SMALLINT", number: byUser(15, 0, 150, 5, 90, 4)},
		{name: "SilverlightVersion2", typ: "SMALLINT", number: byUser(15, 0, 150, 1, 90, 0)},
		{name: "SilverlightVersion3", typ: "INTEGER", number: byUser(15, 0, 150, 20513, 60, 19720, 30, 60531)},
		{name: "SilverlightVersion4", typ: "SMALLINT", number: byUser(15, 0, 253, 1)},
		{name: "PageCharset", typ: "TEXT", text: texts(16, `windows-1251;charset`, 150, `utf-8`, 70, `windows`, 30, `koi8-r`)},
		{name: "CodeVersion", typ: "INTEGER", number: byRow(8, 1601, 120, 291, 40, 298, 30, 192, 20, 1217, 20, 330, 14, 0)},
		{name: "IsLink", typ: "SMALLINT", number: byRow(9, 1, 4, 0)},
		{name: "IsDownload", typ: "SMALLINT", number: byRow(10, 1, 1, 0)},
		{name: "IsNotBounce", typ: "SMALLINT", number: byRow(11, 1, 30, 0)},
		{name: "FUniqID", typ: "BIGINT", number: func(h *hits) int64 { return max(0, int64(h.of[1])) }},
		{name: "OriginalURL", typ: "TEXT", text: original},
		{name: "HID", typ: "INTEGER", number: func(h *hits) int64 { return int64(int32(h.bits[3])) }},
		{name: "IsOldCounter", typ: "SMALLINT", number: byRow(12, 0, 255, 1)},
		{name: "IsEvent", typ: "SMALLINT", number: byRow(13, 0, 235, 1)},
		{name: "IsParameter", typ: "SMALLINT", number: byRow(14, 0, 250, 1)},
		{name: "DontCountHits", typ: "SMALLINT", number: byRow(15, 0, 235, 1)},
		{name: "WithHash", typ: "SMALLINT", number: byRow(16, 0, 250, 1)},
		{name: "HitColor", typ: "TEXT", text: rowTexts(17, `5`, 130, `g`, 60, `D`, 30, `F`, 20, `E`)},
		{name: "LocalEventTime", typ: "TIMESTAMP", text: func(h *hits, b []byte) []byte {
			return appendTime(b, h.cal, h.day, min(h.second+int(h.of[0]&7), 86_399))
		}},
		{name: "Age", typ: "SMALLINT", number: byUser(17, 0, 80, 22, 50, 50, 40, 31, 40, 26, 30, 16)},
		{name: "Sex", typ: "SMALLINT", number: byUser(18, 0, 90, 1, 90, 2)},
		{name: "Income", typ: "SMALLINT", number: byUser(19, 0, 100, 2, 80, 3, 50, 1)},
		{name: "Interests", typ: "SMALLINT", number: func(h *hits) int64 { return int64(h.of[2] & 0x3fff & -(h.of[2] >> 14 & 1)) }},
		{name: "Robotness", typ: "SMALLINT", number: byUser(20, 0, 150, 50, 50, 57, 20, 70, 20, 15, 10, 5)},
		{name: "RemoteIP", typ: "INTEGER", number: func(h *hits) int64 { return int64(int32(scattered(h.seed + h.user/2 + 7))) }},
		{name: "WindowName", typ: "INTEGER", number: func(h *hits) int64 { return int64(int32(h.of[0] >> 32)) }},
		{name: "OpenerName", typ: "INTEGER", number: byRow(18, -1, 200, 0, 40, 3)},
		{name: "HistoryLength", typ: "SMALLINT", number: byRow(19, -1, 60, 1, 50, 2, 40, 3, 20, 5, 20, 8, 20, 13, 20, 50, 8, 0)},
		{name: "BrowserLanguage", typ: "TEXT", text: texts(21, `Sо`, 220, `en`, 14, `uk`, 8, `de`)},
		{name: "BrowserCountry", typ: "TEXT", text: texts(22, `h1`, 200, `RU`, 30, `UA`, 14, `я`)},
		{name: "SocialNetwork", typ: "TEXT", text: rowTexts(20, `vkontakte`, 1, ``)},
		{name: "SocialAction", typ: "TEXT", text: rowTexts(20, `share`, 1, ``)},
		{name: "HTTPError", typ: "SMALLINT", number: byRow(21, 0, 255, 404)},
		{name: "SendTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(0) }},
		{name: "DNSTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(6) }},
		{name: "ConnectTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(12) }},
		{name: "ResponseStartTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(18) }},
		{name: "ResponseEndTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(24) }},
		{name: "FetchTiming", typ: "INTEGER", number: func(h *hits) int64 { return h.timing(30) }},
		{name: "SocialSourceNetworkID", typ: "SMALLINT", number: byRow(22, 0, 253, 4)},
		{name: "SocialSourcePage", typ: "TEXT"},
		{name: "ParamPrice", typ: "BIGINT", number: func(h *hits) int64 { return h.price() }},
		{name: "ParamOrderID", typ: "TEXT"},
		{name: "ParamCurrency", typ: "TEXT", text: rowTexts(23, `NH`, 254, `USD`)},
		{name: "ParamCurrencyID", typ: "SMALLINT", number: byRow(23, 0, 254, 1)},
		{name: "OpenstatServiceName", typ: "TEXT", text: rowTexts(24, `market.yandex.ru`, 1, `begun.ru`, 1, ``)},
		{name: "OpenstatCampaignID", typ: "TEXT", text: rowTexts(24, `2371583`, 1, `8034`, 1, ``)},
		{name: "OpenstatAdID", typ: "TEXT", text: rowTexts(24, `10402`, 1, `77`, 1, ``)},
		{name: "OpenstatSourceID", typ: "TEXT", text: rowTexts(24, `search`, 1, `left`, 1, ``)},
		{name: "UTMSource", typ: "TEXT", text: rowTexts(25, `yandex`, 3, `google`, 2, `vk`, 1, ``)},
		{name: "UTMMedium", typ: "TEXT", text: rowTexts(25, `cpc`, 5, `banner`, 1, ``)},
		{name: "UTMCampaign", typ: "TEXT", text: rowTexts(25, `july`, 2, `brand_2013`, 2, `retarget`, 2, ``)},
		{name: "UTMContent", typ: "TEXT", text: rowTexts(25, `text_1`, 1, `text_2`, 1, ``)},
		{name: "UTMTerm", typ: "TEXT"},
		{name: "FromTag", typ: "TEXT", text: rowTexts(26, `topnews`, 2, ``)},
		{name: "HasGCLID", typ: "SMALLINT", number: byRow(27, 1, 3, 0)},
		{name: "RefererHash", typ: "BIGINT", number: refererHash},
		{name: "URLHash", typ: "BIGINT", number: urlHash},
		{name: "CLID", typ: "INTEGER", number: byRow(28, 0, 252, 1955454, 2, 2270455)},
	}
}

// weighted returns 256 values: of each pair of a value and a weight so many, and then the last value.
func weighted[T any](pairs []any, of func(any) T) *[256]T {
	all := new([256]T)
	for i, at := 0, 0; at < len(all); i += 2 {
		n := len(all) - at
		if i+1 < len(pairs) {
			n = pairs[i+1].(int)
		}
		for range n {
			all[at] = of(pairs[i])
			at++
		}
	}
	return all
}

func always(v int64) func(*hits) int64 { return func(*hits) int64 { return v } }

func number(v any) int64 { return int64(v.(int)) }
func text(v any) string  { return v.(string) }

// eighth returns eight bits of the words; which of them is all that matters.
func eighth(words *[4]uint64, which int) uint8 {
	return uint8(bits.RotateLeft64(words[which&3], -7*which))
}

// byUser and byRow draw numbers with weights: the same for each row of a user, or for each row. Columns with one n agree.
func byUser(n int, pairs ...any) func(*hits) int64 {
	all := weighted(pairs, number)
	return func(h *hits) int64 { return all[eighth(&h.of, n)] }
}

func byRow(n int, pairs ...any) func(*hits) int64 {
	all := weighted(pairs, number)
	return func(h *hits) int64 { return all[eighth(&h.bits, n)] }
}

// texts and rowTexts draw texts in the same way.
func texts(n int, pairs ...any) func(*hits, []byte) []byte {
	all := weighted(pairs, text)
	return func(h *hits, b []byte) []byte { return append(b, all[eighth(&h.of, n)]...) }
}

func rowTexts(n int, pairs ...any) func(*hits, []byte) []byte {
	all := weighted(pairs, text)
	return func(h *hits, b []byte) []byte { return append(b, all[eighth(&h.bits, n)]...) }
}
