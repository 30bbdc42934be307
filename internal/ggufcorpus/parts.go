package ggufcorpus

import "fmt"

// split are the keys of a part.
func split(no, count uint16, tensors int32) [][]byte {
	return [][]byte{pair("split.no", tU16, u16(no)), pair("split.count", tU16, u16(count)), pair("split.tensors.count", tI32, num(tensors))}
}

func f32(name string) tensor { return tensor{name, 0, []uint64{4}, zeros(16)} }

func partName(no, count int) string { return fmt.Sprintf("m-%05d-of-%05d.gguf", no, count) }

// three are the files of a model in three parts with one tensor each; the first has the metadata.
func three() map[string][]byte {
	meta := [][]byte{pair("general.architecture", tString, str("qwen2")), pair("general.name", tString, str("split"))}
	return map[string][]byte{
		partName(1, 3): file(append(meta, split(0, 3, 3)...), []tensor{f32("a")}),
		partName(2, 3): file(split(1, 3, 3), []tensor{f32("b")}),
		partName(3, 3): file(append(split(2, 3, 3), pair("general.name", tString, str("split"))), []tensor{f32("c")}),
	}
}

// inParts is a case of a directory of files, of which the one named `first` is opened.
func inParts(name string, verdict Verdict, first string, files map[string][]byte, words ...string) made {
	m := made{Case{name + "/" + first, verdict, -1, words}, map[string][]byte{}}
	for file, b := range files {
		m.files[name+"/"+file] = b
	}
	return m
}

func parts() []made {
	second := partName(2, 3)
	// broken is three parts with a change.
	broken := func(name string, change func(files map[string][]byte), words ...string) made {
		files := three()
		change(files)
		return inParts("parts-"+name, Parts, partName(1, 3), files, words...)
	}
	replace := func(b []byte) func(map[string][]byte) {
		return func(files map[string][]byte) { files[second] = b }
	}
	// other is three parts whose second one is this file.
	other := func(name string, b []byte, words ...string) made {
		return broken(name, replace(b), append(words, second)...)
	}
	named := func(name, first string, b []byte, words ...string) made {
		return inParts("parts-"+name, Parts, first, map[string][]byte{first: b}, words...)
	}
	firstPart := three()[partName(1, 3)]
	noTensorFirst := map[string][]byte{
		partName(1, 2): file(split(0, 2, 1), nil), partName(2, 2): file(split(1, 2, 1), []tensor{f32("a")}),
	}
	return []made{
		inParts("good-three-parts", Good, partName(1, 3), three()),
		inParts("good-first-part-without-tensors", Good, partName(1, 2), noTensorFirst),
		good("good-one-part", file(split(0, 1, 1), []tensor{f32("a")})),
		good("good-no-part", file(split(0, 0, 1), []tensor{f32("a")})),

		broken("second-missing", func(files map[string][]byte) { delete(files, second) }, "part 2 of 3", second, "o such file"),
		broken("third-missing", func(files map[string][]byte) { delete(files, partName(3, 3)) }, "part 3 of 3", partName(3, 3), "o such file"),
		other("second-empty", nil, "not a GGUF file"),
		other("second-cut", three()[second][:60], "at byte 16", "it is truncated"),
		other("second-without-split", file(nil, []tensor{f32("b")}), "it has no split.count"),
		other("second-of-four", file(split(1, 4, 3), []tensor{f32("b")}), "split.count is 4, but 3 in the first part"),
		other("second-is-third", file(split(2, 3, 3), []tensor{f32("b")}), "split.no is 2, expected 1"),
		other("second-is-first", firstPart, "split.no is 0, expected 1"),
		other("second-of-more-tensors", file(split(1, 3, 5), []tensor{f32("b")}), "split.tensors.count is 5, but 3 in the first part: it is part of another model"),
		other("second-of-another-name", file(append(split(1, 3, 3), pair("general.name", tString, str("mine"))), []tensor{f32("b")}), `general.name is "mine", but "split" in the first part: it is part of another model`),
		other("second-of-another-architecture", file(append(split(1, 3, 3), pair("general.architecture", tString, str("llama"))), []tensor{f32("b")}), `general.architecture is "llama", but "qwen2"`),
		other("tensor-twice", file(split(1, 3, 3), []tensor{f32("a")}), `tensor "a" is in part 1 too`),
		other("second-without-tensor-count", file(split(1, 3, 3)[:2], []tensor{f32("b")}), "has no split.tensors.count"),
		other("second-number-is-text", file(append(split(1, 3, 3)[1:], pair("split.no", tString, str("1"))), []tensor{f32("b")}), "split.no", "is of type string"),
		broken("tensors-missing", replace(file(split(1, 3, 3), nil)), "the 3 parts have 2 tensors, but split.tensors.count is 3"),
		broken("tensors-too-many", replace(file(split(1, 3, 3), []tensor{f32("b"), f32("d")})), "the 3 parts have 4 tensors, but split.tensors.count is 3"),

		named("named-without-number", "model.gguf", firstPart, `"model.gguf" does not end in "-00001-of-00003.gguf"`),
		named("named-with-another-count", partName(1, 4), firstPart, `does not end in "-00001-of-00003.gguf"`),
		named("second-named", second, three()[second], `"m-00002-of-00003.gguf" is part 2 of 3 of a model: name the first part, "m-00001-of-00003.gguf"`),
		named("second-named-otherwise", "other.gguf", three()[second], `"other.gguf" is part 2 of 3`, "name the first part", `"-00001-of-00003.gguf"`),
		named("number-above-count", "m.gguf", file(split(3, 3, 3), []tensor{f32("a")}), "split.no is 3, expected less than split.count, which is 3"),
		named("number-without-count", "m.gguf", file(split(1, 1, 1)[:1], []tensor{f32("a")}), "split.no is 1, expected less than split.count, which is 1"),
		named("one-part-of-more-tensors", "m.gguf", file(split(0, 1, 2), []tensor{f32("a")}), "the file has 1 tensors, but split.tensors.count is 2"),
		named("count-is-text", "m.gguf", file([][]byte{pair("split.count", tString, str("3"))}, nil), "split.count", "is of type string"),
		named("count-negative", "m.gguf", file([][]byte{pair("split.count", tI32, num(int32(-1)))}, nil), "split.count", "is -1"),
		named("count-2-to-the-64", "m.gguf", file([][]byte{pair("split.count", tU64, u64(1<<64-1))}, nil), "split.count", "expected 0 to 99999"),
		named("tensor-count-missing", partName(1, 3), file(split(0, 3, 3)[:2], []tensor{f32("a")}), "part 1 of 3", "split.tensors.count"),
	}
}
