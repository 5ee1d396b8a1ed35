/* random.go - texts that try to break a tokeniser, with their tokens */
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"strings"
)

// Blocks where code points decompose, compose, reorder, fold, join or are ignored.
var trouble = [][2]rune{
	{0x80, 0x24F}, {0x300, 0x36F}, {0x370, 0x5FF}, {0x900, 0xDFF}, {0xE00, 0x10FF}, {0x1100, 0x11FF},
	{0xAC00, 0xD7A3}, {0x1E00, 0x21FF}, {0x3000, 0x31FF}, {0xFB00, 0xFFFF}, {0x1D100, 0x1D1FF},
	{0x2F800, 0x2FA1F}, {0xE0000, 0xE01EF}, {0x80, 0xD7FF}, {0xE000, 0x10FFFF},
}

var joiners = []rune("\u00AD\u034F\u115F\u1160\u200B\u200C\u200D\u3164\uFE0F\u0345\u0338\u0301\u3099")

func randomRune(random *rand.Rand) rune {
	switch n := random.Intn(20); {
	case n < 10:
		return rune(0x20 + random.Intn(0x5F))
	case n < 12:
		return joiners[random.Intn(len(joiners))]
	}
	block := trouble[random.Intn(len(trouble))]
	return block[0] + rune(random.Intn(int(block[1]-block[0]+1)))
}

// Runs of one kind are what fast paths are made for, their ends what these forget.
func randomText(random *rand.Rand) string {
	lengths := []int{3, 16, 64, 70, 200, 1000}
	want := lengths[random.Intn(len(lengths))]
	if random.Intn(300) == 0 {
		want = 150000
	}
	var b strings.Builder
	for b.Len() < want {
		switch random.Intn(6) {
		case 0:
			for n := random.Intn(90); n > 0; n-- {
				b.WriteByte(byte(0x20 + random.Intn(0x5F)))
			}
		case 1:
			r := randomRune(random)
			for n := random.Intn(20); n > 0; n-- {
				b.WriteRune(r)
			}
		case 2:
			b.WriteString(strings.Repeat("word ", random.Intn(12)))
		default:
			b.WriteRune(randomRune(random))
		}
	}
	return b.String()
}

// printRandomTexts: hexadecimal text, a tab, and its tokens, hexadecimal with a space between.
func printRandomTexts(u *ucd, seed int64, count int) error {
	random := rand.New(rand.NewSource(seed))
	out := bufio.NewWriter(os.Stdout)
	for ; count > 0; count-- {
		text := randomText(random)
		tokens := u.textTokens(text)
		for i, t := range tokens {
			tokens[i] = hex.EncodeToString([]byte(t))
		}
		fmt.Fprintf(out, "%x\t%s\n", text, strings.Join(tokens, " "))
	}
	return out.Flush()
}
