/* tokens.go - the tokens of a text, as docs/format/text.md defines them */
package main

// The ranges of the scripts written without spaces.
var spaceless = [][2]rune{
	{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3040, 0x30FF}, {0x31F0, 0x31FF},
	{0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x323AF},
}

func isSpaceless(r rune) bool {
	for _, s := range spaceless {
		if r >= s[0] && r <= s[1] {
			return true
		}
	}
	return false
}

// tokens cuts normalised text into maximal runs of L, M and N, and these where a script without
// spaces begins or ends; its part becomes overlapping bigrams, or the one character that it is.
func (u *ucd) tokens(text []rune) []string {
	var out []string
	for i := 0; i < len(text); {
		if u.class[text[i]]&isToken == 0 {
			i++
			continue
		}
		kind := isSpaceless(text[i])
		j := i + 1
		for j < len(text) && u.class[text[j]]&isToken != 0 && isSpaceless(text[j]) == kind {
			j++
		}
		if !kind || j-i == 1 {
			out = append(out, string(text[i:j]))
		} else {
			for k := i; k+1 < j; k++ {
				out = append(out, string(text[k:k+2]))
			}
		}
		i = j
	}
	return out
}

// words cuts a text after each ASCII white space. No normalisation reaches across one: it is a
// starter that composes with nothing, so the tokens of a text are those of its words in turn.
func words(text string, f func(word string)) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\n', '\r', '\t':
			if i > start {
				f(text[start:i])
			}
			start = i + 1
		}
	}
	if start < len(text) {
		f(text[start:])
	}
}

// textTokens are the tokens of a whole text, computed in one piece.
func (u *ucd) textTokens(text string) []string {
	return u.tokens(u.normalise([]rune(text)))
}
