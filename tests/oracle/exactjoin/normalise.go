/* normalise.go - NFKC, full case folding, and the normalised text of the project */
package main

// Hangul syllables decompose and compose by arithmetic (The Unicode Standard 15.0, 3.12).
const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7
	countL, countV, countT             = 19, 21, 28
	countS                             = countL * countV * countT
)

func (u *ucd) decompose(text []rune) []rune {
	out := make([]rune, 0, len(text)+8)
	for _, r := range text {
		if s := r - hangulS; s >= 0 && s < countS {
			out = append(out, hangulL+s/(countV*countT), hangulV+s%(countV*countT)/countT)
			if s%countT != 0 {
				out = append(out, hangulT+s%countT)
			}
		} else if d, ok := u.decomposed[r]; ok {
			out = append(out, d...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// order sorts every run of non-starters by combining class, stably.
func (u *ucd) order(text []rune) {
	for i := 1; i < len(text); i++ {
		r, c := text[i], u.combining[text[i]]
		j := i
		for c != 0 && j > 0 && u.combining[text[j-1]] > c {
			text[j] = text[j-1]
			j--
		}
		text[j] = r
	}
}

func (u *ucd) pair(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; l >= 0 && l < countL && v >= 0 && v < countV {
		return hangulS + (l*countV+v)*countT, true
	}
	if s, t := a-hangulS, b-hangulT; s >= 0 && s < countS && s%countT == 0 && t > 0 && t < countT {
		return a + t, true
	}
	r, ok := u.composed[[2]rune{a, b}]
	return r, ok
}

// compose joins each character with the last starter unless something between them blocks it.
func (u *ucd) compose(text []rune) []rune {
	out := text[:0]
	starter := -1
	for _, r := range text {
		c := u.combining[r]
		if starter >= 0 {
			blocked := len(out)-1 > starter && u.combining[out[len(out)-1]] >= c
			if p, ok := u.pair(out[starter], r); ok && !blocked {
				out[starter] = p
				continue
			}
		}
		if c == 0 {
			starter = len(out)
		}
		out = append(out, r)
	}
	return out
}

func (u *ucd) nfkc(text []rune) []rune {
	d := u.decompose(text)
	u.order(d)
	return u.compose(d)
}

func (u *ucd) fold(text []rune) []rune {
	out := make([]rune, 0, len(text)+8)
	for _, r := range text {
		if f, ok := u.folded[r]; ok {
			out = append(out, f...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// normalise: NFKC(casefold(NFKC(x))), then without default-ignorable code points.
func (u *ucd) normalise(text []rune) []rune {
	n := u.nfkc(u.fold(u.nfkc(text)))
	out := n[:0]
	for _, r := range n {
		if u.class[r]&isIgnored == 0 {
			out = append(out, r)
		}
	}
	return out
}
